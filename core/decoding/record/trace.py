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

from ...language import Message
from ..config import ConfigT_co, MethodConfig
from ..errors import TraceError
from ..files import own_json, save_file
from ..validation import brief
from .bounds import (
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
from .check_words import CHECK_WORDS
from .notes import Note
from .steps import (
    NO_RECORD,
    FinishReason,
    MethodRecord,
    PromptStep,
    Step,
    TokenStep,
)

if TYPE_CHECKING:  # Only annotations need the methods' types; the record itself needs no method.
    from anywidget import AnyWidget
    from pandas import DataFrame

    from ..beam.types import BeamStep, Hypothesis
    from ..speculative.types import DraftRound

# Imported late: the serializer imports the methods, which import this file.
_CORE = __name__.partition(".")[0]
_FILE = f"{_CORE}.decoding.serial"
_FRAMES = f"{_CORE}.traces.frames"
_HTML = f"{_CORE}.export.web.trace_html"
_LINES = f"{_CORE}.traces.lines"
_WIDGET = f"{_CORE}.export.web.widget"

_Config = TypeVar("_Config", bound=MethodConfig)
_Value = TypeVar("_Value")


class Check(NamedTuple):
    """Outcome of one check: `value` is the largest measured deviation, `tolerance` its bound.

    `name` is a stable key; `words` is its display text. `by_model` marks a check that used the
    model.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> outcome = check(trace)[0]
        >>> outcome.name, outcome.passed
        ('steps_whole', True)
    """

    name: ShortText
    passed: bool
    value: FiniteNumber
    tolerance: FiniteNumber
    detail: LongText = ""
    by_model: Annotated[bool, LeftOut(lambda check: not check.by_model)] = False

    @property
    def words(self) -> str:
        """Display text of the name; old files hold the text itself as the name."""
        return CHECK_WORDS.get(self.name, self.name)


class Timings(NamedTuple):
    """Seconds until the first token, for the tokens after it, and in total."""

    prefill: Seconds
    decode: Seconds
    total: Seconds


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Trace(Generic[ConfigT_co]):
    """Record of a run; readable without the model.

    `Trace[BeamSearch]` is a trace whose config is a `BeamSearch`; a plain `Trace` may have any
    config.

    Args:
        model_id: as given to `load_model`.
        prompt: the given text; for token ids, their text.
        dtype: type of the weights, for example `float32`; empty if unknown.
        rendered_prompt: the text that the model received, with the chat template applied; without a
            template equal to `prompt`.
        steps: a `PromptStep` first (not for a run by the engine), then the method's steps.
        token_ids: generated ids, end-of-sequence included; for beam search those of the best
            hypothesis (of the best row, if a cancelled search has no hypothesis).
        text: generated text without special tokens.
        notes: sentences that explain choices made for the user (temperature 0 means greedy).
        created: ISO 8601, UTC.
        known: number of tokens that a server names at a step, if it names only the likeliest ones;
            then the tail's tokens are unknown, and entropies are lower bounds.
        method_record: the method's own data, such as the hypotheses of a beam search.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> [step.text for step in trace.token_steps]
        [',', ' there', ' was', ' a', ' little', ' girl', ' whose', ' name']
        >>> round(float(trace.to_pandas("steps")["entropy"].mean()), 2)
        1.17
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
        """The prompt step; None for a run by the engine, and for a run cancelled before it."""
        return next((step for step in self.steps if isinstance(step, PromptStep)), None)

    @property
    def tokens_per_second(self) -> float:
        """Tokens after the first token (or the first round), divided by their seconds; 0 without
        any.
        """
        later = self.later_tokens
        return later / self.timings.decode if later > 0 < self.timings.decode else 0.0

    @property
    def later_tokens(self) -> int:
        """Number of tokens after the first token or the first round; `timings.decode` is their
        time.
        """
        first = next((len(step.token_ids) for step in self.steps if step.token_ids), 1)
        return max(0, len(self.token_ids) - first)

    def with_checks(self, checks: tuple[Check, ...]) -> Trace[ConfigT_co]:
        """Return the same trace with these checks."""
        return replace(self, checks=checks)

    def require(self, kind: type[_Config]) -> Trace[_Config]:
        """Return the same trace, typed as a trace of this method.

        Raises:
            TraceError: the trace is another method's.
        """
        if not isinstance(self.config, kind):
            raise TraceError(
                Message(
                    "This is a trace of {method}, not of {words}; open another one.",
                    method=self.config.method,
                    words=Message(kind.words),
                )
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
        """Return plain JSON values as in the trace file."""
        plain: dict[str, Any] = resolve_name(f"{_FILE}:trace_to_dict")(self)
        return plain

    @staticmethod
    def from_dict(data: Any) -> Trace:
        """Return the trace from the values of `to_dict`; raise TraceError for anything else."""
        trace: Trace = resolve_name(f"{_FILE}:trace_from_dict")(data)
        return trace

    def to_pandas(self, rows: str = "steps") -> DataFrame:
        """Return one of the trace's tables as a pandas DataFrame.

        Args:
            rows: `steps`, `candidates`, `stages`, `prompt`, `beams` or `rounds`.

        Raises:
            TraceError: there is no such table.
        """
        frame: DataFrame = resolve_name(f"{_FRAMES}:to_frame")(self, rows)
        return frame

    def _repr_html_(self) -> str:
        """Return the coloured text with its settings and checks, as a notebook shows it."""
        shown: str = resolve_name(f"{_HTML}:trace_html")(self)
        return shown

    def widget(self) -> AnyWidget:
        """Return a live widget for a notebook: tokens, candidates of a step, and knobs.

        Raises:
            FigureError: anywidget isn't installed, or the run has no steps of one token.
        """
        shown: AnyWidget = resolve_name(f"{_WIDGET}:explore")(self)
        return shown

    def to_json(self) -> str:
        """Return the text of the trace file."""
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
    def from_jsonl(source: bytes | str | Path) -> tuple[Trace, ...]:
        """Return the runs in an untrusted file of JSON lines: traces, or answers of other tools.

        Args:
            source: the file's bytes, or its path.

        Raises:
            TraceError: a line is neither, or there are too many; the message names the line.
        """
        runs: tuple[Trace, ...] = resolve_name(f"{_LINES}:read_lines")(source)
        return runs

    @staticmethod
    def load(path: str | Path) -> Trace:
        """Read a trusted trace file; an untrusted one is read by `core.traces.read_trace`.

        Raises:
            TraceError: the file can't be read, or is no trace.
        """
        return Trace.from_dict(
            own_json(path, Message("The trace file {path}", path=path), TraceError)
        )
