"""The tree's nodes and edges as Plotly's traces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import networkx as nx

from core.decoding.beam.replay import ParentGuesses
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.color import blend
from core.figures.base.labels import escaped, show_token
from core.figures.base.marks import CLEAR, INSIDE
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.bands import Band
from core.figures.beam.columns import PADDING, TEXT_SIZE, fitted, node_width
from core.figures.beam.graph import NodePosition, parent_of
from core.figures.beam.window import Node
from core.figures.beam.words import fate_words, is_grouped, nats, place_words, score_at

_THICKNESS = {"pruned": 0.6}
_HOVER = (
    "<b>%{customdata[2]}</b><br>%{customdata[9]} · %{customdata[3]}"
    "<br>log-prob %{customdata[4]} · sum %{customdata[5]}<br>score if it ended here "
    "%{customdata[6]}<br>after %{customdata[7]}<br>%{customdata[8]}<extra></extra>"
)
# Points of an edge's bend: half a wave from the parent's height to the child's.
_BEND = ((0.0, 0.0), (0.25, 0.104), (0.5, 0.5), (0.75, 0.896), (1.0, 1.0))


def lane_height(lanes: float) -> int:
    """Px for a lane: less where there are many."""
    return 27 if lanes <= 16 else 21 if lanes <= 34 else 18


def node_text(trace: Trace, tree: nx.DiGraph, node: Node) -> str:
    """The raw text of a node; of a prompt's node its group, where there are several."""
    candidate = tree.nodes[node]["candidate"]
    if candidate is not None:
        return str(candidate.text)
    return str(node[1] + 1) if is_grouped(trace) else " "


@dataclass(frozen=True, eq=False)
class Spot:
    """A node in a band."""

    position: NodePosition
    band: Band

    @property
    def node(self) -> Node:
        return self.position.node

    @cached_property
    def start(self) -> float:
        """Its left edge, px."""
        return self.band.columns.starts[self.position.column]

    @cached_property
    def lane(self) -> float:
        """Distance from the top, lanes."""
        return round(self.band.top + self.position.lane, 3)

    @cached_property
    def room(self) -> float:
        """Largest width, px."""
        return self.band.columns.rooms[self.position.column]


