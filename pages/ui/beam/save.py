"""A search and its figures as one page that needs no server."""

from __future__ import annotations

from core import figures
from core.decoding.beam.compare import rivals
from core.decoding.beam.replay import guess_parents
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.export.part import Part, of_figure, window_name
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.window import windows
from core.figures.beam.words import beam_caption
from pages.ui.beam import compare, controls
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
    spans = list(windows(trace.beam_steps, _SPAN, pruned=pruned)) or [(0, 1)]
    look = {"guesses": guess_parents(trace) if value("guesses") else None, "pruned": pruned}
    look |= {"selected": view.node, **controls.part_of_tree()}
    found = [
        of_figure(
            window_name("tree", "step", first, last),
            figures.beam_tree,
            trace,
            first=first,
            span=last - first,
            **look,
        )
        for first, last in spans
    ]
    if view.node is not None:
        step, place = view.node
        draw = figures.beam_step
        found.append(of_figure(f"step-{nth(step)}", draw, trace, step, selected=place))
    if view.ran:
        compared = rivals(trace, view.ran[0], view.ran[1:])
        found.append(compare.part(compared, trace))
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
