"""Separation of thinking and answer in a run of any method, by the marks of its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..loop.text import Cutter, TextStream, join_prompt
from ..protocol import LanguageModel, Vocabulary
from ..record.steps import Phase

# Number of tokens at a prompt's end that are searched for a mark; no mark has more.
END_OF_PROMPT = 32


def marks_of(model: object) -> tuple[str, str]:
    """Return the marks around a model's thinking; both empty for a model without marks."""
    marks = getattr(model, "think_marks", None)
    if marks is None or marks.source == "prompt":
        return "", ""
    return marks.start, marks.end


def special_name(model: Vocabulary, token_id: int) -> str:
    """Return the written form of a special token; empty for tokens that add text."""
    return "" if model.token_bytes(token_id) else model.token_text(token_id)


class ThinkingSplit:
    """Splitter of a running text: the text between opening and closing mark is thinking.

    Args:
        marks: opening and closing mark, as special tokens or ordinary text.
        prompt: end of the prompt, which may already open or close the thinking.
    """

    def __init__(self, marks: tuple[str, str], prompt: str) -> None:
        start, end = (mark.strip() or mark for mark in marks)
        opened = bool(start) and prompt.rstrip().endswith(start)
        closed = not end or prompt.rstrip().endswith(end)
        self._marks = [] if closed else [end] if opened else [start, end]
        self.phase: Phase = "thinking" if opened else "answer"
        self._cutter = Cutter(self._marks[:1])
        # Marks don't count.
        self.thinking_tokens = 0

    def push(self, text: str, special: str = "") -> list[tuple[Phase, str]]:
        """Return the text that a token adds to each phase; the last entry has the token's own
        phase.

        Args:
            special: name of a special token, which adds no text.
        """
        left = len(self._marks)
        parts = self._push(text, special)
        self.thinking_tokens += parts[-1][0] == "thinking" and len(self._marks) == left
        return parts

    def _push(self, text: str, special: str) -> list[tuple[Phase, str]]:
        phase = self.phase
        if self._marks and special == self._marks[0]:
            return [(phase, self._cutter.flush()), self._turn()]
        before = self._cutter.push(text) if self._marks else text
        if not self._cutter.cut:
            return [(phase, before)]
        after, mark = self._cutter.rest, self._turn()
        return [(phase, before), mark, *(self._push(after, "") if after else [])]

    def _turn(self) -> tuple[Phase, str]:
        """Pass a mark; the mark belongs to the thinking."""
        self._marks.pop(0)
        self.phase = "thinking" if self._marks else "answer"
        self._cutter = Cutter(self._marks[:1])
        return "thinking", ""

    def flush(self) -> tuple[Phase, str]:
        """Return, at the run's end, the text that was held back as the possible beginning of a
        mark.
        """
        return self.phase, self._cutter.flush()


class SplitReply(NamedTuple):
    """Thinking and answer of a run, without the marks."""

    thinking: str
    answer: str


def split_reply(
    model: LanguageModel, prompt_ids: Sequence[int], token_ids: Sequence[int]
) -> SplitReply:
    """Split the tokens of a finished run."""
    texts: dict[Phase, str] = {"thinking": "", "answer": ""}
    split = ThinkingSplit(marks_of(model), join_prompt(model, prompt_ids[-END_OF_PROMPT:]))
    stream = TextStream(model)
    for token_id in token_ids:
        for phase, text in split.push(stream.push(token_id), special_name(model, token_id)):
            texts[phase] += text
    for phase, text in (split.push(stream.flush())[-1], split.flush()):
        texts[phase] += text
    return SplitReply(**texts)