class TreeDrawing:
    """The rows of a tree's steps on their way to Plotly's traces.

    Args:
        stem: lines of the box for what all paths share.
    """

    def __init__(
        self,
        trace: Trace,
        tree: nx.DiGraph,
        bands: Sequence[Band],
        theme: Theme,
        stem: Sequence[str] = (),
    ) -> None:
        self._trace, self._tree, self._theme = trace, tree, theme
        self._steps = trace.beam_steps
        self._stem = stem
        self._spots = [Spot(place, band) for band in bands for place in band.layout.positions]
        self._of_band = [
            {place.node: Spot(place, band) for place in band.layout.positions} for band in bands
        ]
        self._lanes = max(band.layout.lanes for band in bands)

    def add_to(
        self,
        sheet: Sheet,
        strong: Sequence[Node],
        path: Sequence[Node],
        guesses: ParentGuesses | None,
        selected: Node | None,
    ) -> None:
        """All edges and nodes, in the order in which they lie on each other."""
        self.add_edges(sheet, strong, path)
        self.add_guesses(sheet, guesses)
        self.add_nodes(sheet, strong, selected)

    def add_edges(self, sheet: Sheet, strong: Sequence[Node], path: Sequence[Node]) -> None:
        """Stored backpointers: the faint ones first, the strong ones over them."""
        theme = self._theme
        best, chosen = {*pairwise(strong)}, {*pairwise(path)}
        edges: dict[str, list[tuple[Spot, Spot]]] = {"pruned": [], "kept": [], "best": []}
        for places in self._of_band:
            for spot in places.values():
                parent = parent_of(self._tree, spot.node)
                if parent is not None and spot.position.column > 0:
                    edge = (places[parent], spot)
                    edges[self._look(spot.node, (parent, spot.node) in best)].append(edge)
        styles = {
            "pruned": (theme.rest, 1),
            "kept": (blend(theme.first, theme.paper, 0.45), 1.6),
            "best": (theme.first, 3),
        }
        for name, (color, width) in styles.items():
            sheet.traces.append(self._lines(f"{name} edges", edges[name], color, width))
        if path:
            drawn = [edge for group in edges.values() for edge in group]
            marked = [(a, b) for a, b in drawn if (a.node, b.node) in chosen]
            sheet.traces.append(self._lines("selected path", marked, theme.accent, 2))

    def add_guesses(self, sheet: Sheet, guesses: ParentGuesses | None) -> None:
        """The estimate's wrong edges, dashed, where there is an estimate."""
        if guesses is None:
            return
        beams = self._tree.graph["beams"]
        edges = []
        for wrong in guesses.wrong:
            ends = (beams[wrong.step][wrong.guess], beams[wrong.step + 1][wrong.row])
            edges += [
                (places[ends[0]], places[ends[1]])
                for places in self._of_band
                if ends[0] in places and ends[1] in places and places[ends[1]].position.column
            ]
        line = self._lines("wrong guesses", edges, self._theme.wrong, 1.6)
        sheet.traces.append({**line, "line": {**line["line"], "dash": "4px,3px"}})

    def _look(self, node: Node, strong: bool) -> str:
        """Name of the look of a node, or of the edge to it."""
        pruned = self._tree.nodes[node]["kind"] == "pruned"
        return "best" if strong else "pruned" if pruned else "kept"

    def _lines(
        self, name: str, edges: Iterable[tuple[Spot, Spot]], color: str, width: float
    ) -> Properties:
        x: list[float | None] = []
        y: list[float | None] = []
        for a, b in edges:
            bend = min(a.band.columns.gap, 24.0)
            x.append(self._end(a))
            y.append(a.lane)
            # A level edge needs no bend.
            for across, up in _BEND if a.lane != b.lane else _BEND[-1:]:
                x.append(round(b.start - bend * (1 - across), 1))
                y.append(round(a.lane + (b.lane - a.lane) * up, 3))
            x.append(None)
            y.append(None)
        return {
            "type": "scatter",
            "name": name,
            "mode": "lines",
            "x": x,
            "y": y,
            "line": {"color": color, "width": width},
            "hoverinfo": "skip",
        }

    def add_nodes(self, sheet: Sheet, strong: Collection[Node], selected: Node | None) -> None:
        """Tokens as bars, which send clicks and hold their text; an end mark where one finished."""
        theme = self._theme
        groups: dict[str, list[Spot]] = {"pruned": [], "kept": [], "best": []}
        for spot in self._spots:
            groups[self._look(spot.node, spot.node in strong)].append(spot)
        soft = blend(theme.first, theme.paper, 0.84 if theme is LIGHT else 0.74)
        plain = (soft, blend(theme.first, theme.paper, 0.5), theme.ink)
        full = (theme.first, theme.first, theme.text_on(theme.first))
        for name, colors in (
            ("pruned", (theme.paper, theme.paper, theme.muted)),
            ("kept", plain),
            ("best", full),
        ):
            sheet.traces.append(self._bars(name, groups[name], *colors))
        sheet.traces.append(self._ends())
        marked = [spot for spot in self._spots if spot.node == selected]
        if marked:
            ring = self._bars("selected", marked, CLEAR, theme.accent, "")
            sheet.traces.append(ring | {"text": [""] * len(marked)})
            ring["marker"]["line"]["width"] = 2.5

    def _bars(
        self, name: str, spots: Sequence[Spot], fill: str, border: str, ink: str
    ) -> Properties:
        thick = [self._thickness(spot, name) for spot in spots]
        return {
            "type": "bar",
            "name": name,
            "orientation": "h",
            "base": [spot.start for spot in spots],
            "x": [self._length(spot) for spot in spots],
            "y": [spot.lane for spot in spots],
            "width": thick if len({*thick}) > 1 else [*thick, _THICKNESS.get(name, 0.72)][0],
            "text": ["<br>".join(map(escaped, self._fitted(spot))) for spot in spots],
            **INSIDE,
            "textangle": 0,
            # Else Plotly shrinks the text of flat bars until nobody can read it, as it does in
            # corners of more than 3 px whatever position asks for.
            "constraintext": "none",
            "cliponaxis": False,
            "textfont": {"family": self._theme.sans, "size": TEXT_SIZE, "color": ink or border},
            "customdata": [self._hover_data(spot.node) for spot in spots],
            "hovertemplate": _HOVER,
            "marker": {"color": fill, "line": {"color": border, "width": 1}, "cornerradius": 3},
        }

    def _ends(self) -> Properties:
        """A thick stroke where a hypothesis ended."""
        spots = [s for s in self._spots if self._tree.nodes[s.node]["kind"] == "finished"]
        return {
            "type": "scatter",
            "name": "finished",
            "mode": "markers",
            "x": [self._end(spot) for spot in spots],
            "y": [spot.lane for spot in spots],
            "marker": {
                "symbol": "line-ns-open",
                "size": 0.6 * lane_height(self._lanes),
                "line": {"width": 4},
                "color": self._theme.ink,
            },
            "cliponaxis": False,
            "hoverinfo": "skip",
        }

    def plain(self, node: Node) -> str:
        """The raw text of a node."""
        return node_text(self._trace, self._tree, node)

    def _is_stem(self, spot: Spot) -> bool:
        return bool(self._stem) and spot.position.column == 0 and spot.band.top == 0

    def _fitted(self, spot: Spot) -> list[str]:
        """The lines that a node bears."""
        if self._is_stem(spot):
            return list(self._stem)
        if self._tree.nodes[spot.node]["candidate"] is None:
            return [self.plain(spot.node).strip()]
        return [fitted(self.plain(spot.node), spot.room - PADDING)]

    def _thickness(self, spot: Spot, name: str) -> float:
        """Height of a node, lanes."""
        thin = _THICKNESS.get(name, 0.72)
        if not self._is_stem(spot):
            return thin
        return max(thin, (14 * len(self._stem) + 4) / lane_height(self._lanes))

    def _length(self, spot: Spot) -> float:
        """The width of a node, px: as its text needs."""
        return round(min(max(map(node_width, self._fitted(spot))), spot.room), 1)

    def _end(self, spot: Spot) -> float:
        return round(spot.start + self._length(spot), 1)

    def _hover_data(self, node: Node) -> list[object]:
        """Values for `_HOVER`; the first two find the node again."""
        step, candidate = node[0], self._tree.nodes[node]["candidate"]
        if candidate is None:
            name = f"prompt, group {node[1] + 1}" if is_grouped(self._trace) else "prompt"
            return [
                step,
                node[1],
                name,
                "–",
                "–",
                nats(0.0),
                "–",
                "nothing",
                "the prompt",
                "no step",
            ]
        parent = parent_of(self._tree, node)
        start = parent is None or self._tree.nodes[parent]["candidate"] is None
        before = "the prompt" if start else show_token(self.plain(parent))  # type: ignore[arg-type]
        return [
            step,
            node[1],
            show_token(candidate.text, 40),
            place_words(self._steps[step], candidate),
            nats(candidate.logprob),
            nats(candidate.cum_logprob),
            nats(score_at(self._trace, step, candidate)),
            f"{before} (row {nth(candidate.parent)})",
            escaped(fate_words(self._steps[step], candidate)),
            f"step {nth(step)}",
        ]
