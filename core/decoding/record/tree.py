"""Tree of runs that branch off each other; its runs are ordinary traces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from ...language import N_, Message
from ..counting import nth
from ..errors import TraceError
from ..validation import ShortRepr
from .bounds import Bounds, Index, ShortText
from .trace import Trace

MAX_RUNS = 32


@dataclass(frozen=True, slots=True, repr=False)
class Branch(ShortRepr):
    """A run of a tree.

    Args:
        parent: index of the run that it branched off; None for the first run.
        at_step: number of its parent's tokens that it begins with.
    """

    parent: Index | None
    at_step: Index
    name: ShortText
    trace: Trace

    @property
    def logprob(self) -> float:
        """Log-probability of the generated tokens under the unshaped model, in nats."""
        return -sum(step.surprisal for step in self.trace.token_steps)


@dataclass(frozen=True, slots=True, repr=False)
class RunTree(ShortRepr):
    """Runs of one prompt; every run except the first branched off an earlier run.

    Raises:
        TraceError: a run doesn't fit into the tree, or there are too many runs.
    """

    schema: ClassVar[str] = "decoding-explorer/tree"
    version: ClassVar[int] = 1

    branches: Annotated[tuple[Branch, ...], Bounds(min_length=1, max_length=MAX_RUNS)]

    def __post_init__(self) -> None:
        if not 1 <= len(self.branches) <= MAX_RUNS:
            raise TraceError(
                Message(
                    "A tree has 1 to {max_runs} runs, got {branches}; leave some out.",
                    max_runs=MAX_RUNS,
                    branches=len(self.branches),
                )
            )
        for place in range(len(self.branches)):
            self._require_place(place)

    def _require_place(self, place: int) -> None:
        branch = self.branches[place]
        if (branch.parent is None) != (place == 0) or (branch.parent or 0) >= max(place, 1):
            raise TraceError(N_("Each run of a tree but the first needs a parent before it."))
        parent = self.branches[branch.parent or 0].trace
        shared = parent.token_ids[: branch.at_step]
        if (
            len(shared) < branch.at_step
            or branch.trace.token_ids[: branch.at_step] != shared
            or branch.trace.prompt_ids != parent.prompt_ids
            or branch.trace.model_id != parent.model_id
        ):
            raise TraceError(
                Message(
                    "Run {place} of the tree has another model or prompt than its "
                    "parent, or other tokens before step {at_step}.",
                    place=place + 1,
                    at_step=nth(branch.at_step),
                )
            )

    @classmethod
    def of(cls, trace: Trace, name: str = "Run 1") -> RunTree:
        """Return the tree of one run."""
        return cls((Branch(None, 0, name, trace),))

    def grown(self, parent: int, at_step: int, trace: Trace, name: str = "") -> RunTree:
        """Return the tree with one more run.

        If the parent branched off at that step or later, the run gets the parent's own parent.
        """
        while at_step <= self.branches[parent].at_step and self.branches[parent].parent is not None:
            parent = self.branches[parent].parent or 0
        name = name or f"Run {len(self.branches) + 1}"
        return RunTree((*self.branches, Branch(parent, at_step, name, trace)))

    def renamed(self, place: int, name: str) -> RunTree:
        """Return the tree with a run renamed."""
        branches = list(self.branches)
        branches[place] = replace(branches[place], name=name)
        return RunTree(tuple(branches))

    def without(self, place: int) -> RunTree:
        """Return the tree without a run; runs that branched off it get its parent.

        Raises:
            TraceError: the first run can't be removed: all others branch off it.
        """
        removed = self.branches[place]
        if removed.parent is None:
            raise TraceError(N_("The first run of a tree stays; take another tree."))
        return RunTree(
            tuple(
                _behind(branch, place, removed)
                for at, branch in enumerate(self.branches)
                if at != place
            )
        )


def _behind(branch: Branch, place: int, removed: Branch) -> Branch:
    """Return a branch as it is after the run at `place` was removed from the tree."""
    if branch.parent is None or branch.parent < place:
        return branch
    if branch.parent > place:
        return replace(branch, parent=branch.parent - 1)
    return replace(branch, parent=removed.parent, at_step=min(branch.at_step, removed.at_step))
