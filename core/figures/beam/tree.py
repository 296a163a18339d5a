"""Tree of a beam search by its stored backpointers: steps across, one token per node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import networkx as nx

from ...decoding.beam.replay import ParentGuesses
from ...decoding.counting import counted, nth
from ...decoding.record.characters import joined_parts
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, top_axis
from ..base.color import blend
from ..base.figure import figure
from ..base.labels import plain_name, visible_token
from ..base.marks import overlaid
from ..base.measure import wrapped
from ..base.paper import WIDE, Paper
from ..base.sheet import EDGE, Properties, Sentences, Sheet
from ..base.theme import LIGHT, Theme
from ..base.window import ShownPart
from .bands import Band, bands_of, part_of, stem_of
from .columns import TEXT_SIZE, aside_width
from .drawing import (
    add_edges,
    add_guesses,
    add_nodes,
    lane_height,
    node_text,
    node_values,
    place_nodes,
    sums_of,
)
from .graph import beam_graph, best_path, path_to
from .window import Node, window
from .words import beam_caption, beam_tree_data

# Maximum width in px and number of lines of the box for steps that all paths share.
_STEM, _STEM_LINES = 150.0, 6
_BOX = "<b>□</b>"


def _alt(
    trace: Trace, drawn: tuple[int, int], whole: nx.DiGraph, strong: Sequence[Node], forced: int
) -> Sentences:
    kinds = [kind for _, kind in whole.nodes(data="kind")]
    begins = joined_parts([whole.nodes[n]["candidate"].text for n in strong[1:13]])
    best = "".join(visible_token(text, 16) for text in begins)
    return (
        tr(
            "Tree of a beam search over {steps}, steps {first} to {last} drawn: {kept} candidates "
            "kept, {finished} finished, {pruned} pruned.",
            steps=counted(len(trace.beam_steps), "step"),
            first=nth(drawn[0]),
            last=drawn[1],
            **{kind: kinds.count(kind) for kind in ("kept", "finished", "pruned")},
        ),
        tr("The best path begins with {beginning}.", beginning=best),
        forced > 0
        and tr(
            "{tokens} had no alternative under the constraint.",
            tokens=counted(forced, "drawn token"),
        ),
    )


@figure(
    N_("The tree of the search"),
    beam_caption,
    beam_tree_data,
    subtitle=lambda paper, shown, shared, left_out, scores: (
        shown.note,
        tr("Every edge is a stored backpointer."),
        bool(scores) and tr("The number is the sum of ln p along the path."),
        left_out > 0 and tr("{left_out} more pruned ones are not drawn.", left_out=left_out),
        shared
        and tr("The first box holds the {tokens} tokens that all paths share.", tokens=len(shared)),
        shown.whole and not paper.printed and tr("Click a token."),
    ),
    alt=_alt,
    key=lambda theme, paper, pruned, guesses, tree, whole, path, forced: [
        [
            (theme.first, tr("best path")),
            (blend(theme.first, theme.paper, 0.5), tr("kept")),
            (theme.ink, tr("finished"), "▌"),
            forced > 0 and (theme.ink, tr("one allowed: forced"), "╌"),
            pruned
            and tree is whole
            and (theme.muted, tr("pruned"), _BOX if paper.journal else "a"),
            bool(path) and (theme.accent, tr("selected"), _BOX),
            guesses is not None and (theme.wrong, tr("guessed parent, wrong"), "╌"),
        ]
    ],
)
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
    scores: bool = False,
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw the tree over a window of steps, at most `MOST_NODES` nodes, in as many rows as needed.

    Args:
        first, span: first step of the window and maximum number of steps.
        pruned: whether to draw pruned candidates too.
        guesses, selected: an estimate whose wrong edges are drawn in red; the node whose path is
            marked.
        paths, beams: number of best paths, or of first rows with their ancestors, to draw; None for
            all.
        collapse: whether the beginning that all paths share is one box.
        scores: whether each token has the summed log-probability of its path beside it, on a
            screen: it would be too small in print.

    A click on a node hands over `customdata = [step, place, ...]`.
    """
    steps = trace.beam_steps
    if not steps:
        return tr("This search has made no step yet, so there is no tree to draw.")
    whole = beam_graph(steps)
    tree = part_of(whole, trace, paths, beams)
    strong = best_path(whole, trace)
    selected = selected if paper.selection and selected in tree else None
    path = path_to(tree, selected) if selected else ()
    shared = stem_of(tree, first, len(steps)) if collapse and first == 0 else ()
    start, end = max(first, len(shared)), min(max(first, len(shared)) + span, len(steps))
    drawn = window(steps, start, span, pruned=pruned) if tree is whole else (start, end)
    stem = _stem_lines(tree, shared, min(_STEM, 0.3 * paper.width))
    look = {"pruned": pruned, "best": strong, "selected": selected, "stem": stem}
    text = partial(node_text, trace, tree)
    sums = sums_of(tree, drawn) if scores and not paper.printed else {}
    look["aside"] = aside_width([*sums.values()])
    bands = bands_of(tree, drawn, text, paper.width - 2 * EDGE, **look)  # type: ignore[arg-type]
    shown = ShownPart("step", 0 if shared else drawn[0], drawn[1], len(steps))
    facts = {"shown": shown, "shared": shared, "drawn": drawn, "whole": whole, "tree": tree}
    nodes = [position.node for band in bands for position in band.layout.positions]
    facts |= {"scores": sums, "forced": sum(tree.nodes[node]["forced"] for node in nodes)}
    sheet = tree_sheet(bands, facts | {"path": path, "strong": strong}, theme, paper)
    rows = place_nodes(trace, tree, bands, strong, stem, sums)
    add_edges(sheet, rows, path)
    add_guesses(sheet, rows, tree, guesses)
    add_nodes(sheet, rows, partial(node_values, trace, tree), tree, selected, _fullest(bands))
    sheet.traces += [_step_numbers(band, theme) for band in bands[1:]]
    shown.tell(sheet)
    return sheet


