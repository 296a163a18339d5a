"""A search and its figures as one page that needs no server."""

from __future__ import annotations

from functools import partial

from core import figures
from core.decoding.beam.compare import rivals
from core.decoding.beam.replay import guess_parents
from core.decoding.counting import nth
from core.decoding.trace import Trace
from core.export.part import Part
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.window import windows
from core.figures.beam.words import beam_caption
from pages.ui.beam import controls
from pages.ui.beam.state import BeamView
from pages.ui.run import save
from pages.ui.run.archive import Tables
from pages.ui.widgets.control import value

_SPAN = 20


def parts(view: BeamView, trace: Trace, paper: Paper = WIDE) -> list[Part]:  # noqa: ARG001
    """The tree in windows, as the page's switches draw it, the selected step and the comparison.

    Args:
        trace: the search as it is ranked now.
    """
    _, pruned = controls.view_of_tree()
    guesses = guess_parents(trace)
    spans = list(windows(trace.beam_steps, _SPAN, pruned=pruned)) or [(0, 1)]
    tree = partial(
        figures.beam_tree,
        trace,
        guesses=guesses if value("guesses") else None,
        pruned=pruned,
        selected=view.node,
        **controls.part_of_tree(),
    )
    data = partial(figures.beam_tree_data, trace, guesses)
    found = [
        Part(f"tree-steps-{nth(first)}-{last}", partial(tree, first=first, span=last - first), data)
        for first, last in spans
    ]
    if view.node is not None:
        step, place = view.node
        of = partial(figures.beam_step, trace, step, selected=place)
        table = partial(figures.beam_step_data, trace, step)
        found.append(Part(f"step-{nth(step)}", of, table))
    if view.ran:
        compared = rivals(trace, view.ran[0], view.ran[1:])
        draw = partial(figures.beam_rivals, compared, trace)
        found.append(Part("rivals", draw, partial(figures.beam_rivals_data, compared)))
    else:
        found.append(Part("rivals", needs="run the rivals under Compare first"))
    return found


def tables(view: BeamView, trace: Trace) -> Tables:  # noqa: ARG001
    """The hypotheses, best first."""
    return tables_of(trace)


def web_page(view: BeamView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole tree in windows, the selected step, the comparison and the hypotheses."""
    own = parts(view, trace, PAPER)
    notes = [*tables(view, trace)]
    return save.web_page(trace, own, theme, settings=beam_caption(trace), notes=notes)
