"""A reasoning run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.trace import Trace
from core.figures.base.labels import settings_caption
from core.figures.base.theme import LIGHT, Theme
from pages.ui.reasoning import state
from pages.ui.reasoning import sweep as reason_many
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import save


def web_page(view: ReasonView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, where it knew, and the sweep that is in sight."""
    drawn = []
    if view.strip is not None:
        caption = settings_caption(trace)
        drawn.append(figures.reason_stops(view.strip, caption=caption, theme=theme))
    sweep = reason_many.shown(view)
    if sweep is not None:
        drawn.append(figures.reason_accuracy(sweep, theme=theme))
        drawn.append(figures.reason_outcomes(sweep, theme=theme))
        drawn.append(figures.reason_spent(sweep, theme=theme))
        if reason_many.has_steps(sweep):
            drawn.append(figures.reason_difficulty(sweep, theme=theme))
    read = state.reading(trace)
    text = f"\n{read.thinking}\n\n{read.answer}" if read.thinking else f"\n{read.answer}"
    return save.document(trace, drawn, theme, text=text)
