"""Session state of the beam page: a search and the selected node of its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import streamlit as st

from core.decoding.beam.compare import Ran
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import RANKING, Reranking, best_row, ranked_anew, rerank
from core.decoding.beam.types import BeamCandidate, BeamStep
from core.decoding.record.characters import joined_parts
from core.decoding.record.steps import Step
from core.decoding.record.trace import Trace
from core.figures.beam.window import Node, window, windows
from core.figures.opening import telling_node
from core.language import tr
from pages.ui import platform
from pages.ui.run import address, named_run
from pages.ui.run.view import Source, View
from pages.ui.widgets.chart import Drawing
from pages.ui.widgets.controls import link

NODE, FIRST, _NO_NODE = "node", "first", "none"


@dataclass(frozen=True, slots=True)
class Live:
    """A search under way as it was drawn: when, with how many steps, its text and its tree."""

    at: float
    steps: int
    text: str
    tree: Drawing


class LinkedNode(NamedTuple):
    """Node of a link, as it is written, and the first step of the tree's window."""

    node: str
    first: str


@dataclass(eq=False)
class BeamView(View):
    """One session's view of one search; `first` is where the window of the tree begins.

    Args:
        node: the selected candidate as (step, place among its candidates).
        ran: greedy decoding and some samples, once they were run beside the search.
        live: the search under way as it was drawn last.
        ranked: the last re-ranking, the trace as it makes it, and what it was asked for.
        linked: what the link says of the tree, until the search that it names is there.
    """

    key: ClassVar[str] = "beam"
    example: ClassVar[str] = "beam.json"
    measurements: ClassVar[dict[str, str]] = {"rivals": "ran"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "rivals")

    node: Node | None = None
    ran: tuple[Ran, ...] | None = None
    live: Live | None = None
    linked: LinkedNode | None = None

    @classmethod
    def initial(cls) -> Self:
        """The example, at the node and the window that the link names."""
        linked = LinkedNode(
            st.query_params.get(platform.key(NODE), ""),
            st.query_params.get(platform.key(FIRST), ""),
        )
        view, example = cls(linked=linked if any(linked) else None), cls.load_example()
        if example is not None:
            view.show(example, "example")
        return view

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another search, at its most telling step."""
        super().show(trace, source)
        self.live = None
        self.node = telling_node(trace)
        if self.linked is not None and not (source == "example" and named_run.is_named()):
            self._follow(self.linked)
            self.linked = None

    def _follow(self, linked: LinkedNode) -> None:
        """Look at what the link names, as far as the search has it; the rest is told."""
        first = link.whole(linked.first) if linked.first else 0
        if first is not None and first < len(self.beam_steps):
            self.first = first
        elif linked.first:
            link.report(
                tr(
                    "{value} in the link is no step of this search (numbers in links begin at 0): "
                    "the tree begins at step 1.",
                    value=link.quoted(linked.first),
                )
            )
        if linked.node == _NO_NODE:
            self.node = None
        elif linked.node and not self._look_at_linked(linked.node):
            link.report(
                tr(
                    "{value} in the link is no candidate of this search (numbers in links begin at "
                    "0): its most telling one is selected.",
                    value=link.quoted(linked.node),
                )
            )

    def _look_at_linked(self, node: str) -> bool:
        parts = node.split(".")
        step, place = map(link.whole, parts) if len(parts) == 2 else (None, None)
        return step is not None and place is not None and self.look_at(step, place)

    def partial_text(self, steps: Sequence[Step]) -> tuple[tuple[int, ...], str]:
        """Return the token ids and the text of the likeliest row so far."""
        best = best_row([step for step in steps if isinstance(step, BeamStep)])
        ids = tuple(candidate.token_id for candidate in best)
        return ids, "".join(joined_parts([candidate.text for candidate in best]))

    @property
    def beam_steps(self) -> tuple[BeamStep, ...]:
        return self.trace.beam_steps if self.trace else ()

    @property
    def candidate(self) -> BeamCandidate | None:
        """The selected one."""
        if self.node is None:
            return None
        step, place = self.node
        return self.beam_steps[step].candidates[place]

    def look_at(self, step: int, place: int) -> bool:
        """Select a candidate; what isn't there stays unselected. Returns whether it is there."""
        steps = self.beam_steps
        exists = 0 <= step < len(steps) and 0 <= place < len(steps[step].candidates)
        if exists:
            self.node = (step, place)
        return exists

    def deselect(self) -> None:
        """Look at no candidate."""
        self.node = None

    def bring(self, node: Node, span: int, pruned: bool) -> None:
        """Select a candidate and move the window to it."""
        self.look_at(*node)
        self.turn_to(node[0], span, pruned)

    def turn_to(self, step: int, span: int, pruned: bool) -> None:
        """Move the window of the tree so that it holds a step; it stays where it does."""
        steps = self.beam_steps
        first, last = window(steps, self.first, span, pruned=pruned) if steps else (0, 0)
        if 0 <= step < len(steps) and not first <= step < last:
            bounds = windows(steps, span, pruned=pruned)
            self.first = next(first for first, last in bounds if first <= step < last)


def keep_in_address(view: BeamView) -> None:
    """Put the selected node and the window's first step into the address: `3.1` is the fourth
    step's second candidate. Addresses count from 0, as they did before the screen counted from 1.

    What a search opens with needs no word.
    """
    if view.linked is not None or view.trace is None or "decode" in view.jobs:
        return
    node = None
    if view.node != telling_node(view.trace):
        node = _NO_NODE if view.node is None else "{}.{}".format(*view.node)
    address.write(NODE, node)
    address.write(FIRST, str(view.first) if view.first else None)


def reranked(view: BeamView, trace: Trace, search: BeamSearch) -> tuple[Reranking, Trace]:
    """The stored paths under the length penalty, count and stopping rule of other settings, and
    the trace as these settings make it."""
    held = trace.config.num_beams if isinstance(trace.config, BeamSearch) else 1
    count = min(search.num_return_sequences, held)

    def make() -> tuple[Reranking, Trace]:
        ranking = rerank(
            trace,
            length_penalty=search.length_penalty,
            num_return_sequences=count,
            early_stopping=search.early_stopping,
        )
        return ranking, ranked_anew(trace, ranking, search)

    key = (view.number, search.length_penalty, count, search.early_stopping)
    return view.memo("ranking", key, make)


def ranks_anew(trace: Trace, search: BeamSearch) -> bool:
    """Return whether a ranking or stopping setting differs from the run's."""
    return any(getattr(trace.config, name) != getattr(search, name) for name in RANKING)
