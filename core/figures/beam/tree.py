"""Beam search as the tree that its stored backpointers make: steps across, a token a node."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import plotly.graph_objects as go

from core.decoding.beam.replay import ParentGuesses
from core.decoding.counting import nth, span_of
from core.decoding.trace import Trace
from core.figures.base.axes import add_key, axis, key_entry, top_axis
from core.figures.base.color import blend
from core.figures.base.labels import visible_token
from core.figures.base.marks import overlaid
from core.figures.base.paper import WIDE, Paper
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.columns import Columns
from core.figures.beam.drawing import Drawing, lane_height, wrong_color
from core.figures.beam.graph import BeamLayout, beam_graph, best_path, lay_out_beams, path_to
from core.figures.beam.window import Node, window
from core.figures.beam.words import beam_caption

TITLE = "The tree of the search"
LEFT, RIGHT, ABOVE = EDGE, EDGE, 24
# A figure 900 px wide.
_WIDTH = 900 - LEFT - RIGHT


def beam_tree(
    trace: Trace,
    *,
    first: int = 0,
    span: int = 20,
    pruned: bool = True,
    guesses: ParentGuesses | None = None,
    selected: Node | None = None,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> go.Figure:
    """The tree over a window of steps, at most `MOST_NODES` nodes.

    Args:
        first, span: the window's first step and how many steps it may hold.
        pruned: draw what was pruned as well.
        guesses: an estimate of the parents; its wrong edges are drawn in red.
        selected: the node whose path is marked.

    A click on a node hands over `customdata`, which begins with `[step, place]`.
    """
    steps = trace.beam_steps
    if not steps:
        sentence = "This search has made no step yet, so there is no tree to draw."
        return plain_sentence(
            theme, paper, sentence, title=TITLE, caption=beam_caption(trace, paper)
        )
    tree = beam_graph(steps)
    strong = best_path(tree, trace)
    path = path_to(tree, selected) if selected is not None and selected in tree else ()
    drawn = window(steps, first, span, pruned=pruned)
    layout = lay_out_beams(tree, drawn, pruned=pruned, best=strong, selected=selected)
    sheet = _sheet(trace, tree, layout, strong, theme, paper)
    drawing = Drawing(trace, tree, layout, theme, _WIDTH)
    drawing.add_edges(sheet, strong, path)
    if guesses is not None:
        drawing.add_guesses(sheet, guesses)
    drawing.add_nodes(sheet, strong, selected)
    sheet.layout |= overlaid() | {"xaxis": _step_axis(layout, drawing.columns, theme)}
    sheet.layout["yaxis"] = axis(theme, range=[layout.lanes - 0.4, -0.6], visible=False)
    sheet.layout["meta"] |= _plot_area(sheet, layout, drawing.columns)  # type: ignore[operator]
    add_key(sheet, [_key(theme, pruned, guesses is not None, bool(path))], LEFT)
    return sheet.figure()


def _sheet(
    trace: Trace,
    tree: nx.DiGraph,
    layout: BeamLayout,
    strong: Sequence[Node],
    theme: Theme,
    paper: Paper,
) -> Sheet:
    return lay_out(
        theme,
        paper,
        title=TITLE,
        subtitle=_subtitle(layout, len(trace.beam_steps)),
        caption=beam_caption(trace, paper),
        alt=_alt(trace, layout, tree, strong),
        plot_height=round(lane_height(layout.lanes) * layout.lanes) + 8,
        left=LEFT,
        right=RIGHT,
        above=ABOVE,
        below=30,
    )


def _step_axis(layout: BeamLayout, columns: Columns, theme: Theme) -> Properties:
    count = layout.last - layout.first
    every = 1 if count <= 24 else 5
    shown = [at for at in range(count) if at == 0 or nth(layout.first + at) % every == 0]
    middles = [columns.starts[at + 1] + columns.rooms[at + 1] / 2 for at in shown]
    return top_axis(
        theme, [0, columns.total], middles, [str(nth(layout.first + at)) for at in shown]
    )


def _subtitle(layout: BeamLayout, count: int) -> str:
    edges = "Every edge is a stored backpointer."
    if layout.left_out:
        edges += f" {layout.left_out} more pruned ones are not drawn."
    if layout.first == 0 and layout.last == count:
        return f"{edges} Click a token."
    return f"{span_of('Steps', layout.first, layout.last, count)}. {edges}"


def _plot_area(sheet: Sheet, layout: BeamLayout, columns: Columns) -> Properties:
    """Where the columns are, for what moves over the figure."""
    margin = sheet.layout["margin"]
    return {
        "left": LEFT,
        "right": RIGHT,
        "top": margin["t"],  # type: ignore[index]
        "bottom": sheet.bottom,
        "first": layout.first,
        # Where each step ends, as shares of the plotting area.
        "ends": [
            round((start + room + columns.gap / 3) / columns.total, 4)
            for start, room in zip(columns.starts, columns.rooms, strict=True)
        ][1:],
    }


def _key(theme: Theme, pruned: bool, guessed: bool, selected: bool) -> str:
    entries = [
        key_entry(theme.first, "best path"),
        key_entry(blend(theme.first, theme.paper, 0.5), "kept"),
        key_entry(theme.ink, "finished", "▌"),
    ]
    if pruned:
        entries.append(key_entry(theme.muted, "pruned", "a"))
    if selected:
        entries.append(key_entry(theme.accent, "selected", "<b>□</b>"))
    if guessed:
        entries.append(key_entry(wrong_color(theme), "guessed parent, wrong", "╌"))
    return "".join(entries)


def _alt(trace: Trace, layout: BeamLayout, tree: nx.DiGraph, strong: Sequence[Node]) -> str:
    kinds = [tree.nodes[node]["kind"] for node in tree]
    best = "".join(visible_token(tree.nodes[n]["candidate"].text, 16) for n in strong[1:13])
    return (
        f"Tree of a beam search over {len(trace.beam_steps)} steps, steps {nth(layout.first)} to "
        f"{layout.last} drawn: {kinds.count('kept')} candidates kept, "
        f"{kinds.count('finished')} finished, {kinds.count('pruned')} pruned. The best path begins "
        f"with {best}."
    )
