"""What a run records: frozen values that need no torch, so that a stored trace opens at once.

Probabilities are over the full vocabulary, entropies and surprisals in nats, times in seconds,
ranks start at 1 (rank 1 is the model's most probable token).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast

from core.decoding.beam.types import BeamStep, Hypothesis
from core.decoding.config import ConfigT_co, DrawMethod, MethodConfig
from core.decoding.errors import TraceError
from core.decoding.speculative.types import DraftRound

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

    token_id: int
    text: str
    rank: int
    logit: float
    raw_prob: float
    prob: float
    removed_by: str | None = None


class Stage(NamedTuple):
    """One named distribution on the way from logits to the draw.

    `probs[i]` belongs to the step's `candidates[i]`; `tail_mass` is the mass of all other tokens,
    measured over the vocabulary, so that `sum(probs) + tail_mass` is 1. `kept` counts the tokens
    still in, `removed_mass` is the mass that this stage took from the distribution before it.
    """

    name: str
    probs: tuple[float, ...]
    tail_mass: float
    kept: int
    removed_mass: float


class Draw(NamedTuple):
    """How the token was picked.

    `argmax` has no numbers. `inverse_cdf` has the `uniform` number in [0, 1) and the `interval`
    of the cumulative distribution (tokens by falling probability, ties by id) that it fell into.
    `gumbel` and `multinomial` have `scores`, one for each candidate (log-probability plus Gumbel
    noise, None where the token was removed); the highest score of the vocabulary wins.
    `forced` has no numbers: nothing was drawn.
    """

    method: DrawMethod | Literal["argmax", "forced"]
    uniform: float | None = None
    interval: tuple[float, float] | None = None
    scores: tuple[float | None, ...] | None = None


class StepSeconds(NamedTuple):
    """Where a step's time went; `forward` of the first step is 0, the prompt step paid for it."""

    forward: float
    shaping: float
    draw: float

    @property
    def total(self) -> float:
        return self.forward + self.shaping + self.draw


@dataclass(frozen=True, slots=True)
class PromptPosition:
    """What the model predicted after one prompt token.

    `next_*` tell of the token that really follows in the prompt, None at the last position.
    """

    index: int
    token_id: int
    text: str
    entropy: float
    candidates: tuple[Candidate, ...]
    next_token_id: int | None = None
    next_prob: float | None = None
    next_rank: int | None = None


@dataclass(frozen=True, slots=True)
class PromptStep:
    """Prompt processing: one forward over the prompt, read at every position."""

    positions: tuple[PromptPosition, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
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

    index: int
    token_id: int
    candidates: tuple[Candidate, ...]
    entropy: float
    tail_mass: float
    surprisal: float
    origin: Origin
    phase: Phase
    draw: Draw
    stages: tuple[Stage, ...]
    text: str
    seconds: StepSeconds
    finish_reason: FinishReason | None = None
    forced_as: ForcedAs | None = None
    instead_of: int | None = None

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

    name: str
    passed: bool
    value: float
    tolerance: float
    detail: str = ""


class Timings(NamedTuple):
    """Seconds of work until the first token is out, for the tokens after it, and by the clock."""

    prefill: float
    decode: float
    total: float


@dataclass(frozen=True, slots=True)
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

    model_id: str
    prompt: str
    prompt_ids: tuple[int, ...]
    config: ConfigT_co
    steps: tuple[Step, ...]
    token_ids: tuple[int, ...]
    text: str
    finish_reason: FinishReason
    timings: Timings
    rendered_prompt: str = ""
    model_revision: str = ""
    dtype: str = ""
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    checks: tuple[Check, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    draft_id: str = ""
    draft_revision: str = ""
    draft_dtype: str = ""

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
        from core.decoding.serial import trace_to_dict

        return trace_to_dict(self)

    @staticmethod
    def from_dict(data: Any) -> Trace:
        """The trace that `to_dict` wrote; raises TraceError for anything else."""
        from core.decoding.serial import trace_from_dict

        return trace_from_dict(data)

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
