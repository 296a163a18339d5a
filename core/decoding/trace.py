"""What a run records: frozen values that need no torch, so that a stored trace opens at once.

Probabilities are over the full vocabulary, entropies and surprisals in nats, times in seconds,
ranks start at 1 (rank 1 is the model's most probable token).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from core.decoding.beam.config import MAX_BEAMS
from core.decoding.beam.types import BeamStep, Ended, Hypothesis
from core.decoding.bounds import (
    MAX_NUMBER,
    MAX_STEPS,
    Bounds,
    ByColumn,
    Index,
    LeftOut,
    LongText,
    Nats,
    Number,
    OneOf,
    Prob,
    Rank,
    Seconds,
    ShortText,
    TokenId,
    TokenIds,
    Uniform,
)
from core.decoding.config import MAX_CANDIDATES, ConfigT_co, DrawMethod, MethodConfig
from core.decoding.errors import TraceError
from core.decoding.shaping.config import STAGES
from core.decoding.speculative.types import DraftRound

StageName: TypeAlias = Annotated[str, OneOf(STAGES)]

# What makes a file of a trace stands above the methods, and they stand above a trace.
_FILE = "core.decoding.serial"

FinishReason: TypeAlias = Literal["eos", "stop", "length", "cancelled"]
Origin: TypeAlias = Literal["argmax", "sampled", "forced"]
Phase: TypeAlias = Literal["answer", "thinking"]
ForcedAs: TypeAlias = Literal["think_start", "think_end", "wait", "result"]


class Candidate(NamedTuple):
    """A token with its numbers at a step.

    `text` is for display: a token that holds part of a character shows its bytes (`<E2><98>`).
    `logit` and `raw_prob` are the model's own, before any shaping; `prob` is what was drawn from;
    `removed_by` names the stage that took the token out, None while it is in.
    """

    token_id: TokenId
    text: ShortText
    rank: Rank
    logit: Number
    raw_prob: Prob
    prob: Prob
    removed_by: StageName | None = None


# The most probable tokens, and the chosen one.
_Rows = Bounds(max_length=MAX_CANDIDATES + 1)
Candidates: TypeAlias = Annotated[tuple[Candidate, ...], ByColumn(), _Rows]


class Stage(NamedTuple):
    """One named distribution on the way from logits to the draw.

    `probs[i]` belongs to the step's `candidates[i]`; `tail_mass` is the mass of all other tokens,
    measured over the vocabulary, so that `sum(probs) + tail_mass` is 1. `kept` counts the tokens
    still in, `removed_mass` is the mass that this stage took from the distribution before it.
    """

    name: StageName
    probs: Annotated[tuple[Prob, ...], _Rows]
    tail_mass: Prob
    kept: Rank
    removed_mass: Prob


class Draw(NamedTuple):
    """How the token was picked.

    `argmax` has no numbers. `inverse_cdf` has the `uniform` number in [0, 1) and the `interval`
    of the cumulative distribution (tokens by falling probability, ties by id) that it fell into.
    `gumbel` and `multinomial` have `scores`, one for each candidate (log-probability plus Gumbel
    noise, None where the token was removed); the highest score of the vocabulary wins.
    `forced` has no numbers: nothing was drawn.
    """

    method: DrawMethod | Literal["argmax", "forced"]
    uniform: Uniform | None = None
    interval: tuple[Prob, Prob] | None = None
    scores: Annotated[tuple[Number | None, ...], _Rows] | None = None


class StepSeconds(NamedTuple):
    """Where a step's time went; `forward` of the first step is 0, the prompt step paid for it."""

    forward: Seconds
    shaping: Seconds
    draw: Seconds

    @property
    def total(self) -> float:
        return self.forward + self.shaping + self.draw


