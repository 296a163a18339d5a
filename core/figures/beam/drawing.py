"""Nodes and edges of the tree as Plotly's traces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import networkx as nx

from ...decoding.beam.replay import ParentGuesses
from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...language import tr
from ..base.color import blend
from ..base.labels import escaped, lines, nats, show_token
from ..base.marks import CLEAR, INSIDE, strokes
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .bands import Band
from .columns import (
    ASIDE_SIZE,
    PADDING,
    TEXT_SIZE,
    aside_width,
    fitted,
    node_width,
)
from .graph import parent_of
from .window import Node
from .words import fate_words, is_grouped, place_words, score_at

# Heights of thin and thick nodes, in lanes.
_THIN, _THICK = 0.6, 0.72
_HOVER = "<b>%{customdata[2]}</b><br>%{customdata[3]}<extra></extra>"
# Points of an edge's curve: half a cosine wave from the parent's height to the child's.
_BEND = ((0.0, 0.0), (0.25, 0.104), (0.5, 0.5), (0.75, 0.896), (1.0, 1.0))


def lane_height(lanes: float) -> int:
    """Return the height of a lane in px: less if there are many lanes."""
    return 27 if lanes <= 16 else 21 if lanes <= 34 else 18


def node_text(trace: Trace, tree: nx.DiGraph, node: Node) -> str:
    """Return the raw text of a node; for a prompt's node its group, if there are several."""
    candidate = tree.nodes[node]["candidate"]
    if candidate is not None:
        return str(candidate.text)
    return str(node[1] + 1) if is_grouped(trace) else " "


class Spot(NamedTuple):
    """A node at its drawn position.

    Args:
        look: `best`, `kept` or `pruned`, for the node and the edge to it.
        start, end: left and right edge, px.
        lane: distance from the top, in lanes.
        height: minimum height, in lanes.
        gap: gap between the columns of its row of steps, px.
        lines: lines of text in the node.
        score: number beside the text; empty for none.
        parent: the node before it in the same row of steps.
    """

    node: Node
    look: str
    start: float
    end: float
    lane: float
    height: float
    gap: float
    lines: Sequence[str]
    score: str
    parent: Node | None


def sums_of(tree: nx.DiGraph, window: tuple[int, int]) -> dict[Node, str]:
    """Return the summed log-probability of the path up to each node of a window of steps, but of
    pruned ones."""
    return {
        node: nats(data["candidate"].cum_logprob, 2)
        for node, data in tree.nodes(data=True)
        if window[0] - 1 <= node[0] < window[1]
        if data["candidate"] is not None and data["kind"] != "pruned"
    }


def place_nodes(
    trace: Trace,
    tree: nx.DiGraph,
    bands: Sequence[Band],
    strong: Collection[Node],
    stem: list[str],
    scores: Mapping[Node, str],
) -> list[dict[Node, Spot]]:
    """Return the positioned nodes of each row of steps.

    Args:
        strong: nodes of the best path.
        stem: lines of the box for the steps that all paths share.
        scores: numbers beside the texts.
    """
    aside = aside_width([*scores.values()])
    height = (14 * len(stem) + 4) / lane_height(max(band.layout.lanes for band in bands))
    rows = []
    for band in bands:
        spots: dict[Node, Spot] = {}
        for node, column, lane in band.layout.positions:
            start, room = band.columns.starts[column], band.columns.rooms[column]
            boxed = bool(stem) and column == 0 and band.top == 0
            text = node_text(trace, tree, node)
            score = "" if boxed else scores.get(node, "")
            taken = aside * bool(score)
            texts = [fitted(text, room - PADDING - taken)] if node[0] >= 0 else [text.strip()]
            texts = stem if boxed else texts
            length = round(min(max(map(node_width, texts)) + taken, room), 1)
            pruned = tree.nodes[node]["kind"] == "pruned"
            spots[node] = Spot(
                node,
                "best" if node in strong else "pruned" if pruned else "kept",
                start,
                round(start + length, 1),
                round(band.top + lane, 3),
                height if boxed else 0.0,
                band.columns.gap,
                texts,
                score,
                parent_of(tree, node) if column else None,
            )
        rows.append(spots)
    return rows


