"""Session state of the Decode page: a run and its selected step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import streamlit as st

from core.decoding.record.forks import ForkPoint
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.figures.base.records import texts_in
from core.figures.opening import contested_step
from core.language import N_, tr
from pages.ui import platform
from pages.ui.decode.trees import SessionTree, first_run
from pages.ui.run import address, named_run
from pages.ui.run.request import Request, given_tokens
from pages.ui.run.view import MOST_RUNS, Source, View
from pages.ui.widgets.controls import link

# Characters of the given tokens in a link.
MAX_GIVEN = 4_000
MOST_TREES = 4
# Key of the tabs, and the title of the one of the tree.
LOOK, BRANCHES = "look", N_("Branches")
# In the address.
STEP, _GIVEN = "step", "given"
# In the session: what a link says of the inputs for which it gives tokens.
GIVEN_FOR, _GIVEN_KEYS = "given_for", ("model", "prompt", "method")
_OTHERWISE = N_("the page's own choice is selected")


class LinkedStep(Protocol):
    """Target of a link: the link as it was opened, and the steps to select from."""

    linked: str
    selected: int

    @property
    def steps(self) -> Sequence[TokenStep]: ...

    def select(self, index: int) -> None: ...


class ForkedRun(NamedTuple):
    """A run and its fork points."""

    trace: Trace
    points: tuple[ForkPoint, ...]


class CacheRuns(NamedTuple):
    """One run with the KV cache on and off, several times and in turns."""

    on: tuple[Trace, ...]
    off: tuple[Trace, ...]


@dataclass(eq=False)
class DecodeView(View):
    """One session's view of one run; `first` is the first step of the heatmap.

    Args:
        prompt_first: where the window of the prompt begins.
        compared: the same run with the KV cache on and off, once both were timed in turns.
        linked: the step as the link which opened the page names it, until a run has shown it.
        awaits_link: the run of the link which opened the page is not shown yet.
        trees: of the runs that went on from each other, the newest last.
        roots: first runs of trees among `runs`, with their sources.
        forked: runs whose fork points were found, the newest last.
        pending_tree: tree of the requested run; it joins `trees` once it has two runs.
    """

    key: ClassVar[str] = "view"
    example: ClassVar[str] = "decode.json"
    measurements: ClassVar[dict[str, str]] = {"compare": "compared"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "logits", "compare", "pins", "edited")

    prompt_first: int = 0
    compared: CacheRuns | None = None
    linked: str = ""
    awaits_link: bool = False
    trees: list[SessionTree] = field(default_factory=list)
    roots: list[tuple[Trace, Source]] = field(default_factory=list)
    forked: list[ForkedRun] = field(default_factory=list)
    pending_tree: SessionTree | None = None

    @classmethod
    def initial(cls) -> Self:
        """The example, at the step that the address names, else at a contested one."""
        view = super().initial()
        view.linked = st.query_params.get(platform.key(STEP), "")
        if not named_run.is_named():
            follow_link(view, _OTHERWISE)
        else:  # For Run, where the link's run waits for it.
            view.awaits_link = True
            name_of_given = platform.key(_GIVEN)
            st.session_state[name_of_given] = st.query_params.get(name_of_given, "")
            st.session_state[platform.key(GIVEN_FOR)] = {
                name: st.query_params.get(platform.key(name), "") for name in _GIVEN_KEYS
            }
        return view

    @classmethod
    def elsewhere(cls) -> Self:
        """This session's view, seen from a page whose address names a step of its own."""
        platform.keep(platform.key(cls.key), super().initial)
        return cls.current()

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run; at the step of the run before it, if the new one was made here."""
        at_step, repeats = self.selected, source == "run" and not self.awaits_link
        super().show(trace, source)
        self.awaits_link = False
        self.prompt_first = 0
        given_ids, fork = (
            (self.shown_request.given, self.shown_request.fork)
            if self.shown_request
            else ((), None)
        )
        if fork is not None:
            at_step = fork.at_step
        elif given_ids:
            at_step = len(given_ids) - 1
        elif not repeats or at_step >= len(trace.token_steps):
            at_step = contested_step(trace)
        self.select(at_step)
        if source == "run":
            st.session_state.pop(platform.key(_GIVEN), None)
            follow_link(self, _OTHERWISE)
        self.linked = ""

    def open(self, content: Trace | RunTree, source: Source = "file") -> None:
        """Look at a trace from elsewhere, or at the first run of a tree of this page's methods."""
        if isinstance(content, RunTree):
            tree = SessionTree.of_file(content)
            content = first_run(tree.tree)
            self._keep_tree(tree)
        super().open(content, source)

    def tree_of(self, trace: Trace | None) -> SessionTree | None:
        """Return the tree that a run belongs to."""
        return next((tree for tree in self.trees if tree.place(trace) is not None), None)

    def fork_points_of(self, trace: Trace) -> tuple[ForkPoint, ...]:
        """Return the fork points that were found of a run; empty without any."""
        found = (run.points for run in reversed(self.forked) if run.trace.steps is trace.steps)
        return next(found, ())

    def ensure_tree(self, trace: Trace) -> SessionTree:
        """Return the tree that the shown run belongs to; a new one where it is in none."""
        self.pending_tree = self.tree_of(trace) or SessionTree.of(
            trace, self.shown_request, self.source
        )
        return self.pending_tree

    def _keep_tree(self, tree: SessionTree) -> None:
        self.trees = [*self.trees, tree][-MOST_TREES:]
        root, source = tree.tree.branches[0].trace, tree.sources[0]
        if source == "example":
            self.example_before = root
        elif source != "run":
            super().keep(root, None)
            self.roots = [*self.roots, (root, source)][-MOST_RUNS:]

    def keep(self, trace: Trace, request: Request | None) -> None:
        """Keep a run in the tree of the run that it went on from, else in the list of runs."""
        fork = request.fork if request else None
        tree = self.tree_of(fork.trace) if fork else None
        if (
            fork
            and tree is None
            and self.pending_tree
            and self.pending_tree.place(fork.trace) is not None
        ):
            tree = self.pending_tree
            self._keep_tree(tree)
        if fork and tree:
            tree.grow(fork, trace, request)
            if len(tree.tree.branches) == 2:
                st.session_state[platform.key(LOOK)] = tr(BRANCHES)
        else:
            super().keep(trace, request)

    def collect(self, name: str, result: Any) -> None:
        """Take over what a job has left; runs that grew together stay beside the shown one."""
        if name == "forks":
            self.forked = [*self.forked, *filter(None, [result])][-MOST_TREES:]
            return
        if name != "grow":
            super().collect(name, result)
            if name == "decode" and self.failures[name]:
                # Run would force them into every later run.
                st.session_state.pop(platform.key(_GIVEN), None)
            return
        self.failure = self.failures[name]
        for trace, request in result or ():
            self.keep(trace, request)

    def source_of(self, trace: Trace) -> Source:
        tree = self.tree_of(trace)
        place = tree.place(trace) if tree else None
        if tree is not None and place is not None:
            return tree.sources[place]
        roots = (source for root, source in self.roots if root.steps is trace.steps)
        return next(roots, super().source_of(trace))

    def text_of(self, token_id: int) -> str:
        """Return the text of a token that the shown run, or a run of its tree, names."""
        tree = self.tree_of(self.trace)
        runs = [branch.trace for branch in tree.tree.branches] if tree else []
        texts = (texts_in(trace)(token_id) for trace in reversed(runs))
        return super().text_of(token_id) or next(filter(None, texts), "")

    def follow(self, source_view: DecodeView) -> None:
        """Look at the run and the step of another slot."""
        if source_view is not self and source_view.trace is not None:
            self.show(source_view.trace, source_view.source)
            self.shown_request = source_view.shown_request
            self.select(source_view.selected)

    @property
    def untouched(self) -> bool:
        """Return whether the view still shows the example at the step that it opened with."""
        return (
            self.source == "example"
            and self.trace is not None
            and self.selected == contested_step(self.trace)
        )