@dataclass(frozen=True, slots=True)
class PromptPosition:
    """What the model predicted after one prompt token.

    `next_*` tell of the token that really follows in the prompt, None at the last position.
    """

    index: Index
    token_id: TokenId
    text: ShortText
    entropy: Nats
    candidates: Candidates
    next_token_id: TokenId | None = None
    next_prob: Prob | None = None
    next_rank: Rank | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptStep:
    """Prompt processing: one forward over the prompt, read at every position."""

    kind: ClassVar[str] = "prompt"

    seconds: Seconds
    positions: Annotated[tuple[PromptPosition, ...], Bounds(max_length=MAX_STEPS)]


_NotForced = LeftOut(lambda step: step.forced_as is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStep:
    """One call that emitted one token.

    Args:
        index: 0 for the first generated token.
        candidates: the model's most probable tokens by rank; the chosen one is always among them.
        entropy: of the raw distribution, nats.
        tail_mass: raw mass of the tokens that are not among the candidates.
        surprisal: -ln(raw probability of the chosen token), nats.
        stages: the named distributions, `raw` first and `final` last.
        text: what this token added to the running text; empty while a character is incomplete.
        finish_reason: set on the last step of a run that ended by itself.
        forced_as: why the token was put there (origin `forced`), None where the model chose it.
        instead_of: the token that `draw` had picked, where a forced one took its place.
    """

    kind: ClassVar[str] = "token"

    index: Index
    token_id: TokenId
    text: ShortText
    candidates: Candidates
    entropy: Nats
    tail_mass: Prob
    surprisal: Annotated[float, Bounds(ge=-0.001, le=MAX_NUMBER)]
    origin: Origin
    phase: Phase
    forced_as: Annotated[ForcedAs | None, _NotForced] = None
    instead_of: Annotated[TokenId | None, _NotForced] = None
    draw: Draw
    stages: Annotated[tuple[Stage, ...], Bounds(min_length=2, max_length=len(STAGES))]
    seconds: StepSeconds
    finish_reason: Ended | None = None

    @property
    def token_ids(self) -> tuple[int, ...]:
        """What the step emitted."""
        return (self.token_id,)

    @property
    def chosen(self) -> Candidate:
        """The candidate that was emitted."""
        for candidate in self.candidates:
            if candidate.token_id == self.token_id:
                return candidate
        raise LookupError(f"step {self.index} doesn't hold its own token {self.token_id}")


# A method with steps of its own adds their class here.
Step: TypeAlias = PromptStep | TokenStep | BeamStep | DraftRound


_Kind = TypeVar("_Kind", bound=Step)
_Config = TypeVar("_Config", bound=MethodConfig)


class Check(NamedTuple):
    """The outcome of one proof: `value` is the worst deviation measured, `tolerance` its bound."""

    name: ShortText
    passed: bool
    value: Number
    tolerance: Number
    detail: LongText = ""


class Timings(NamedTuple):
    """Seconds of work until the first token is out, for the tokens after it, and by the clock."""

    prefill: Seconds
    decode: Seconds
    total: Seconds


_NotSearched = LeftOut(lambda trace: trace.config.method != "beam")
_NotDrafted = LeftOut(lambda trace: trace.config.method != "speculative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Generic[ConfigT_co]):
    """Everything that a run recorded; readable without the model.

    `Trace[BeamSearch]` is a trace whose config is a `BeamSearch`, a plain `Trace` any other.

    Args:
        model_id: as given to `load_model`.
        prompt: the text as given; of token ids, their text.
        dtype: of the weights, `float32` for example; empty when unknown.
        rendered_prompt: what the model saw (a chat template applied), equal to `prompt` without.
        steps: the `PromptStep` first, then one step for each emission.
        token_ids: the generated ids, end-of-sequence included; of beam search the best hypothesis'
            (of a cancelled one without any, the best row's).
        text: the generated text, special tokens left out.
        notes: sentences that explain a choice made for the user (temperature 0 means greedy).
        created: ISO 8601, UTC.
        hypotheses: of beam search, best first: every finished path that the search still held at
            its end; `config.num_return_sequences` of them are what was asked for.
        draft_id: of speculative decoding, the second model's name, revision and dtype; empty for
            prompt lookup.
    """

    schema: ClassVar[str] = "decoding-explorer/trace"
    version: ClassVar[int] = 1

    model_id: ShortText
    model_revision: ShortText = ""
    dtype: ShortText = ""
    versions: Annotated[dict[ShortText, ShortText], Bounds(max_length=50)] = field(
        default_factory=dict
    )
    created: ShortText = ""
    prompt: LongText
    rendered_prompt: LongText = ""
    prompt_ids: TokenIds
    config: ConfigT_co
    steps: Annotated[tuple[Step, ...], Bounds(max_length=MAX_STEPS)]
    token_ids: TokenIds
    text: LongText
    finish_reason: FinishReason
    timings: Timings
    notes: Annotated[tuple[LongText, ...], Bounds(max_length=50)] = ()
    checks: Annotated[tuple[Check, ...], Bounds(max_length=100)] = ()
    hypotheses: Annotated[tuple[Hypothesis, ...], Bounds(max_length=MAX_BEAMS), _NotSearched] = ()
    draft_id: Annotated[ShortText, _NotDrafted] = ""
    draft_revision: Annotated[ShortText, _NotDrafted] = ""
    draft_dtype: Annotated[ShortText, _NotDrafted] = ""

    @property
    def token_steps(self) -> tuple[TokenStep, ...]:
        """The steps that emitted a token."""
        return self._steps_of(TokenStep)

    @property
    def beam_steps(self) -> tuple[BeamStep, ...]:
        """The steps of a beam search."""
        return self._steps_of(BeamStep)

    @property
    def rounds(self) -> tuple[DraftRound, ...]:
        """The rounds of speculative decoding."""
        return self._steps_of(DraftRound)

    def _steps_of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        return tuple(step for step in self.steps if isinstance(step, kind))

    @property
    def prompt_step(self) -> PromptStep | None:
        """Prompt processing; None when the run was cancelled before it."""
        return next(iter(self._steps_of(PromptStep)), None)

    @property
    def tokens_per_second(self) -> float:
        """Tokens after the first (or the first round's), over the seconds they took; 0 for none."""
        later = len(self.token_ids) - (len(self.rounds[0].token_ids) if self.rounds else 1)
        return later / self.timings.decode if later > 0 < self.timings.decode else 0.0

    def with_checks(self, checks: tuple[Check, ...]) -> Trace[ConfigT_co]:
        """The same trace with its proof attached."""
        return replace(self, checks=checks)

    def require(self, kind: type[_Config]) -> Trace[_Config]:
        """The same trace, known to be one of this method.

        Raises:
            TraceError: it is another method's.
        """
        if not isinstance(self.config, kind):
            raise TraceError(
                f"This is a trace of {self.config.method}, not of {kind.words}; open another one."
            )
        return cast(Trace[_Config], self)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as the trace file holds them."""
        plain: dict[str, Any] = resolve_name(f"{_FILE}:trace_to_dict")(self)
        return plain

    @staticmethod
    def from_dict(data: Any) -> Trace:
        """The trace that `to_dict` wrote; raises TraceError for anything else."""
        trace: Trace = resolve_name(f"{_FILE}:trace_from_dict")(data)
        return trace

    def to_json(self) -> str:
        """The text of the trace file."""
        return json.dumps(
            self.to_dict(), ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )

    def save(self, path: str | Path) -> None:
        """Write the trace file (UTF-8 JSON)."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read one's own trace file; a stranger's goes through `core.traces.read_trace`.

        Raises:
            TraceError: the file can't be read or is no trace.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise TraceError(f"The trace file {path} can't be opened: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise TraceError(f"The trace file {path} is not JSON text.") from None
        return Trace.from_dict(data)
