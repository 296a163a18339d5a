"""The tree's nodes and edges as Plotly's traces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

import networkx as nx

from core.decoding.beam.replay import ParentGuesses
from core.decoding.counting import nth
from core.decoding.trace import Trace
from core.figures.base.color import blend
from core.figures.base.labels import escaped, show_token
from core.figures.base.marks import CLEAR, INSIDE, no_fade
from core.figures.base.sheet import Properties, Sheet
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.columns import PADDING, TEXT_SIZE, columns_for, fitted, label, text_width
from core.figures.beam.graph import BeamLayout, NodePosition, parent_of
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
    return 27 if lanes <= 16 else 21 if lanes <= 34 else 17


def text_size(lanes: float) -> int:
    """Px of a token's font, at which those of two pruned ones below each other don't touch."""
    return TEXT_SIZE if lanes <= 34 else TEXT_SIZE - 2


def wrong_color(theme: Theme) -> str:
    """What an edge is drawn in that was guessed and is wrong."""
    return "#c1121f" if theme is LIGHT else "#ff6b6b"


class Drawing:
    """One window of a tree on its way to Plotly's traces; `width` of the plotting area is in px."""

    def __init__(
        self, trace: Trace, tree: nx.DiGraph, layout: BeamLayout, theme: Theme, width: float
    ) -> None:
        self._trace, self._tree, self._layout, self._theme = trace, tree, layout, theme
        self._places = {position.node: position for position in layout.positions}
        texts: list[list[str]] = [[] for _ in range(layout.columns)]
        for position in layout.positions:
            texts[position.column].append(self._plain(position.node))
        self.columns = columns_for(texts, width)

    def add_edges(self, sheet: Sheet, strong: Sequence[Node], path: Sequence[Node]) -> None:
        """Stored backpointers: the faint ones first, the strong ones over them."""
        theme = self._theme
        best, chosen = {*pairwise(strong)}, {*pairwise(path)}
        edges: dict[str, list[tuple[Node, Node]]] = {"pruned": [], "kept": [], "best": []}
        for position in self._layout.positions:
            parent = parent_of(self._tree, position.node)
            if parent is None or position.column == 0:
                continue
            edge = (parent, position.node)
            edges[self._look(position.node, edge in best)].append(edge)
        drawn = {edge for group in edges.values() for edge in group}
        soft = blend(theme.first, theme.paper, 0.45)
        styles = {"pruned": (theme.rest, 1), "kept": (soft, 1.6), "best": (theme.first, 3)}
        for name, (color, width) in styles.items():
            sheet.traces.append(self._lines(f"{name} edges", edges[name], color, width))
        if path:
            line = self._lines("selected path", sorted(chosen & drawn), theme.accent, 2)
            sheet.traces.append(line)

    def add_guesses(self, sheet: Sheet, guesses: ParentGuesses) -> None:
        """The estimate's wrong edges, dashed."""
        beams = self._tree.graph["beams"]
        edges = [
            (beams[wrong.step][wrong.guess], beams[wrong.step + 1][wrong.row])
            for wrong in guesses.wrong
            if self._layout.first <= wrong.step < self._layout.last
        ]
        line = self._lines("wrong guesses", edges, wrong_color(self._theme), 1.6)
        sheet.traces.append({**line, "line": {**line["line"], "dash": "4px,3px"}})  # type: ignore[dict-item]

    def _look(self, node: Node, strong: bool) -> str:
        """What a node, or the edge to it, is drawn as."""
        pruned = self._tree.nodes[node]["kind"] == "pruned"
        return "best" if strong else "pruned" if pruned else "kept"

    def _lines(
        self, name: str, edges: Iterable[tuple[Node, Node]], color: str, width: float
    ) -> Properties:
        x: list[float | None] = []
        y: list[float | None] = []
        bend = min(self.columns.gap, 24.0)
        for parent, child in edges:
            a, b = self._places[parent], self._places[child]
            x.append(self._end(a))
            y.append(a.lane)
            # A level edge needs no bend.
            for across, up in _BEND if a.lane != b.lane else _BEND[-1:]:
                x.append(round(self.columns.starts[b.column] - bend * (1 - across), 1))
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
        groups: dict[str, list[NodePosition]] = {"pruned": [], "kept": [], "best": []}
        for position in self._layout.positions:
            groups[self._look(position.node, position.node in strong)].append(position)
        faint = (theme.paper, theme.paper, theme.muted)
        soft = blend(theme.first, theme.paper, 0.84 if theme is LIGHT else 0.74)
        plain = (soft, blend(theme.first, theme.paper, 0.5), theme.ink)
        full = (theme.first, theme.first, theme.text_on(theme.first))
        for name, colors in (("pruned", faint), ("kept", plain), ("best", full)):
            sheet.traces.append(self._bars(name, groups[name], *colors))
        sheet.traces.append(self._ends())
        if selected in self._places:
            ring = self._bars("selected", [self._places[selected]], CLEAR, theme.accent, "")
            sheet.traces.append(ring | {"text": [""]})
            ring["marker"]["line"]["width"] = 2.5  # type: ignore[index]

    def _bars(
        self, name: str, positions: Sequence[NodePosition], fill: str, border: str, ink: str
    ) -> Properties:
        size = text_size(self._layout.lanes)
        return {
            "type": "bar",
            "name": name,
            "orientation": "h",
            "base": [self.columns.starts[position.column] for position in positions],
            "x": [self._length(position) for position in positions],
            "y": [position.lane for position in positions],
            "width": _THICKNESS.get(name, 0.72),
            "text": [label(self._fitted(position)) for position in positions],
            **INSIDE,
            "textangle": 0,
            # Else Plotly shrinks the text of flat bars until nobody can read it, as it does in
            # corners of more than 3 px whatever position asks for.
            "constraintext": "none",
            "cliponaxis": False,
            "textfont": {"family": self._theme.sans, "size": size, "color": ink or border},
            "customdata": [self._hover_data(position.node) for position in positions],
            "hovertemplate": _HOVER,
            "marker": {"color": fill, "line": {"color": border, "width": 1}, "cornerradius": 3},
            **no_fade(ink or border),
        }

    def _ends(self) -> Properties:
        """A thick stroke where a hypothesis ended."""
        positions = [
            s for s in self._layout.positions if self._tree.nodes[s.node]["kind"] == "finished"
        ]
        return {
            "type": "scatter",
            "name": "finished",
            "mode": "markers",
            "x": [self._end(position) for position in positions],
            "y": [position.lane for position in positions],
            "marker": {
                "symbol": "line-ns-open",
                "size": 0.6 * lane_height(self._layout.lanes),
                "line": {"width": 4},
                "color": self._theme.ink,
            },
            "cliponaxis": False,
            "hoverinfo": "skip",
        }

    def _plain(self, node: Node) -> str:
        candidate = self._tree.nodes[node]["candidate"]
        if candidate is not None:
            return str(candidate.text)
        return str(node[1] + 1) if is_grouped(self._trace) else " "

    def _fitted(self, position: NodePosition) -> str:
        if self._tree.nodes[position.node]["candidate"] is None:
            return self._plain(position.node).strip()
        return fitted(self._plain(position.node), self.columns.rooms[position.column] - PADDING)

    def _length(self, position: NodePosition) -> float:
        """The width of a node, px: as its text needs."""
        needed = max(text_width(self._fitted(position)) + PADDING, 10.0)
        return round(min(needed, self.columns.rooms[position.column]), 1)

    def _end(self, position: NodePosition) -> float:
        return round(self.columns.starts[position.column] + self._length(position), 1)

    def _hover_data(self, node: Node) -> list[object]:
        """What `_HOVER` says; the first two find the node again."""
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
        before = "the prompt" if start else show_token(self._plain(parent))  # type: ignore[arg-type]
        return [
            step,
            node[1],
            show_token(candidate.text, 40),
            place_words(self._trace.beam_steps[step], candidate),
            nats(candidate.logprob),
            nats(candidate.cum_logprob),
            nats(score_at(self._trace, step, candidate)),
            f"{before} (row {nth(candidate.parent)})",
            escaped(fate_words(self._trace.beam_steps[step], candidate)),
            f"step {nth(step)}",
        ]
