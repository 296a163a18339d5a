"""Beam search as the tree that its stored backpointers make: steps across, a token a node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import networkx as nx

from core.decoding.beam.replay import ParentGuesses
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.axes import axis, key_entry, top_axis
from core.figures.base.color import blend
from core.figures.base.figure import figure
from core.figures.base.labels import plain_name, visible_token
from core.figures.base.marks import overlaid
from core.figures.base.measure import wrapped
from core.figures.base.paper import WIDE, Paper
from core.figures.base.sheet import EDGE, Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.base.window import ShownPart
from core.figures.beam.bands import Band, bands_of, part_of, stem_of
from core.figures.beam.columns import TEXT_SIZE
from core.figures.beam.drawing import TreeDrawing, lane_height, node_text
from core.figures.beam.graph import beam_graph, best_path, path_to
from core.figures.beam.window import Node, window
from core.figures.beam.words import beam_caption, beam_tree_data

LEFT, RIGHT = EDGE, EDGE
# The box of what all paths share: so many px and lines at most.
_STEM, _STEM_LINES = 150.0, 6


@figure("The tree of the search", beam_caption, beam_tree_data)
def beam_tree(
    trace: Trace,
    *,
    first: int = 0,
    span: int = 20,
    pruned: bool = True,
    guesses: ParentGuesses | None = None,
    selected: Node | None = None,
    paths: int | None = None,
    beams: int | None = None,
    collapse: bool = False,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """The tree over a window of steps, at most `MOST_NODES` nodes, in as many rows as they need.

    Args:
        first, span: the window's first step and how many steps it may hold.
        pruned: draw what was pruned as well.
        guesses: an estimate of the parents; its wrong edges are drawn in red.
        selected: the node whose path is marked.
        paths: only so many of the best paths.
        beams: only the first so many rows of the beam, and what led to them.
        collapse: one box for what all paths share at the beginning.

    A click on a node hands over `customdata`, which begins with `[step, place]`.
    """
    steps = trace.beam_steps
    if not steps:
        return "This search has made no step yet, so there is no tree to draw."
    whole = beam_graph(steps)
    tree = part_of(whole, trace, paths, beams)
    strong = best_path(whole, trace)
    selected = selected if paper.selection and selected in tree else None
    path = path_to(tree, selected) if selected else ()
    shared = stem_of(tree, first, len(steps)) if collapse and first == 0 else ()
    start, end = max(first, len(shared)), min(max(first, len(shared)) + span, len(steps))
    drawn = window(steps, start, span, pruned=pruned) if tree is whole else (start, end)
    stem = _stem_lines(tree, shared, min(_STEM, 0.3 * paper.width))
    text, total = partial(node_text, trace, tree), paper.width - LEFT - RIGHT
    look = {"pruned": pruned, "best": strong, "selected": selected, "stem": stem}
    bands = bands_of(tree, drawn, text, total, **look)  # type: ignore[arg-type]
    shown = ShownPart("step", 0 if shared else drawn[0], drawn[1], len(steps))
    texts = _subtitle(bands, shown, len(shared), paper), _alt(trace, drawn, whole, strong)
    sheet = _sheet(bands, texts, theme, paper)
    sheet.key = [_key(sheet, pruned and tree is whole, guesses is not None, bool(path))]
    TreeDrawing(trace, tree, bands, theme, stem).add_to(sheet, strong, path, guesses, selected)
    _add_numbers(sheet, bands)
    shown.tell(sheet)
    return sheet


def _stem_lines(tree: nx.DiGraph, shared: Sequence[Node], room: float) -> list[str]:
    """Text that all paths share, in lines; its beginning is left out where it is long."""
    if not shared:
        return []
    text = "".join(tree.nodes[node]["candidate"].text for node in shared)
    lines = wrapped(plain_name(text, 2000).strip(), room, TEXT_SIZE)
    if len(lines) > _STEM_LINES:
        lines = lines[-_STEM_LINES:]
        lines[0] = "…"
    return lines


def _sheet(bands: Sequence[Band], said: tuple[str, str], theme: Theme, paper: Paper) -> Sheet:
    """The sheet with its axes; `said` are subtitle and alt text."""
    lanes = bands[-1].top + bands[-1].layout.lanes
    height = round(lane_height(max(band.layout.lanes for band in bands)) * lanes) + 8
    upright = axis(theme, range=[lanes - 0.4, -0.6], visible=False)
    return Sheet(
        theme,
        paper,
        subtitle=said[0],
        alt=said[1],
        plot_height=height,
        left=LEFT,
        right=RIGHT,
        above=24,
        below=30,
        layout={**overlaid(), "xaxis": _step_axis(bands[0], theme), "yaxis": upright},
        meta=_plot_area(bands, height / (lanes + 0.2)),
    )


def _add_numbers(sheet: Sheet, bands: Sequence[Band]) -> None:
    """The steps' numbers over each row of steps."""
    for band in bands[1:]:
        axis_of = _step_axis(band, sheet.theme, continued=True)
        names = axis_of["ticktext"]
        sheet.traces.append(
            {
                "type": "scatter",
                "name": "step numbers",
                "mode": "text",
                "x": axis_of["tickvals"],
                "y": [band.top - 0.95] * len(names),
                "text": names,
                "textfont": axis_of["tickfont"],
                "hoverinfo": "skip",
            }
        )


