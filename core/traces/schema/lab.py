"""The layout of a file that holds a step of the sampling lab, as strict as a trace file's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from core.decoding.shaping.config import KNOB_RANGES
from core.decoding.shaping.orders import ORDERS
from core.traces.lab import MAX_ROLL
from core.traces.schema.fields import (
    MAX_COUNT,
    Index,
    LongText,
    Number,
    Prob,
    Rank,
    Seconds,
    ShortText,
    Strict,
    TokenId,
)
from core.traces.schema.trace import MAX_ROWS, StageName, TokenStep, TraceFile

_MAX_PIECES, _MAX_TEMPERATURES, _MAX_BRANCHES, _MAX_TOKENS = 2_000, 201, 33, 2_000
DrawName = Literal["inverse_cdf", "gumbel", "multinomial"]


class LabTokenStep(TokenStep):
    """A step whose stages stand in the order of a library, which the file's own fields name."""

    @model_validator(mode="after")
    def _stages_in_order(self) -> LabTokenStep:
        names = [stage.name for stage in self.stages]
        if names[0] != "raw" or names[-1] != "final" or len(set(names)) != len(names):
            raise ValueError("a step's stages must begin with raw, end with final and differ")
        if ("argmax" in names) != (self.draw.method == "argmax"):
            raise ValueError("the stage argmax belongs to a draw by argmax, and to no other")
        return self


class LabTrace(TraceFile):
    """The trace of one step."""

    steps: Annotated[list[LabTokenStep], Field(min_length=1, max_length=1)]  # type: ignore[assignment]

    @model_validator(mode="after")
    def _is_one_drawn_step(self) -> LabTrace:
        if self.config.get("method") != "sampling" or not self.prompt_ids:
            raise ValueError("a step of the lab is one of sampling after at least one token")
        return self


class LabCandidate(Strict):
    """A token with its numbers."""

    token_id: TokenId
    text: ShortText
    rank: Rank
    logit: Number
    raw_prob: Prob
    prob: Prob
    removed_by: StageName | None


class LabCrossing(Strict):
    """Where top-p stopped counting."""

    candidate: LabCandidate
    before: Prob
    after: Prob
    probs: Annotated[list[Prob], Field(max_length=MAX_ROWS)]


class LabStep(Strict):
    """The step under one setting of all knobs."""

    trace: LabTrace
    text_before: LongText
    order: Annotated[str, Field(max_length=40)]
    throw: Index
    raw_pick: LabCandidate
    crossing: LabCrossing | None
    skipped: Annotated[list[ShortText], Field(max_length=20)]

    @model_validator(mode="after")
    def _is_of_its_order(self) -> LabStep:
        order = ORDERS.get(self.order)
        if order is None:
            raise ValueError("the order is none of those that the lab knows")
        stages = [stage.name for stage in self.trace.steps[0].stages]
        names = [name for name in stages if name not in ("raw", "argmax", "final")]
        if names != [name for name in order.processors if name in names]:
            raise ValueError("the stages stand in another order than the library runs them")
        if self.crossing is not None and (
            "top_p" not in stages or len(self.crossing.probs) != len(stages)
        ):
            raise ValueError("the crossing of top-p has not one probability for each stage")
        if not {*self.skipped} <= {*KNOB_RANGES}:
            raise ValueError("what was left out is no act")
        return self


class LabPiece(Strict):
    """Values of a knob that give one token."""

    low: Annotated[float, Field(ge=0, le=MAX_COUNT)]
    high: Annotated[float, Field(ge=0, le=MAX_COUNT)]
    token_id: TokenId
    text: ShortText


