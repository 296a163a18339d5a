"""What a run hands to whoever writes its answer: parts in the order in which they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.loop.text import Cutter
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.split import ThinkingSplit
from core.decoding.reasoning.transcript import pieces_of, read_run
from core.decoding.record.trace import Phase, Step, TokenStep, Trace
from core.decoding.speculative.types import DraftRound
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
        prompts: the token ids of each.
        fingerprint: what the answers depend on besides the request.
    """

    vocabulary: Vocabulary
    configs: tuple[MethodConfig, ...]
    prompts: tuple[tuple[int, ...], ...]
    fingerprint: str

    @property
    def prompt_tokens(self) -> int:
        return sum(map(len, self.prompts))


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

    def then(self, more: Delta) -> Delta:
        """Both in one."""
        ids, logprobs = self.token_ids + more.token_ids, self.logprobs + more.logprobs
        return Delta(self.choice, self.text + more.text, self.phase, ids, logprobs)


@dataclass(frozen=True, slots=True)
class PromptScored:
    """Log-probabilities of a choice's prompt, of its second token first.

    Args:
        ranks: of each token among all of its place, 1 for the most probable one.
    """

    choice: int
    logprobs: tuple[TokenLogprobs, ...]
    ranks: tuple[int, ...]


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


AnswerPart: TypeAlias = Started | PromptScored | Delta | ChoiceEnded | Failed | AllEnded


class ChoiceText:
    """The text of one choice: thinking apart, its marks and stop strings left out.

    Args:
        marks: those that divide what a method wrote that knows no thinking of its own.
        prompt: its end, which may have opened the thinking.
        keep_stop: whether the stop string that ended the run is a part of the text.
    """

    def __init__(
        self,
        config: MethodConfig,
        marks: tuple[str, str] = ("", ""),
        prompt: str = "",
        keep_stop: bool = False,
    ) -> None:
        self._by_method = isinstance(config, Reasoning)
        self._split = ThinkingSplit(("", "") if self._by_method else marks, prompt)
        self._answer = Cutter(config.stop_strings, keep_stop)
        ends = (config.think_end,) if isinstance(config, Reasoning) else config.stop_strings
        self._thinking = Cutter(ends, keep_stop and not self._by_method)

    def push(self, text: str, special: str = "") -> list[tuple[PartPhase, str]]:
        """Return what a token adds to each text: one entry or more, the last of its own phase.

        Args:
            special: the name of a special token, which adds no text.
        """
        said: list[tuple[PartPhase, str]] = []
        for phase, own in self._split.push(text, special):
            said += self._push(phase, own)
        return said

    def push_step(self, step: TokenStep, special: str) -> list[tuple[PartPhase, str]]:
        """Like `push`, for a step that may know its phase."""
        if not self._by_method:
            return self.push(step.text, special)
        mark = step.forced_as in ("think_start", "think_end")
        return self._push(step.phase, "" if mark else step.text)

    def _push(self, phase: Phase, text: str) -> list[tuple[PartPhase, str]]:
        if phase == "thinking":
            return [("thinking", self._thinking.push(text))]
        return [*self._flushed("thinking"), ("answer", self._answer.push(text))]

    def flush(self) -> list[tuple[PartPhase, str]]:
        """Return the text that was held back, at the run's end."""
        phase, held = self._split.flush()
        said = self._push(phase, held) if held else []
        return [*said, *self._flushed("thinking"), *self._flushed("answer")]

    def _flushed(self, phase: PartPhase) -> list[tuple[PartPhase, str]]:
        cutter = self._answer if phase == "answer" else self._thinking
        held = cutter.flush()
        return [(phase, held)] if held else []

    def thinking_tokens(self, trace: Trace) -> int:
        """The tokens between the marks of a run's thinking."""
        if isinstance(trace.config, Reasoning):
            return read_run(pieces_of(trace.token_steps), trace.config).thinking_tokens
        return self._split.thinking_tokens


def finish_reason_of(reason: str) -> ApiFinishReason:
    """OpenAI's word for why a run has ended."""
    return "stop" if reason in ("eos", "stop") else "length"


def tokens_in(step: Step) -> int:
    """How many tokens a step emits; of a beam's the one of its longest path."""
    if isinstance(step, DraftRound):
        return len(step.token_ids)
    return int(isinstance(step, TokenStep | BeamStep))
