"""A reasoning run and its figures as one page that needs no server."""

from __future__ import annotations

from functools import partial

from core import figures
from core.decoding.trace import Trace
from core.export.part import Part
from core.figures.base.labels import settings_caption
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from pages.ui.reasoning import state
from pages.ui.reasoning import sweep as reason_many
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import save


def parts(view: ReasonView, trace: Trace, paper: Paper = WIDE) -> list[Part]:  # noqa: ARG001
    """Where it knew, and the sweep that is in sight."""
    found = []
    if view.strip is not None:
        stops = partial(figures.reason_stops, view.strip, caption=settings_caption(trace))
        found.append(Part("stops", stops, partial(figures.reason_stops_data, view.strip)))
    else:
        found.append(Part("stops", needs="ask where the model knew the answer first"))
    sweep = reason_many.shown(view)
    if sweep is None:
        return [*found, Part("accuracy", needs="run a sweep over many problems first")]
    spent = partial(figures.reason_spent_data, sweep)
    found += [
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
    return found


def web_page(view: ReasonView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, where it knew, and the sweep that is in sight."""
    read = state.reading(trace)
    text = f"\n{read.thinking}\n\n{read.answer}" if read.thinking else f"\n{read.answer}"
    return save.document(trace, save.drawn(parts(view, trace), theme), theme, text=text)
