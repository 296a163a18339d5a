"""Record of masked diffusion: the masked positions of every step, and those that it filled.

Positions count the new tokens from 0; the prompt stands before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

from ..config import MAX_NEW_TOKENS, Ended
from ..record.bounds import (
    Bounds,
    ByColumn,
    FiniteNumber,
    Index,
    LeftOut,
    Nats,
    Prob,
    Rank,
    Seconds,
    ShortText,
    TokenId,
    TokenIds,
)
from ..record.steps import Step, TokenStep
from .config import MAX_CANVAS, FillOrder

# Most probable tokens that are recorded at every masked position.
OPEN_CANDIDATES = 5


class OpenPosition(NamedTuple):
    """A masked position of the block, as a step found it.

    Args:
        token_id: the token that was proposed for it.
        prob: the model's unshaped probability of that token.
        entropy: entropy of the unshaped distribution, nats.
        score: its place in the order: the highest scores are filled first.
        filled: whether the step kept the token; otherwise the position stays masked, or gets a new
            random token on a canvas of noise.
    """

    position: Index
    token_id: TokenId
    text: ShortText
    prob: Prob
    entropy: Nats
    score: FiniteNumber
    filled: bool


class OpenCandidate(NamedTuple):
    """One of the most probable tokens at a masked position, by its unshaped probability."""

    position: Index
    token_id: TokenId
    text: ShortText
    prob: Prob


class CanvasToken(NamedTuple):
    """A token that stands on a canvas of noise."""

    token_id: TokenId
    text: ShortText


class Unguided(NamedTuple):
    """Probabilities of a candidate before guidance: with the prompt, and with a masked prompt."""

    with_prompt: Prob
    without_prompt: Prob


class CanvasSeconds(NamedTuple):
    """Seconds of a step's parts: the forward, and shaping, draws and order of all positions."""

    forward: Seconds
    choose: Seconds

    @property
    def total(self) -> float:
        return self.forward + self.choose


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CanvasStep(Step):
    """One forward over the canvas, and the positions that it fills.

    Args:
        index: 0 for the first step.
        limit: number of positions for new tokens in this run.
        open: the masked positions of the block in the order of the text.
        candidates: their most probable tokens, by position and rank.
        canvas: tokens on a canvas of noise before the step, in the order of `open`; empty for
            masks.
        filled: the filled positions in the order of their scores, each recorded as a step of
            sampling; `index` is its position, and `text` is empty, as the text before it may have
            holes. On a canvas of noise only the last step fills, all with their likeliest tokens.
        remasked: positions that earlier steps filled and that this step masks again, the least
            probable token first.
        unguided: of each candidate its probabilities before guidance; empty without guidance.
        emitted: tokens that the text gained: those without a hole before them, in order; with
            remasking those of full blocks.
        texts: text that each of them added to the running text.
        finish_reason: set on the last step of a run that ended by itself.
    """

    kind: ClassVar[str] = "canvas"

    index: Index
    limit: Annotated[int, Bounds(ge=1, le=MAX_NEW_TOKENS)]
    open: Annotated[
        tuple[OpenPosition, ...], ByColumn(), Bounds(min_length=1, max_length=MAX_CANVAS)
    ]
    candidates: Annotated[
        tuple[OpenCandidate, ...], ByColumn(), Bounds(max_length=OPEN_CANDIDATES * MAX_CANVAS)
    ]
    canvas: Annotated[
        tuple[CanvasToken, ...],
        ByColumn(),
        Bounds(max_length=MAX_CANVAS),
        LeftOut(lambda step: not step.canvas),
    ] = ()
    filled: Annotated[tuple[TokenStep, ...], Bounds(max_length=MAX_CANVAS)]
    remasked: Annotated[
        tuple[Index, ...], Bounds(max_length=MAX_CANVAS), LeftOut(lambda step: not step.remasked)
    ] = ()
    unguided: Annotated[
        tuple[Unguided, ...],
        ByColumn(),
        Bounds(max_length=OPEN_CANDIDATES * MAX_CANVAS),
        LeftOut(lambda step: not step.unguided),
    ] = ()
    emitted: TokenIds
    texts: Annotated[tuple[ShortText, ...], Bounds(max_length=MAX_NEW_TOKENS)]
    seconds: CanvasSeconds
    finish_reason: Ended | None = None

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Tokens that the text gained."""
        return self.emitted

    @property
    def text(self) -> str:
        """Text that the step added to the running text."""
        return "".join(self.texts)


class TogetherToken(NamedTuple):
    """A token of a step that filled several.

    Args:
        prob: its unshaped probability on the canvas of the step, in which the others are masked.
        prob_after: its probability once the tokens that the step put first stand on the canvas.
    """

    step: Index
    position: Index
    token_id: TokenId
    text: ShortText
    prob: Prob
    prob_after: Prob


class ForwardsPoint(NamedTuple):
    """Right answers of a way of filling.

    Args:
        tokens_per_step: tokens that a step fills; 0 where the entropy bound decides.
        entropy_bound: that bound, nats.
        forwards: mean number of forwards for an answer.
    """

    order: FillOrder
    tokens_per_step: Index
    entropy_bound: Nats
    forwards: Nats
    right: Index
    asked: Rank


@dataclass(frozen=True, slots=True)
class DiffusionBudget:
    """Forwards spent against right answers, measured by `python -m core.evaluation.diffusion`."""

    schema: ClassVar[str] = "decoding-explorer/diffusion-budget"
    version: ClassVar[int] = 1

    model_id: ShortText
    model_revision: ShortText
    questions: ShortText
    seconds: Seconds
    points: Annotated[tuple[ForwardsPoint, ...], ByColumn(), Bounds(max_length=200)]