def add_edges(
    sheet: Sheet, rows: Sequence[dict[Node, Spot]], path: Sequence[Node], level: float = 0.0
) -> None:
    """Add the stored backpointers: the faint edges first, the strong ones over them.

    Args:
        path: nodes whose edges are marked.
        level: px before a node in which its edge is level, as if to hold a number.
    """
    theme, chosen = sheet.theme, {*pairwise(path)}
    edges = [(spots[s.parent], s) for spots in rows for s in spots.values() if s.parent]
    marked: list[tuple[Spot, Spot]] = []
    for look, color, width in (
        ("pruned", theme.rest, 1),
        ("kept", blend(theme.first, theme.paper, 0.45), 1.6),
        ("best", theme.first, 3),
    ):
        drawn = [edge for edge in edges if edge[1].look == look]
        marked += [(a, b) for a, b in drawn if (a.node, b.node) in chosen]
        sheet.traces.append(_edge_lines(f"{look} edges", drawn, color, width, level))
    if path:
        sheet.traces.append(_edge_lines("selected path", marked, theme.accent, 2, level))


def add_guesses(
    sheet: Sheet, rows: Sequence[dict[Node, Spot]], tree: nx.DiGraph, guesses: ParentGuesses | None
) -> None:
    """Add the wrong edges of the estimate, dashed, if there is an estimate."""
    if guesses is None:
        return
    beams = tree.graph["beams"]
    ends = [(beams[g.step][g.guess], beams[g.step + 1][g.row]) for g in guesses.wrong]
    edges = [
        (spots[a], spots[b])
        for a, b in ends
        for spots in rows
        if a in spots and b in spots and spots[b].parent
    ]
    lines = _edge_lines("wrong guesses", edges, sheet.theme.wrong, 1.6)
    sheet.traces.append({**lines, "line": {**lines["line"], "dash": "4px,3px"}})


def _edge_lines(
    name: str, edges: Iterable[tuple[Spot, Spot]], color: str, width: float, level: float = 0.0
) -> Properties:
    # A level end leaves the rest of the gap to the bend.
    bend = 999.0 if level else 24.0
    bends = [
        [
            (a.end, a.lane),
            *(
                (
                    round(b.start - level - min(a.gap - level, bend) * (1 - across), 1),
                    round(a.lane + (b.lane - a.lane) * up, 3),
                )
                # A level edge needs no bend.
                for across, up in (_BEND if a.lane != b.lane else _BEND[-1:])
            ),
            *([(b.start, b.lane)] if level else []),
        ]
        for a, b in edges
    ]
    return {**strokes(bends), "name": name, "line": {"color": color, "width": width}}


def add_nodes(
    sheet: Sheet,
    rows: Sequence[dict[Node, Spot]],
    told: Callable[[Node], list[object]],
    tree: nx.DiGraph,
    selected: Node | None,
    lanes: float,
) -> None:
    """Add the tokens as bars, which send clicks and hold the text, and an end mark for finished
    paths.

    Args:
        told: returns the values for a click and for the hover text.
        lanes: number of lanes of the fullest row of steps.
    """
    theme, spots = sheet.theme, [spot for spots in rows for spot in spots.values()]
    soft = blend(theme.first, theme.paper, 0.84 if theme is LIGHT else 0.74)
    for name, *colors in (
        ("pruned", theme.paper, theme.paper, theme.muted),
        ("kept", soft, blend(theme.first, theme.paper, 0.5), theme.ink),
        ("best", theme.first, theme.first, theme.text_on(theme.first)),
    ):
        drawn = [spot for spot in spots if spot.look == name]
        sheet.traces.append(_node_bars(name, drawn, told, theme, *colors))
    ended = [spot for spot in spots if tree.nodes[spot.node]["kind"] == "finished"]
    sheet.traces.append(
        {
            "type": "scatter",
            "name": "finished",
            "mode": "markers",
            "x": [spot.end for spot in ended],
            "y": [spot.lane for spot in ended],
            "marker": {
                "symbol": "line-ns-open",
                "size": 0.6 * lane_height(lanes),
                "line": {"width": 4},
                "color": theme.ink,
            },
            "cliponaxis": False,
            "hoverinfo": "skip",
        }
    )
    if forced := [spot for spot in spots if tree.nodes[spot.node]["forced"]]:
        # Dashed, as in the run's text.
        line = {"color": theme.ink, "width": 1.6, "dash": "4px,3px"}
        sheet.traces.append({**strokes(map(_border, forced)), "name": "forced", "line": line})
    if marked := [spot for spot in spots if spot.node == selected]:
        ring = _node_bars("selected", marked, told, theme, CLEAR, theme.accent, theme.accent)
        ring["marker"]["line"]["width"] = 2.5
        sheet.traces.append(ring | {"text": [""] * len(marked)})


