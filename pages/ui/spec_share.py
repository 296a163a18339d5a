"""A speculative run and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.types import Trace
from core.figures.spec.timeline import COLUMNS
from core.figures.theme import LIGHT, Theme
from pages.ui import share
from pages.ui.spec_state import SpecView


def web_page(view: SpecView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole timeline in windows, the selected token, and all that was measured."""
    starts = range(0, max(len(trace.rounds), 1), COLUMNS)
    drawn = [figures.spec_timeline(trace, first=first, theme=theme) for first in starts]
    if view.token is not None:
        drawn.append(figures.spec_trial(trace, *view.token, theme=theme))
    drawn.append(figures.spec_time(trace, view.comparison, theme=theme))
    drawn.append(figures.spec_positions(trace, theme=theme))
    if view.sweep is not None:
        drawn.append(figures.spec_sweep(view.sweep, trace, theme=theme))
    drawn.append(figures.spec_feed(trace, view.token[0] if view.token else 0, theme=theme))
    if view.counted is not None:
        drawn.append(figures.spec_outcomes(view.counted, trace, theme=theme))
    return share.document(trace, drawn, theme)