def _step_axis(band: Band, theme: Theme, *, continued: bool = False) -> Properties:
    """The axis of a row's steps; one that is `continued` begins with the last step of the row
    before."""
    layout, columns = band.layout, band.columns
    numbered = range(0 if continued else 1, layout.columns)
    middles = [columns.starts[at] + columns.rooms[at] / 2 for at in numbered]
    numbers = [nth(layout.first + at - 1) for at in numbered]
    apart = min((b - a for a, b in pairwise(middles)), default=99.0)
    every = 1 if apart > 20 else 5
    shown = [at for at, number in enumerate(numbers) if at == 0 or number % every == 0]
    names = [str(number) for number in numbers]
    return top_axis(
        theme, [0, columns.total], [middles[at] for at in shown], [names[at] for at in shown]
    )


def _subtitle(bands: Sequence[Band], shown: ShownPart, shared: int, paper: Paper) -> str:
    left_out = sum(band.layout.left_out for band in bands)
    edges = "Every edge is a stored backpointer."
    if left_out:
        edges += f" {left_out} more pruned ones are not drawn."
    if shared:
        edges += f" The first box holds the {shared} tokens that all paths share."
    if shown.whole:
        return edges if paper.printed else f"{edges} Click a token."
    return f"{shown.words}. {edges}"


def _plot_area(bands: Sequence[Band], scale: float) -> Properties:
    """Places of the columns, for elements that move over the figure; a lane is `scale` px high."""
    ends, rows = [], []
    for band in bands:
        columns = band.columns
        pairs = zip(columns.starts[1:], columns.rooms[1:], strict=True)
        ends += [round((x + room + columns.gap / 3) / columns.total, 4) for x, room in pairs]
        row = [
            round(scale * max(band.top - 0.9, 0.0)),
            round(scale * (band.top + band.layout.lanes + 0.2)),
        ]
        rows += [row] * (band.layout.last - band.layout.first)
    return {
        "first": bands[0].layout.first,
        # Where each step ends, as shares of the plotting area.
        "ends": ends,
        # And the upper and lower edge of its row, px below the upper edge of the plotting area.
        "rows": rows,
    }


def _key(sheet: Sheet, pruned: bool, guessed: bool, selected: bool) -> str:
    theme = sheet.theme
    entries = [
        key_entry(theme.first, "best path"),
        key_entry(blend(theme.first, theme.paper, 0.5), "kept"),
        key_entry(theme.ink, "finished", "▌"),
    ]
    if pruned:
        entries.append(key_entry(theme.muted, "pruned", "<b>□</b>" if sheet.paper.journal else "a"))
    if selected:
        entries.append(key_entry(theme.accent, "selected", "<b>□</b>"))
    if guessed:
        entries.append(key_entry(theme.wrong, "guessed parent, wrong", "╌"))
    return "".join(entries)


def _alt(trace: Trace, drawn: tuple[int, int], tree: nx.DiGraph, strong: Sequence[Node]) -> str:
    kinds = [tree.nodes[node]["kind"] for node in tree]
    best = "".join(visible_token(tree.nodes[n]["candidate"].text, 16) for n in strong[1:13])
    return (
        f"Tree of a beam search over {len(trace.beam_steps)} steps, steps {nth(drawn[0])} to "
        f"{drawn[1]} drawn: {kinds.count('kept')} candidates kept, "
        f"{kinds.count('finished')} finished, {kinds.count('pruned')} pruned. The best path begins "
        f"with {best}."
    )