class LabFlips(Strict):
    """A knob's range."""

    name: Annotated[str, Field(max_length=40)]
    value: Annotated[float, Field(ge=0, le=MAX_COUNT)]
    pieces: Annotated[list[LabPiece], Field(max_length=_MAX_PIECES, fail_fast=True)]
    acts: bool

    @model_validator(mode="after")
    def _rises(self) -> LabFlips:
        if self.name not in KNOB_RANGES:
            raise ValueError("it is no knob of the lab")
        ends = [end for piece in self.pieces for end in (piece.low, piece.high)]
        if any(left > right for left, right in pairwise(ends)):
            raise ValueError("the pieces of a knob's range don't rise")
        return self


class LabBin(Strict):
    """Rolls of a token, or of all the rare ones."""

    token_id: TokenId | None
    text: ShortText
    prob: Prob
    rolls: Index
    tokens: Rank


class LabRolls(Strict):
    """A series of throws."""

    method: DrawName
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)]
    first_throw: Index
    total: Index
    bins: Annotated[list[LabBin], Field(max_length=1_001, fail_fast=True)]
    chi_square: Annotated[float, Field(ge=0, le=3.5e38)]
    degrees: Index
    p_value: Prob | None

    @model_validator(mode="after")
    def _adds_up(self) -> LabRolls:
        if sum(own.rolls for own in self.bins) != self.total:
            raise ValueError("the bins don't hold as many rolls as were thrown")
        return self


class LabSweep(Strict):
    """The distribution at many temperatures."""

    temperatures: Annotated[list[Annotated[float, Field(ge=0, le=100)]],
                            Field(max_length=_MAX_TEMPERATURES, fail_fast=True)]  # fmt: skip
    candidates: Annotated[list[LabCandidate], Field(max_length=100, fail_fast=True)]
    probs: Annotated[list[list[Prob]], Field(max_length=100, fail_fast=True)]
    entropies: Annotated[list[Annotated[float, Field(ge=0, le=100)]],
                         Field(max_length=_MAX_TEMPERATURES, fail_fast=True)]  # fmt: skip
    kept: Annotated[list[Rank], Field(max_length=_MAX_TEMPERATURES, fail_fast=True)]

    @model_validator(mode="after")
    def _is_a_table(self) -> LabSweep:
        width = len(self.temperatures)
        rows: list[Sequence[float]] = [self.entropies, self.kept, *self.probs]
        if len(self.probs) != len(self.candidates) or any(len(row) != width for row in rows):
            raise ValueError("the sweep has not one number for each token and temperature")
        return self


class LabRowToken(Strict):
    """A token of a continuation."""

    token_id: TokenId
    text: ShortText
    raw_prob: Prob
    prob: Prob


class LabContinuation(Strict):
    """One way on."""

    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None
    tokens: Annotated[list[LabRowToken], Field(max_length=_MAX_TOKENS, fail_fast=True)]
    text: LongText
    finish_reason: Literal["eos", "stop", "length", "cancelled"]


class LabContinuations(Strict):
    """Several ways on."""

    model_id: ShortText
    text_before: LongText
    config: dict[str, Any]
    rows: Annotated[list[LabContinuation], Field(max_length=_MAX_BRANCHES, fail_fast=True)]
    seconds: Seconds


class LabFile(Strict):
    """A whole file, version 1."""

    schema_name: Literal["decoding-explorer/lab"] = Field(alias="schema")
    version: Literal[1]
    index: Index
    step: LabStep
    flips: Annotated[list[LabFlips], Field(max_length=len(KNOB_RANGES), fail_fast=True)]
    rolls: LabRolls | None
    sweep: LabSweep | None
    continuations: LabContinuations | None

    @model_validator(mode="after")
    def _the_step_has_its_place(self) -> LabFile:
        if self.index >= len(self.step.trace.prompt_ids):
            raise ValueError("the step lies further on than there are tokens before it")
        if not 0 <= self.step.throw - self.index <= MAX_ROLL:
            raise ValueError(f"the throw is none of the {MAX_ROLL} after the step's own")
        if len({own.name for own in self.flips}) != len(self.flips):
            raise ValueError("a knob is listed twice")
        return self
