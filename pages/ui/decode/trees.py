"""Trees of runs of a session: each run with its request and its source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from core.decoding.counting import counted
from core.decoding.errors import TraceError
from core.decoding.record.trace import Trace
from core.decoding.record.tree import MAX_RUNS, RunTree
from core.figures.base.labels import visible_token
from core.language import N_, Message, tr
from pages.ui import registry
from pages.ui.run.request import Fork, Request
from pages.ui.run.view import Source

# Of all runs of a tree, which a session holds.
MOST_TOKENS = 5_000
NAME_LIMIT = 40
_ROOT = {
    "example": N_("Example"),
    "file": N_("File"),
    "request": N_("Request"),
    "many": N_("One of many"),
}


def first_run(tree: RunTree) -> Trace:
    """Return the first run of a tree that the Decode page shows.

    Raises:
        TraceError: it has none.
    """
    for branch in tree.branches:
        if registry.page_of(branch.trace.config.method) is registry.DECODE:
            return branch.trace
    raise TraceError(
        Message("This tree has no run that the Decode page shows: open the run's own file.")
    )


def room_beside(trace: Trace, length: int) -> int:
    """Return how many runs of so many tokens a tree can hold beside its first run."""
    return SessionTree.of(trace, None, "run").room(length)


@dataclass(eq=False)
class SessionTree:
    """A tree of runs.

    Args:
        requests: the request of each run; None for a run that was not made here.
        sources: for each run, where the page has it from.
    """

    tree: RunTree
    requests: list[Request | None]
    sources: list[Source]

    @classmethod
    def of(cls, trace: Trace, request: Request | None, source: Source) -> Self:
        """Return the tree of one run."""
        return cls(RunTree.of(trace, tr(_ROOT.get(source, N_("First run")))), [request], [source])

    @classmethod
    def of_file(cls, tree: RunTree) -> Self:
        """Return the tree of a file, without what the file says about its proofs."""
        branches = tuple(replace(b, trace=b.trace.with_checks(())) for b in tree.branches)
        count = len(branches)
        return cls(RunTree(branches), [None] * count, ["file"] * count)

    def place(self, trace: Trace | None) -> int | None:
        """Return the place of a run, whose proof may have been attached since; None of another."""
        places = (
            at for at, b in enumerate(self.tree.branches) if trace and b.trace.steps is trace.steps
        )
        return next(places, None)

    def room(self, length: int) -> int:
        """Return how many more runs of so many tokens the tree can hold."""
        tokens = sum(len(branch.trace.token_ids) for branch in self.tree.branches)
        return max(0, min(MAX_RUNS - len(self.tree.branches), (MOST_TOKENS - tokens) // length))

    def require_room(self, runs: int, length: int) -> None:
        """Refuse more runs of so many tokens each where the tree can't hold them.

        Raises:
            TraceError: one sentence.
        """
        if runs > self.room(length):
            full = N_(
                "This tree has no room for {runs} more: it holds {most} and {tokens} at most."
            )
            removable = N_(
                "This tree has no room for {runs} more: it holds {most} and {tokens} at most. "
                "Remove a branch first."
            )
            raise TraceError(
                Message(
                    removable if len(self.tree.branches) > 1 else full,
                    runs=counted(runs, "run"),
                    most=counted(MAX_RUNS, "run"),
                    tokens=counted(MOST_TOKENS, "token"),
                )
            )

    def grow(self, fork: Fork, trace: Trace, request: Request | None) -> None:
        """Add the run that went on from a run of the tree."""
        parent = self.place(fork.trace)
        if parent is not None and len(self.tree.branches) < MAX_RUNS:
            at = min(fork.at_step, len(trace.token_ids))
            self.tree = self.tree.grown(parent, at, trace, _name(fork, trace))
            self.requests.append(request)
            self.sources.append("run")

    def remove(self, place: int) -> int:
        """Take a run out, and return the place of the run that it went on from."""
        parent = self.tree.branches[place].parent
        self.tree = self.tree.without(place)
        del self.requests[place], self.sources[place]
        return parent or 0

    def rename(self, trace: Trace, name: str) -> None:
        """Give a run another name.

        Raises:
            TraceError: it is empty or too long.
        """
        place, name = self.place(trace), " ".join(name.split())
        if not 0 < len(name) <= NAME_LIMIT:
            raise TraceError(
                Message(
                    "A run's name has 1 to {most} characters, got {count}: it keeps its own.",
                    most=NAME_LIMIT,
                    count=len(name),
                )
            )
        if place is not None:
            self.tree = self.tree.renamed(place, name)


def _name(fork: Fork, trace: Trace) -> str:
    """Name a run by the tokens that it was given, else by its seed."""
    given_steps = trace.token_steps[fork.at_step :][: len(fork.token_ids)]
    text = fork.text or "".join(step.chosen.text for step in given_steps)
    if not text:
        return tr("seed {seed}", seed=getattr(trace.config, "seed", 0))
    return visible_token(" ".join(text.split()) or text, NAME_LIMIT)
