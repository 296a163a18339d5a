"""Stages of the shaping: functions of logits, which may read their step or keep a state.

A setting's function has the setting's name: `act(logits, value, context)`. A stage with a state for
a run is a class with that name, which follows `BoundStage` and is created with the value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from torch import Tensor

from ...language import Message
from ..errors import DecodingError

if TYPE_CHECKING:
    from ..constraints.grammar import GrammarMaker


def named_uniform(seed: int, name: str, index: int) -> float:
    """Return the number in [0, 1) for a name at a step, without using the run's generator."""
    digest = hashlib.sha256(f"{seed}/{name}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def shared_length(text: Sequence[int], other: Sequence[int]) -> int:
    """Return the length of two texts' common prefix, in tokens."""
    pairs = zip(text, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))


class NamedNoise:
    """Numbers of a step by name, and a record of those that were used."""

    __slots__ = ("_index", "_seed", "drawn")

    def __init__(self, seed: int = 0, index: int = 0) -> None:
        self._seed, self._index = seed, index
        self.drawn: dict[str, float] = {}

    def __call__(self, name: str) -> float:
        return self.drawn.setdefault(name, named_uniform(self._seed, name, self._index))


# States of the first step of a run.
NO_STATES: Mapping[str, float] = {}


class TokenScores(NamedTuple):
    """Scores of tokens by the measure of a watermark's detector.

    Args:
        values: `[vocab]` scores from 0 to 1; 0 for a token that the stage did not look at.
        of: returns a token's score.
    """

    values: Tensor
    of: Callable[[int], float]


class SecondLogits(NamedTuple):
    """Logits of a second forward at a step.

    Args:
        logits: `[vocab]`.
        layer: the layer that they come from; None for a whole model.
    """

    logits: Tensor
    layer: int | None = None


class StepContext(NamedTuple):
    """Information that a stage gets in addition to the logits.

    Args:
        ids: prompt and generated tokens.
        prompt_length: number of prompt tokens in `ids`.
        uniform: returns a number in [0, 1) for the setting's name; it is the same at this step in
            every run with this seed, and the step records it.
        token_bytes: returns the bytes of a token.
        min_tokens_to_keep: minimum number of tokens that every filter leaves.
        answer_from: number of generated tokens before the answer; None while the run thinks.
        grammars: returns the maker of grammars over the model's tokens.
        eos_ids: end-of-sequence tokens.
        states: numbers that earlier steps left, by the setting's name; its start if absent.
        records: receives what a stage keeps for the step's record by its name; None if nothing
            reads it.
        forwards: returns the second logits of a setting at this step.
    """

    ids: Sequence[int] = ()
    prompt_length: int = 0
    uniform: NamedNoise = NamedNoise()
    token_bytes: Callable[[int], bytes] | None = None
    min_tokens_to_keep: int = 1
    answer_from: int | None = 0
    grammars: Callable[[], GrammarMaker] | None = None
    eos_ids: Sequence[int] = ()
    states: Mapping[str, float] = NO_STATES
    records: dict[str, TokenScores | SecondLogits] | None = None
    forwards: Callable[[str, StepContext], tuple[SecondLogits, ...]] | None = None

    def keep(self, name: str, record: TokenScores | SecondLogits) -> None:
        """Keep the scores or second logits of a stage for the step's record."""
        if self.records is not None:
            self.records[name] = record

    def second(self, name: str) -> tuple[SecondLogits, ...]:
        """Return the second logits of a setting.

        Raises:
            DecodingError: the shaper runs no second forward.
        """
        if self.forwards is None:
            raise DecodingError(
                Message(
                    "{name} needs a second forward at each step, which is not run "
                    "here; switch it off.",
                    name=name,
                )
            )
        return self.forwards(name, self)


# Context of a function that is called by itself.
ALONE = StepContext()
# Arguments: logits `[..., vocab]`, of several steps if the setting doesn't read the step; the value
StageFunction: TypeAlias = Callable[[Tensor, Any, StepContext], Tensor]


class BoundStage(Protocol):
    """A stage with a state, bound to one run."""

    def __call__(self, logits: Tensor, context: StepContext) -> Tensor:
        """Return `[vocab]` logits, -inf for removed tokens."""
        ...

    def accept(self, token_id: int) -> None:
        """Update the state with the token that was chosen after the last logits."""
        ...

    def rollback(self, count: int) -> None:
        """Remove the last accepted tokens from the state."""
        ...

    def fork(self) -> BoundStage:
        """Return an independent copy."""
        ...
