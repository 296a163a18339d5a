"""What a run hands to whoever writes its answer: parts in the order in which they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import pieces_of, read_run
from core.decoding.speculative.types import DraftRound
from core.decoding.trace import Step, TokenStep, Trace
from core.server.api.errors import ApiError
from core.server.api.logprobs import TokenLogprobs

if TYPE_CHECKING:
    from core.decoding.protocol import Vocabulary

PartPhase: TypeAlias = Literal["prompt", "thinking", "answer"]
ApiFinishReason: TypeAlias = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Started:
    """The request fits the model: its configs are made, and it waits for its turn.

    Args:
        configs: one for each choice.
        fingerprint: what the answers depend on besides the request.
    """

    vocabulary: Vocabulary
    configs: tuple[MethodConfig, ...]
    prompt_tokens: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Delta:
    """Tokens of a choice, with the text that they complete.

    Args:
        logprobs: empty unless asked for.
    """

    choice: int
    text: str
    phase: PartPhase
    token_ids: tuple[int, ...]
    logprobs: tuple[TokenLogprobs, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceEnded:
    """A choice is complete."""

    choice: int
    finish_reason: ApiFinishReason
    tokens: int
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Failed:
    """The request ends here."""

    error: ApiError


@dataclass(frozen=True, slots=True)
class AllEnded:
    """Every choice is complete."""


AnswerPart: TypeAlias = Started | Delta | ChoiceEnded | Failed | AllEnded


class Cutter:
    """A running text up to a stop string, which is left out."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held, self.cut = "", False

    def push(self, text: str) -> str:
        """What is certain not to belong to a stop string."""
        if self.cut:
            return ""
        seen = self._held + text
        found = [at for stop in self._stops if (at := seen.find(stop)) >= 0]
        if found:
            self.cut, self._held = True, ""
            return seen[: min(found)]
        keep = max((_overlap(seen, stop) for stop in self._stops), default=0)
        self._held = seen[len(seen) - keep :]
        return seen[: len(seen) - keep]

    def flush(self) -> str:
        """What was held back, where no stop string came of it."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """How many characters at the text's end a stop string begins with."""
    most = min(len(text), len(stop) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(stop[:size])), 0)


class ChoiceText:
    """The text of one choice: thinking apart, its marks and stop strings left out."""

    def __init__(self, config: MethodConfig) -> None:
        mark = config.think_end if isinstance(config, Reasoning) else ""
        self._thinking, self._answer = Cutter((mark,)), Cutter(config.stop_strings)

    def push(self, step: TokenStep) -> list[tuple[PartPhase, str]]:
        """What a step adds, and to which text; at least one entry, the last of its own phase."""
        if step.phase == "answer":
            return self.push_answer(step.text)
        if step.forced_as in ("think_start", "think_end"):
            return [("thinking", "")]
        return [("thinking", self._thinking.push(step.text))]

    def push_answer(self, text: str) -> list[tuple[PartPhase, str]]:
        """As `push`, of text that is the answer's."""
        return [*self._flushed("thinking"), ("answer", self._answer.push(text))]

    def flush(self) -> list[tuple[PartPhase, str]]:
        """What was held back, at the run's end."""
        return [*self._flushed("thinking"), *self._flushed("answer")]

    def _flushed(self, phase: PartPhase) -> list[tuple[PartPhase, str]]:
        cutter = self._answer if phase == "answer" else self._thinking
        held = cutter.flush()
        return [(phase, held)] if held else []


def finish_reason_of(reason: str) -> ApiFinishReason:
    """OpenAI's word for why a run has ended."""
    return "stop" if reason in ("eos", "stop") else "length"


def tokens_in(step: Step) -> int:
    """How many tokens a step emits; of a beam's the one of its longest path."""
    if isinstance(step, DraftRound):
        return len(step.token_ids)
    return int(isinstance(step, TokenStep | BeamStep))


def reasoning_tokens(trace: Trace) -> int:
    """The tokens between the marks of a run's thinking."""
    if not isinstance(trace.config, Reasoning):
        return 0
    return read_run(pieces_of(trace.token_steps), trace.config).thinking_tokens
