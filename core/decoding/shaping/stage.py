"""A stage of the shaping: a function of logits that may know its step, or a state beside it.

A setting's function stands in `filters` under the setting's name: `act(logits, value, context)`. A
stage that keeps a state for a run is a class there, made with the value, that follows `BoundStage`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple, Protocol, TypeAlias

from torch import Tensor


def named_uniform(seed: int, name: str, index: int) -> float:
    """Return the number in [0, 1) of a name at a step; the run's generator isn't touched."""
    digest = hashlib.sha256(f"{seed}/{name}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class NamedNoise:
    """The numbers of a step by name, and a list of those that were taken."""

    __slots__ = ("_index", "_seed", "drawn")

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        self._seed, self._index = seed, index
        self.drawn: dict[str, float] = {}

    def __call__(self, name: str) -> float:
        return self.drawn.setdefault(name, named_uniform(self._seed, name, self._index))


class StepContext(NamedTuple):
    """The information that a stage has beside the logits.

    Args:
        ids: prompt and generated tokens.
        prompt_length: how many of `ids` are the prompt's.
        uniform: a number in [0, 1) by the name of the stage's setting, the same at this step in
            every run with this seed; recorded in the step.
        token_bytes: the text of a token.
        min_tokens_to_keep: how many tokens every filter leaves at least.
        tokens: the token of each place in the logits; None where they are the whole vocabulary's.
        seen: the places of the tokens in `ids`, where those are known already: of several steps'
            rows end to end, which have a text each.
    """

    ids: Sequence[int] = ()
    prompt_length: int = 0
    uniform: NamedNoise = NamedNoise()
    token_bytes: Callable[[int], bytes] | None = None
    min_tokens_to_keep: int = 1
    tokens: Sequence[int] | None = None
    seen: Sequence[int] | None = None

    def places_of(self, token_ids: Set[int], size: int) -> list[tuple[int, int]]:
        """Each of some tokens that `[size]` logits hold, with its place there."""
        if self.tokens is None:
            return [(token, token) for token in sorted(token_ids) if token < size]
        return [(token, at) for at, token in enumerate(self.tokens) if token in token_ids]

    def seen_places(self, size: int) -> Sequence[int]:
        """The places in `[size]` logits of the tokens that were written before."""
        if self.seen is not None:
            return self.seen
        return [at for _, at in self.places_of(set(self.ids), size)]


# logits `[..., vocab]` of a step, of many where the setting doesn't read the step; the value
StageFunction: TypeAlias = Callable[[Tensor, Any, StepContext], Tensor]


class BoundStage(Protocol):
    """A stage with a state, for one run."""

    def __call__(self, logits: Tensor, context: StepContext) -> Tensor:
        """`[vocab]` logits, -inf where a token is removed."""
        ...

    def accept(self, token_id: int) -> None:
        """Take in the token that followed on the last logits."""
        ...

    def rollback(self, count: int) -> None:
        """Forget the last accepted tokens."""
        ...

    def fork(self) -> BoundStage:
        """An independent copy."""
        ...
