"""The tree of a small search with its probabilities, to be multiplied by hand."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from math import exp

import networkx as nx

from ...decoding.counting import counted, nth
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import show_token, table_text, visible_token
from ..base.marks import add_note
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .bands import bands_of
from .columns import ASIDE_SIZE, aside_width, columns_of
from .drawing import add_edges, add_nodes, node_text, node_values, place_nodes
from .graph import beam_graph, best_path, path_to
from .tree import tree_sheet
from .window import Node
from .words import beam_caption

# A search of more steps or candidates is no example for a calculation by hand.
MOST_STEPS, MOST_NODES = 2, 12
# The level end of an edge, which holds its factor, and the gaps between two columns, px.
_LEVEL, _LEAST, _WIDEST = 44.0, 56.0, 150.0


@table("step word after prob product fate greedy best")
def beam_by_hand_data(trace: Trace) -> TableRows:
    """Return every candidate with its probability and the product of its path."""
    tree = beam_graph(trace.beam_steps)
    greedy, best = greedy_path(tree), best_path(tree, trace)
    for node, data in tree.nodes(data=True):
        candidate = data["candidate"]
        if candidate is not None:
            before = "".join(_texts(tree, path_to(tree, node)[:-1]))
            where = nth(node[0]), table_text(candidate.text), table_text(before)
            numbers = exp(candidate.raw_logprob), exp(candidate.cum_logprob)
            yield (*where, *numbers, candidate.fate, node in greedy, node in best)


def greedy_path(tree: nx.DiGraph) -> tuple[Node, ...]:
    """Return the path that takes the likeliest recorded candidate at each step."""
    path = [tree.graph["beams"][0][0]]
    while children := list(tree.successors(path[-1])):
        path.append(max(children, key=lambda node: tree.nodes[node]["candidate"].logprob))
    return tuple(path)


def _texts(tree: nx.DiGraph, path: Collection[Node]) -> list[str]:
    return [tree.nodes[node]["candidate"].text for node in path if node[0] >= 0]


def _product(
    tree: nx.DiGraph, path: Collection[Node], show: Callable[[str, int], str] = show_token
) -> str:
    """Return a path's product in words, as `left left: 0.5 × 0.4 = 0.2`.

    Args:
        show: returns a token's text, by default escaped Plotly text.
    """
    candidates = [tree.nodes[node]["candidate"] for node in path if node[0] >= 0]
    words = " ".join(show(c.text.strip(), 16) for c in candidates)
    factors = " × ".join(_factor(c.logprob) for c in candidates)
    return f"{words}: {factors} = {exp(candidates[-1].cum_logprob):.3g}"


def _factor(logprob: float) -> str:
    return f"{exp(logprob):.2g}"


@figure(
    N_("A search by hand"),
    beam_caption,
    beam_by_hand_data,
    subtitle=lambda tree, greedy, best: (
        tr("On an edge: the probability of the next word. In a box: the product of its path."),
        greedy == best
        and tr("Greedy and beam search find {product}.", product=_product(tree, best)),
        greedy != best
        and tr(
            "Greedy finds {greedy}. Beam search also keeps the second word, and finds {best}.",
            greedy=_product(tree, greedy),
            best=_product(tree, best),
        ),
    ),
    alt=lambda tree, greedy, best: (
        tr(
            "Tree of a beam search over {steps} with {candidates}.",
            steps=counted(len(tree.graph["beams"]) - 1, "step"),
            candidates=counted(len(tree) - 1, "candidate"),
        ),
        tr("Greedy decoding finds {product}.", product=_product(tree, greedy, visible_token)),
        tr(
            "The best path of the search is {product}.", product=_product(tree, best, visible_token)
        ),
    ),
    key=lambda theme, greedy, best: [
        [
            (theme.first, tr("best path")),
            greedy != best and (theme.accent, tr("greedy"), "<b>─</b>"),
            (theme.muted, tr("pruned"), "a"),
        ]
    ],
)
def beam_by_hand(trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the tree of a small search: the factor on each edge, the product in each box.

    A click on a box hands over `customdata = [step, place, ...]`.
    """
    steps = trace.beam_steps
    count = sum(len(step.candidates) for step in steps)
    if not 0 < len(steps) <= MOST_STEPS or count > MOST_NODES:
        return tr(
            "A search by hand has 1 to {steps} steps and at most {candidates} candidates.",
            steps=MOST_STEPS,
            candidates=MOST_NODES,
        )
    tree = beam_graph(steps)
    best, greedy = best_path(tree, trace), greedy_path(tree)
    candidates = {
        node: data["candidate"] for node, data in tree.nodes(data=True) if data["candidate"]
    }
    products = {node: f"{exp(c.cum_logprob):.3g}" for node, c in candidates.items()}
    total = paper.width - 2 * EDGE
    text = partial(node_text, trace, tree)
    (band,) = bands_of(
        tree,
        (0, len(steps)),
        text,
        total,
        pruned=True,
        best=best,
        selected=None,
        aside=aside_width([*products.values()]),
    )
    prompt, *rooms = band.columns.rooms
    most = (total - 8 - prompt) / len(rooms) - _LEAST
    rooms = [prompt, *(min(room, most) for room in rooms)]
    band = band._replace(columns=columns_of(rooms, total, widest=_WIDEST))
    facts = {"tree": tree, "greedy": greedy, "best": best}
    sheet = tree_sheet([band], facts, theme, paper)
    rows = place_nodes(trace, tree, [band], best, [], products)
    add_edges(sheet, rows, greedy if greedy != best else (), level=_LEVEL)
    add_nodes(sheet, rows, partial(node_values, trace, tree), tree, None, band.layout.lanes)
    for trace_of in sheet.traces:
        if "text" in trace_of:  # A box holds a number that is read, and not one that is looked up.
            small, larger = f"font-size:{ASIDE_SIZE}px", f"font-size:{SMALL}px"
            trace_of["text"] = [text.replace(small, larger) for text in trace_of["text"]]
    ground = {} if paper.transparent else {"bgcolor": theme.paper}
    for spot in rows[0].values():
        if spot.node in candidates:
            factor = f"× {_factor(candidates[spot.node].logprob)}"
            where = {"xanchor": "center", "yanchor": "middle", "borderpad": 0, **ground}
            x = spot.start - _LEVEL / 2
            add_note(sheet, "factor", factor, x, spot.lane, size=SMALL, color=theme.muted, **where)
    return sheet
