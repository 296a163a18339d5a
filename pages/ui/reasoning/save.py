"""A reasoning run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.stored_parts import sweep_parts
from core.export.tables import tables_of
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.language import N_, tr
from pages.ui.reasoning import state
from pages.ui.reasoning.measured import sweep as reason_many
from pages.ui.reasoning.parts import BEST_OF, CONSTRAINT, RIVALS, STOPS
from pages.ui.reasoning.state import ReasonView
from pages.ui.run.files import save
from pages.ui.run.files.archive import Tables
from pages.ui.run.parts import saved_parts


def parts(view: ReasonView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """Return the figures to export: first answers, the shown sweep, the comparison, best of N."""
    stops, *others = saved_parts((STOPS, CONSTRAINT, RIVALS, BEST_OF), view, trace, paper)
    return [stops, *_swept(view), *others]


def _swept(view: ReasonView) -> list[Part]:
    sweep = reason_many.shown(view)
    if sweep is None:
        needs = N_("run a sweep over many problems first")
        return [Part(name, needs=needs) for name in ("accuracy", "outcomes", "spent", "difficulty")]
    return sweep_parts(sweep)


def tables(view: ReasonView, trace: Trace) -> Tables:
    """The run in numbers and its tokens, the sweep by budget, the ways compared."""
    named_tables = [*tables_of(trace)]
    sweep = reason_many.shown(view)
    if sweep is not None:
        named_tables.append((tr("Outcomes and costs by budget."), figures.reason_spent_data(sweep)))
    if view.rivalry is not None:
        named_tables.append(
            (tr("Strategies with the same budget."), figures.reason_rivals_data(view.rivalry))
        )
    return named_tables


def web_page(view: ReasonView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, where it knew, the sweep that is in sight, and the ways compared."""
    read = state.reading(trace)
    text = f"\n{read.thinking}\n\n{read.answer}" if read.thinking else f"\n{read.answer}"
    return save.web_page(
        trace, parts(view, trace), theme, text=text, notes=[*tables(view, trace)[2:]]
    )
