"""A search and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.beam.compare import rivals
from core.decoding.beam.replay import guess_parents
from core.decoding.trace import Trace
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.window import windows
from core.figures.beam.words import beam_caption
from pages.ui.beam.state import BeamView
from pages.ui.run import save

_SPAN = 20


def web_page(view: BeamView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole tree in windows, the selected step and the comparison.

    Args:
        trace: the search as it is ranked now.
    """
    drawn = [
        figures.beam_tree(
            trace,
            first=first,
            span=last - first,
            guesses=guess_parents(trace),
            selected=view.node,
            theme=theme,
        )
        for first, last in list(windows(trace.beam_steps, _SPAN, pruned=True)) or [(0, 1)]
    ]
    if view.node is not None:
        step, place = view.node
        drawn.append(figures.beam_step(trace, step, selected=place, theme=theme))
    if view.ran:
        compared = rivals(trace, view.ran[0], view.ran[1:])
        drawn.append(figures.beam_rivals(compared, trace, theme=theme))
    return save.document(trace, drawn, theme, settings=beam_caption(trace))
