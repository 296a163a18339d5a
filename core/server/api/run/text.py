"""Split the text of one choice into thinking and answer, without marks and stop strings."""

from __future__ import annotations

from ....decoding.config import MethodConfig
from ....decoding.loop.text import Cutter
from ....decoding.reasoning.config import Reasoning
from ....decoding.reasoning.split import ThinkingSplit
from ....decoding.reasoning.transcript import pieces_of, read_run
from ....decoding.record.steps import Phase, TokenStep
from ....decoding.record.trace import Trace
from ..answer.parts import PartPhase
from .call_reader import CallReader, CallText


class ChoiceText:
    """Splits the text of one choice into thinking and answer, without marks and stop strings.

    Args:
        marks: thinking marks, for methods that don't know the thinking themselves.
        prompt: end of the prompt, which may have opened the thinking.
        keep_stop: True if the text includes the stop string that ended the run.
        reader: reader of the calls in the answer; None for an answer without calls.
    """

    def __init__(
        self,
        config: MethodConfig,
        marks: tuple[str, str] = ("", ""),
        prompt: str = "",
        keep_stop: bool = False,
        reader: CallReader | None = None,
    ) -> None:
        self._by_method = isinstance(config, Reasoning)
        self._split = ThinkingSplit(("", "") if self._by_method else marks, prompt)
        self._answer = Cutter(config.stop_strings, keep_stop)
        ends = (config.think_end,) if isinstance(config, Reasoning) else config.stop_strings
        self._thinking = Cutter(ends, keep_stop and not self._by_method)
        self._reader = reader

    @property
    def called(self) -> bool:
        """True if the answer holds calls and none that was cut off."""
        return self._reader is not None and self._reader.count > 0 and not self._reader.open

    def take_calls(self) -> list[CallText]:
        """Return the parts of calls since the last time."""
        if self._reader is None:
            return []
        calls, self._reader.calls = self._reader.calls, []
        return calls

    def push(self, text: str, special: str = "") -> list[tuple[PartPhase, str]]:
        """Return pairs of a phase and the text that a token adds to it; its own phase is the last.

        Args:
            special: name of a special token, which adds no text.
        """
        *before, (phase, last) = self._split.push(text, special)
        parts = [added for early, part in before for added in self._push(early, part)]
        return [*parts, *self._push(phase, last, special)]

    def push_step(self, step: TokenStep, special: str) -> list[tuple[PartPhase, str]]:
        """Return the same as `push` for a step, whose phase may be known."""
        if not self._by_method:
            return self.push(step.text, special)
        mark = step.forced_as in ("think_start", "think_end")
        return self._push(step.phase, "" if mark else step.text, special)

    def _push(self, phase: Phase, text: str, special: str = "") -> list[tuple[PartPhase, str]]:
        if phase == "thinking":
            return [("thinking", self._thinking.push(text))]
        answer = self._answer.push(text)
        if self._reader:
            answer = self._reader.push(answer, special)
        return [*self._flushed("thinking"), ("answer", answer)]

    def flush(self) -> list[tuple[PartPhase, str]]:
        """Return the held-back text at the end of the run."""
        phase, held = self._split.flush()
        added = self._push(phase, held) if held else []
        return [*added, *self._flushed("thinking"), *self._flushed("answer")]

    def _flushed(self, phase: PartPhase) -> list[tuple[PartPhase, str]]:
        held = (self._answer if phase == "answer" else self._thinking).flush()
        if phase == "answer" and self._reader:
            held = self._reader.push(held) + self._reader.flush()
        return [(phase, held)] if held else []

    def thinking_tokens(self, trace: Trace) -> int:
        """Return the number of tokens between the thinking marks of a run."""
        if isinstance(trace.config, Reasoning):
            return read_run(pieces_of(trace.token_steps), trace.config).thinking_tokens
        return self._split.thinking_tokens