def _fullest(bands: Sequence[Band]) -> float:
    return max(band.layout.lanes for band in bands)


def tree_sheet(bands: Sequence[Band], facts: Properties, theme: Theme, paper: Paper) -> Sheet:
    """Return the sheet with its axes."""
    lanes = bands[-1].top + bands[-1].layout.lanes
    height = round(lane_height(_fullest(bands)) * lanes) + 8
    return Sheet(
        theme,
        paper,
        facts={**facts, "left_out": sum(band.layout.left_out for band in bands)},
        plot_height=height,
        left=EDGE,
        above=24,
        below=30,
        layout={
            **overlaid(),
            "xaxis": _step_axis(bands[0], theme),
            "yaxis": axis(theme, range=[lanes - 0.4, -0.6], visible=False),
        },
        meta=_plot_area(bands, height / (lanes + 0.2)),
    )


def _stem_lines(tree: nx.DiGraph, shared: Sequence[Node], room: float) -> list[str]:
    """Return the text that all paths share, in lines; the beginning of a long text is left out."""
    if not shared:
        return []
    text = "".join(joined_parts([tree.nodes[node]["candidate"].text for node in shared]))
    lines = wrapped(plain_name(text, 2000).strip(), room, TEXT_SIZE)
    if len(lines) > _STEM_LINES:
        lines = lines[-_STEM_LINES:]
        lines[0] = "…"
    return lines


def _step_numbers(band: Band, theme: Theme) -> Properties:
    """Return the steps' numbers over a further row of steps."""
    axis_of = _step_axis(band, theme, continued=True)
    return {
        "type": "scatter",
        "name": "step numbers",
        "mode": "text",
        "x": axis_of["tickvals"],
        "y": [band.top - 0.95] * len(axis_of["ticktext"]),
        "text": axis_of["ticktext"],
        "textfont": axis_of["tickfont"],
        "hoverinfo": "skip",
    }


def _step_axis(band: Band, theme: Theme, *, continued: bool = False) -> Properties:
    """Return the axis of a row's steps; a `continued` row begins with the last step of the row
    before.
    """
    layout, columns = band.layout, band.columns
    numbered = range(0 if continued else 1, layout.columns)
    middles = [columns.starts[at] + columns.rooms[at] / 2 for at in numbered]
    every = 1 if min((b - a for a, b in pairwise(middles)), default=99.0) > 20 else 5
    places = zip(middles, (nth(layout.first + at - 1) for at in numbered), strict=True)
    shown = [(x, str(n)) for at, (x, n) in enumerate(places) if at == 0 or n % every == 0]
    return top_axis(theme, [0, columns.total], [x for x, _ in shown], [name for _, name in shown])


def _plot_area(bands: Sequence[Band], scale: float) -> Properties:
    """Return the positions of the columns, for elements that move over the figure; a lane is
    `scale` px high.
    """
    return {
        "first": bands[0].layout.first,
        # End of each step, as a share of the plotting area.
        "ends": [
            round((x + room + columns.gap / 3) / columns.total, 4)
            for columns in (band.columns for band in bands)
            for x, room in zip(columns.starts[1:], columns.rooms[1:], strict=True)
        ],
        # Upper and lower edge of its row, in px below the upper edge of the plotting area.
        "rows": [
            [
                round(scale * max(band.top - 0.9, 0.0)),
                round(scale * (band.top + band.layout.lanes + 0.2)),
            ]
            for band in bands
            for _ in range(band.layout.first, band.layout.last)
        ],
    }
