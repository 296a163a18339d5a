"""Record of a run: frozen values that need no torch, so that a stored trace opens at once.

Probabilities are over the full vocabulary, entropies and surprisals in nats, times in seconds,
ranks start at 1 (rank 1 is the model's most probable token).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from core.decoding.config import ConfigT_co, MethodConfig
from core.decoding.errors import TraceError
from core.decoding.files import own_json, save_file
from core.decoding.record.bounds import (
    MAX_STEPS,
    Bounds,
    FiniteNumber,
    LeftOut,
    LongText,
    Rank,
    Seconds,
    ShortText,
    Spread,
    TokenIds,
)
from core.decoding.record.check_words import CHECK_WORDS
from core.decoding.record.notes import Note
from core.decoding.record.steps import (
    NO_RECORD,
    FinishReason,
    MethodRecord,
    PromptStep,
    Step,
    TokenStep,
)
from core.decoding.validation import brief

if TYPE_CHECKING:  # The record of a run needs no method; its properties have the methods' types.
    from core.decoding.beam.types import BeamStep, Hypothesis
    from core.decoding.speculative.types import DraftRound

# The serializer imports the methods, and they import this file.
_FILE = "core.decoding.serial"
"""The beginning of the note of a run that did so."""

_Config = TypeVar("_Config", bound=MethodConfig)
_Value = TypeVar("_Value")


class Check(NamedTuple):
    """The outcome of one proof: `value` is the worst deviation measured, `tolerance` its bound.

    `name` is a key that stays; `words` says it. `by_model` tells a check that asked the model from
    one that the trace alone can answer.
    """

    name: ShortText
    passed: bool
    value: FiniteNumber
    tolerance: FiniteNumber
    detail: LongText = ""
    by_model: Annotated[bool, LeftOut(lambda check: not check.by_model)] = False

    @property
    def words(self) -> str:
        """The name in words; files of before hold the words as the name."""
        return CHECK_WORDS.get(self.name, self.name)


class Timings(NamedTuple):
    """Seconds of work until the first token is out, for the tokens after it, and by the clock."""

    prefill: Seconds
    decode: Seconds
    total: Seconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(Generic[ConfigT_co]):
    """Everything that a run recorded; readable without the model.

    `Trace[BeamSearch]` is a trace whose config is a `BeamSearch`, a plain `Trace` any other.

    Args:
        model_id: as given to `load_model`.
        prompt: the text as given; of token ids, their text.
        dtype: of the weights, `float32` for example; empty when unknown.
        rendered_prompt: what the model saw (a chat template applied), equal to `prompt` without.
        steps: the `PromptStep` first (by the engine there is none), then one for each emission.
        token_ids: the generated ids, end-of-sequence included; of beam search the best hypothesis'
            (of a cancelled one without any, the best row's).
        text: the generated text, special tokens left out.
        notes: they explain choices made for the user (temperature 0 means greedy).
        created: ISO 8601, UTC.
        known: of a server that names only the likeliest tokens of a step, how many; then a tail is
            of unknown members, and entropies are the least that what is known allows.
        method_record: the method's own data, such as the hypotheses of a beam search.
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
    notes: Annotated[tuple[Note, ...], Bounds(max_length=50)] = ()
    checks: Annotated[tuple[Check, ...], Bounds(max_length=100)] = ()
    known: Annotated[Rank | None, LeftOut(lambda trace: trace.known is None)] = None
    method_record: Annotated[MethodRecord, Spread()] = NO_RECORD

    @property
    def token_steps(self) -> tuple[TokenStep, ...]:
        """Steps that emitted one token each."""
        return tuple(step for step in self.steps if isinstance(step, TokenStep))

    @property
    def beam_steps(self) -> tuple[BeamStep, ...]:
        """Steps of a beam search."""
        return cast("tuple[BeamStep, ...]", self._steps_of_kind("beam"))

    @property
    def rounds(self) -> tuple[DraftRound, ...]:
        """Rounds of speculative decoding."""
        return cast("tuple[DraftRound, ...]", self._steps_of_kind("round"))

    def _steps_of_kind(self, kind: str) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == kind)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Finished paths of a beam search, best first."""
        return self._recorded("hypotheses", ())

    @property
    def draft_id(self) -> str:
        """Name of the draft model; empty without one."""
        return self._recorded("draft_id", "")

    @property
    def draft_revision(self) -> str:
        """Revision of the draft model; empty without one."""
        return self._recorded("draft_revision", "")

    @property
    def draft_dtype(self) -> str:
        """Type of the draft model's weights; empty without one."""
        return self._recorded("draft_dtype", "")

    def _recorded(self, name: str, default: _Value) -> _Value:
        value: _Value = getattr(self.method_record, name, default)
        return value

    @property
    def prompt_step(self) -> PromptStep | None:
        """Prompt processing; None by the engine, and when the run was cancelled before it."""
        return next((step for step in self.steps if isinstance(step, PromptStep)), None)

    @property
    def tokens_per_second(self) -> float:
        """Tokens after the first (or the first round's), over the seconds they took; 0 for none."""
        later = self.later_tokens
        return later / self.timings.decode if later > 0 < self.timings.decode else 0.0

    @property
    def later_tokens(self) -> int:
        """Tokens after the first, or after the first round's; `timings.decode` is their time."""
        first = next((len(step.token_ids) for step in self.steps if step.token_ids), 1)
        return max(0, len(self.token_ids) - first)

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

    def __repr__(self) -> str:
        seed = getattr(self.config, "seed", None)
        return (
            f"Trace({self.config.method}, model {brief(self.model_id)}, prompt "
            f"{brief(self.prompt)}, {len(self.token_ids)} tokens, {self.finish_reason}"
            f"{'' if seed is None else f', seed {seed}'})"
        )

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
        """Write the trace file (UTF-8 JSON).

        Raises:
            DecodingError: it can't be written.
        """
        save_file(path, self.to_json())

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read one's own trace file; a stranger's goes through `core.traces.read_trace`.

        Raises:
            TraceError: the file can't be read or is no trace.
        """
        return Trace.from_dict(own_json(path, f"The trace file {path}", TraceError))