def follow_link(view: LinkedStep, otherwise: str) -> None:
    """Look at the step that the link names; where the run has none such, say so.

    Args:
        otherwise: which one is looked at then.
    """
    step = link.whole(view.linked)
    if step is not None and step < len(view.steps):
        view.select(step)
    elif view.linked:
        link.report(
            tr(
                "{step} in the link is no step of this run (numbers in links begin at 0): "
                "{otherwise}.",
                step=link.quoted(view.linked),
                otherwise=tr(otherwise),
            )
        )
    view.linked = ""


def write_step(view: LinkedStep, first: int) -> None:
    """Let the address name the selected step unless it is the one that is shown first; the step of
    a link stays there until its run has ended."""
    if not view.linked:
        address.write(STEP, None if view.selected == first else str(view.selected))


def write_given(view: DecodeView) -> None:
    """Let the address name the tokens that the shown run was given."""
    waits = st.session_state.get(platform.key(_GIVEN)) or "decode" in view.jobs
    if view.trace is not None and not waits:
        words = given_tokens(view.trace) if view.source == "run" else ""
        address.write(_GIVEN, words if 0 < len(words) <= MAX_GIVEN else None)


def uncertain_steps(trace: Trace) -> list[int]:
    """Steps with more entropy than the run's mean; a fixed bound would mark all steps or none."""
    entropies = [step.entropy for step in trace.token_steps]
    mean = sum(entropies) / max(len(entropies), 1)
    return [at for at, entropy in enumerate(entropies) if entropy > mean]


def median_run(runs: Sequence[Trace]) -> Trace:
    """The run in the middle by its time; of an even number the quicker of the two."""
    timed = sorted(runs, key=lambda run: run.timings.prefill + run.timings.decode)
    return timed[(len(runs) - 1) // 2]
