"""The layout of a trace file, as strict as it gets: a stranger's file is untrusted input.

Unknown fields, numbers that are no numbers, over-long lists and strings are refused. The methods'
settings are checked by their own config classes, when the trace is built.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from core.decoding.beam.config import MAX_BEAMS
from core.decoding.shaping.config import STAGES
from core.traces.schema.beam import BeamStep, Hypothesis, require_a_tree, require_paths
from core.traces.schema.fields import (
    Index,
    LongText,
    Nats,
    Number,
    Prob,
    Rank,
    Seconds,
    ShortText,
    Strict,
    TokenId,
)
from core.traces.schema.speculative import DraftRound, require_rounds_in_order

MAX_STEPS = 100_001
MAX_ROWS = 201

if TYPE_CHECKING:
    StageName: TypeAlias = str
else:
    StageName = Literal[STAGES]


def _few(value: object) -> object:
    """Refuses a large table before pydantic gathers a fault for each of its entries."""
    if isinstance(value, dict) and len(value) > 50:
        raise ValueError("it has more than 50 entries")
    return value


class Candidates(Strict):
    """Columns of equal length, at most 201 rows."""

    token_id: Annotated[list[TokenId], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)]
    text: Annotated[list[ShortText], Field(max_length=MAX_ROWS, fail_fast=True)]
    rank: Annotated[list[Rank], Field(max_length=MAX_ROWS, fail_fast=True)]
    logit: Annotated[list[Number], Field(max_length=MAX_ROWS, fail_fast=True)]
    raw_prob: Annotated[list[Prob], Field(max_length=MAX_ROWS, fail_fast=True)]
    prob: Annotated[list[Prob], Field(max_length=MAX_ROWS, fail_fast=True)]
    removed_by: Annotated[list[StageName | None], Field(max_length=MAX_ROWS, fail_fast=True)]

    @model_validator(mode="after")
    def _equal_lengths(self) -> Candidates:
        if len({len(column) for _, column in self}) != 1:
            raise ValueError("the candidates' columns differ in length")
        if len(set(self.token_id)) != len(self.token_id):
            raise ValueError("a candidate is listed twice")
        return self


class Position(Strict):
    """One prompt position."""

    index: Index
    token_id: TokenId
    text: ShortText
    entropy: Nats
    candidates: Candidates
    next_token_id: TokenId | None
    next_prob: Prob | None
    next_rank: Rank | None

    @model_validator(mode="after")
    def _next_is_whole(self) -> Position:
        if (
            len({field is None for field in (self.next_token_id, self.next_prob, self.next_rank)})
            > 1
        ):
            raise ValueError("the next token lacks its id, probability or rank")
        return self


class PromptStep(Strict):
    """Prompt processing."""

    kind: Literal["prompt"]
    seconds: Seconds
    positions: Annotated[list[Position], Field(max_length=MAX_STEPS, fail_fast=True)]


class Draw(Strict):
    """How a token was picked."""

    method: Literal["argmax", "forced", "inverse_cdf", "gumbel", "multinomial"]
    uniform: Annotated[float, Field(ge=0, lt=1)] | None
    interval: Annotated[list[Prob], Field(min_length=2, max_length=2, fail_fast=True)] | None
    scores: Annotated[list[Number | None], Field(max_length=MAX_ROWS, fail_fast=True)] | None

    @model_validator(mode="after")
    def _fields_of_its_method(self) -> Draw:
        given = {name for name, value in self if name != "method" and value is not None}
        if given != _DRAW_FIELDS[self.method]:
            wanted = " and ".join(sorted(_DRAW_FIELDS[self.method])) or "no numbers"
            raise ValueError(f"a draw by {self.method} has {wanted}, nothing else")
        return self


_DRAW_FIELDS = {
    "argmax": set[str](),
    "forced": set[str](),
    "inverse_cdf": {"uniform", "interval"},
    "gumbel": {"scores"},
    "multinomial": {"scores"},
}


class Stage(Strict):
    """One named distribution."""

    name: StageName
    probs: Annotated[list[Prob], Field(max_length=MAX_ROWS, fail_fast=True)]
    tail_mass: Prob
    kept: Rank
    removed_mass: Prob


class StepSeconds(Strict):
    """Where a step's time went."""

    forward: Seconds
    shaping: Seconds
    draw: Seconds


