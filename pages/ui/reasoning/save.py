"""A reasoning run and its figures as one page that needs no server."""

from __future__ import annotations

from functools import partial

from core import figures
from core.decoding.trace import Trace
from core.export.part import Part
from core.export.tables import tables_of
from core.figures.base.labels import settings_caption
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from pages.ui.reasoning import best_of, state
from pages.ui.reasoning import sweep as reason_many
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import save
from pages.ui.run.archive import Tables


def parts(view: ReasonView, trace: Trace, paper: Paper = WIDE) -> list[Part]:  # noqa: ARG001
    """Where it knew, the sweep that is in sight, the ways compared, the best of N."""
    found = []
    if view.strip is not None:
        stops = partial(figures.reason_stops, view.strip, caption=settings_caption(trace))
        found.append(Part("stops", stops, partial(figures.reason_stops_data, view.strip)))
    else:
        found.append(Part("stops", needs="ask where the model knew the answer first"))
    return [*found, *_swept(view), *_compared(view), _best_of(view)]


def _best_of(view: ReasonView) -> Part:
    if not view.best_of:
        return Part("best-of-n", needs="draw samples under Best of N first")
    draw = partial(figures.best_of, view.best_of, caption=best_of.caption(view.best_of))
    return Part("best-of-n", draw, partial(figures.best_of_data, view.best_of))


def _compared(view: ReasonView) -> list[Part]:
    if view.rivalry is None:
        return [Part("ways-compared", needs="compare the ways under the same bound first")]
    of = view.rivalry
    data = partial(figures.reason_rivals_data, of)
    return [Part("ways-compared", partial(figures.reason_rivals, of), data)]


def _swept(view: ReasonView) -> list[Part]:
    sweep = reason_many.shown(view)
    if sweep is None:
        needs = "run a sweep over many problems first"
        return [Part(name, needs=needs) for name in ("accuracy", "outcomes", "spent", "difficulty")]
    spent = partial(figures.reason_spent_data, sweep)
    found = [
        Part(
            "accuracy",
            partial(figures.reason_accuracy, sweep),
            partial(figures.reason_accuracy_data, sweep),
        ),
        Part("outcomes", partial(figures.reason_outcomes, sweep), spent),
        Part("spent", partial(figures.reason_spent, sweep), spent),
    ]
    if reason_many.has_steps(sweep):
        hard = partial(figures.reason_difficulty, sweep)
        found.append(Part("difficulty", hard, partial(figures.reason_difficulty_data, sweep)))
    else:
        found.append(Part("difficulty", needs="sweep over problems that say how hard they are"))
    return found


def tables(view: ReasonView, trace: Trace) -> Tables:
    """The run in numbers and its tokens, the sweep by budget, the ways compared."""
    found = [*tables_of(trace)]
    sweep = reason_many.shown(view)
    if sweep is not None:
        found.append(("Outcomes and costs by budget.", figures.reason_spent_data(sweep)))
    if view.rivalry is not None:
        found.append(("The same bound, other ways.", figures.reason_rivals_data(view.rivalry)))
    return found


def web_page(view: ReasonView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, where it knew, the sweep that is in sight, and the ways compared."""
    read = state.reading(trace)
    text = f"\n{read.thinking}\n\n{read.answer}" if read.thinking else f"\n{read.answer}"
    return save.web_page(
        trace, parts(view, trace), theme, text=text, notes=[*tables(view, trace)[2:]]
    )
