"""A search and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.beam_replay import guess_parents
from core.decoding.types import Trace
from core.figures.theme import LIGHT, Theme
from pages.ui import share
from pages.ui.beam_state import BeamView


def web_page(view: BeamView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole tree in windows, the selected step and the comparison."""
    steps, span = len(trace.beam_steps), 20
    drawn = [
        figures.beam_tree(
            trace,
            first=first,
            span=span,
            guesses=guess_parents(trace),
            selected=view.node,
            theme=theme,
        )
        for first in range(0, max(steps, 1), span)
    ]
    if view.node is not None:
        step, place = view.node
        drawn.append(figures.beam_step(trace, step, selected=place, theme=theme))
    if view.rivals:
        drawn.append(figures.beam_rivals(view.rivals, trace, theme=theme))
    return share.document(trace, drawn, theme)