class TokenStep(Strict):
    """One emission."""

    kind: Literal["token"]
    index: Index
    token_id: TokenId
    text: ShortText
    candidates: Candidates
    entropy: Nats
    tail_mass: Prob
    surprisal: Annotated[float, Field(ge=-0.001, le=3.5e38)]
    origin: Literal["argmax", "sampled", "forced"]
    phase: Literal["answer", "thinking"]
    draw: Draw
    stages: Annotated[list[Stage], Field(min_length=2, max_length=len(STAGES), fail_fast=True)]
    seconds: StepSeconds
    finish_reason: Literal["eos", "stop", "length"] | None
    forced_as: Literal["think_start", "think_end", "wait", "result"] | None = None
    instead_of: TokenId | None = None

    @model_validator(mode="after")
    def _forced_is_whole(self) -> TokenStep:
        forced = self.origin == "forced"
        if forced != (self.forced_as is not None) or (self.instead_of is not None and not forced):
            raise ValueError("only a forced token has a reason to be forced, and needs one")
        if forced != (self.stages[-2].name == "forced"):
            raise ValueError("the stage forced belongs to a forced token, and to no other")
        if (self.draw.method == "forced") != (forced and self.instead_of is None):
            raise ValueError("a forced token was drawn exactly where it took a picked one's place")
        return self

    @model_validator(mode="after")
    def _rows_agree(self) -> TokenStep:
        ids = self.candidates.token_id
        if self.token_id not in ids:
            raise ValueError("the chosen token is not among the candidates")
        if any(len(stage.probs) != len(ids) for stage in self.stages):
            raise ValueError("a stage has not one probability for each candidate")
        if self.draw.scores is not None and len(self.draw.scores) != len(ids):
            raise ValueError("the draw has not one score for each candidate")
        return self

    @model_validator(mode="after")
    def _stages_in_order(self) -> TokenStep:
        names = [stage.name for stage in self.stages]
        if names[0] != "raw" or names[-1] != "final":
            raise ValueError("a step's stages must begin with raw and end with final")
        places = [STAGES.index(name) for name in names]
        if any(before >= after for before, after in pairwise(places)):
            raise ValueError("a step's stages stand in another order than shaping runs them")
        if ("argmax" in names) != (self.draw.method == "argmax"):
            raise ValueError("the stage argmax belongs to a draw by argmax, and to no other")
        return self


def _is_reasoned(step: object) -> bool:
    return isinstance(step, TokenStep) and (step.phase == "thinking" or step.origin == "forced")


class Timings(Strict):
    """Seconds of the run."""

    prefill: Seconds
    decode: Seconds
    total: Seconds


class Check(Strict):
    """One outcome of the proof."""

    name: ShortText
    passed: bool
    value: Number
    tolerance: Number
    detail: LongText


AnyStep: TypeAlias = Annotated[
    PromptStep | TokenStep | BeamStep | DraftRound, Field(discriminator="kind")
]


class TraceFile(Strict):
    """A whole file, version 1."""

    schema_name: Literal["decoding-explorer/trace"] = Field(alias="schema")
    version: Literal[1]
    model_id: ShortText
    model_revision: ShortText
    dtype: ShortText
    versions: Annotated[dict[ShortText, ShortText], BeforeValidator(_few)]
    created: ShortText
    prompt: LongText
    rendered_prompt: LongText
    prompt_ids: Annotated[list[TokenId], Field(max_length=MAX_STEPS, fail_fast=True)]
    config: dict[str, Any]
    steps: Annotated[list[AnyStep], Field(max_length=MAX_STEPS, fail_fast=True)]
    token_ids: Annotated[list[TokenId], Field(max_length=MAX_STEPS, fail_fast=True)]
    text: LongText
    finish_reason: Literal["eos", "stop", "length", "cancelled"]
    timings: Timings
    notes: Annotated[list[LongText], Field(max_length=50, fail_fast=True)]
    checks: Annotated[list[Check], Field(max_length=100, fail_fast=True)]
    hypotheses: Annotated[list[Hypothesis], Field(max_length=MAX_BEAMS, fail_fast=True)] = Field(
        default_factory=list
    )
    draft_id: ShortText = ""
    draft_revision: ShortText = ""
    draft_dtype: ShortText = ""

    @model_validator(mode="after")
    def _steps_are_the_method_s(self) -> TraceFile:
        searches = self.config.get("method") == "beam"
        drafts = self.config.get("method") == "speculative"
        own = "beam" if searches else "round" if drafts else "token"
        if any(step.kind not in ("prompt", own) for step in self.steps):
            raise ValueError("a step is of another method than the settings")
        if self.config.get("method") != "reasoning" and any(map(_is_reasoned, self.steps)):
            raise ValueError("only a reasoning run thinks, or has forced tokens")
        if self.hypotheses and not searches:
            raise ValueError("only a beam search has hypotheses")
        if not drafts and (self.draft_id or self.draft_revision or self.draft_dtype):
            raise ValueError("only speculative decoding has a draft")
        beams = [step for step in self.steps if isinstance(step, BeamStep)]
        require_a_tree(beams, self.config.get("num_beam_groups", 1))
        require_paths(beams, self.hypotheses)
        rounds = [step for step in self.steps if isinstance(step, DraftRound)]
        if rounds:
            require_rounds_in_order(rounds, self.token_ids)
        return self

    @model_validator(mode="after")
    def _steps_fit_the_run(self) -> TraceFile:
        if any(step.kind == "prompt" for step in self.steps[1:]):
            raise ValueError("the prompt's step must come first and only once")
        last = self.steps[-1] if self.steps else None
        ended = (
            isinstance(last, TokenStep | BeamStep | DraftRound) and last.finish_reason is not None
        )
        if ended and self.finish_reason == "cancelled":
            raise ValueError("a cancelled run can't have a last step that ended it")
        return self
