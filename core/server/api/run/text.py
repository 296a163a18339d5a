"""Text of one choice: thinking apart, marks and stop strings left out."""

from __future__ import annotations

from core.decoding.config import MethodConfig
from core.decoding.loop.text import Cutter
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.split import ThinkingSplit
from core.decoding.reasoning.transcript import pieces_of, read_run
from core.decoding.record.steps import Phase, TokenStep
from core.decoding.record.trace import Trace
from core.server.api.answer.parts import PartPhase


class ChoiceText:
    """Text of one choice: thinking apart, its marks and stop strings left out.

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
        split = self._split.push(text, special)
        return [added for phase, part in split for added in self._push(phase, part)]

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
        added = self._push(phase, held) if held else []
        return [*added, *self._flushed("thinking"), *self._flushed("answer")]

    def _flushed(self, phase: PartPhase) -> list[tuple[PartPhase, str]]:
        held = (self._answer if phase == "answer" else self._thinking).flush()
        return [(phase, held)] if held else []

    def thinking_tokens(self, trace: Trace) -> int:
        """Count the tokens between the marks of a run's thinking."""
        if isinstance(trace.config, Reasoning):
            return read_run(pieces_of(trace.token_steps), trace.config).thinking_tokens
        return self._split.thinking_tokens