def _border(spot: Spot) -> list[tuple[float, float | None]]:
    half = max(_THICK, spot.height) / 2
    left, right, upper, lower = spot.start, spot.end, spot.lane - half, spot.lane + half
    return [(left, upper), (right, upper), (right, lower), (left, lower), (left, upper)]


def _node_bars(
    name: str,
    spots: Sequence[Spot],
    told: Callable[[Node], list[object]],
    theme: Theme,
    fill: str,
    border: str,
    ink: str,
) -> Properties:
    thin = _THIN if name == "pruned" else _THICK
    thick = [max(thin, spot.height) for spot in spots]
    return {
        "type": "bar",
        "name": name,
        "orientation": "h",
        "base": [spot.start for spot in spots],
        "x": [round(spot.end - spot.start, 1) for spot in spots],
        "y": [spot.lane for spot in spots],
        "width": thick if len({*thick}) > 1 else [*thick, thin][0],
        "text": [_text(spot) for spot in spots],
        **INSIDE,
        "textangle": 0,
        # Otherwise Plotly shrinks the text of flat bars until it is unreadable; corners of more
        # than 3 px cause that whatever the position.
        "constraintext": "none",
        "cliponaxis": False,
        "textfont": {"family": theme.sans, "size": TEXT_SIZE, "color": ink},
        "customdata": [told(spot.node) for spot in spots],
        "hovertemplate": _HOVER,
        "marker": {"color": fill, "line": {"color": border, "width": 1}, "cornerradius": 3},
    }


def _text(spot: Spot) -> str:
    lines = "<br>".join(map(escaped, spot.lines))
    small = f' <span style="font-size:{ASIDE_SIZE}px">{spot.score}</span>'
    return lines + small * bool(spot.score)


def node_values(trace: Trace, tree: nx.DiGraph, node: Node) -> list[object]:
    """Return the values for the hover text; the first two identify the node."""
    step, candidate = node[0], tree.nodes[node]["candidate"]
    if candidate is None:
        grouped = is_grouped(trace)
        name = tr("prompt, group {group}", group=nth(node[1])) if grouped else tr("prompt")
        return [step, node[1], name, tr("sum {total}", total=nats(0.0))]
    parent, row = parent_of(tree, node), nth(candidate.parent)
    after = (
        tr("after the prompt (row {row})", row=row)
        if parent is None or parent[0] < 0
        else tr(
            "after {token} (row {row})", token=show_token(node_text(trace, tree, parent)), row=row
        )
    )
    forced = tr("forced: the constraint allows no other token")
    told = lines(
        tr("step {step}", step=nth(step)) + f" · {place_words(trace.beam_steps[step], candidate)}",
        tr(
            "log-prob {log_prob} · sum {total}",
            log_prob=nats(candidate.logprob),
            total=nats(candidate.cum_logprob),
        ),
        tr("score if it ended here {score}", score=nats(score_at(trace, step, candidate))),
        after,
        escaped(fate_words(trace.beam_steps[step], candidate)),
        tree.nodes[node]["forced"] and forced,
    )
    return [step, node[1], show_token(candidate.text, 40), told]
