"""Conditions that end a run of one sequence, the same for all methods."""

from __future__ import annotations

from core.decoding.config import Ended, MethodConfig
from core.decoding.loop.text import TextStream
from core.decoding.protocol import LanguageModel


def eos_rows(model: LanguageModel) -> list[int]:
    """The end-of-sequence ids that a row of logits has."""
    return sorted(token for token in model.eos_ids if token < model.vocab_size)


class Ending:
    """Knows when a run ends, and keeps its text."""

    def __init__(self, model: LanguageModel, config: MethodConfig, limit: int) -> None:
        self._eos_ids = model.eos_ids
        self._last_index = limit - 1
        self._stream = TextStream(model, config.stop_strings)

    def after(self, index: int, token_id: int) -> tuple[str, Ended | None]:
        """The text that a token adds, and why the run ends with it, None where it goes on."""
        text = self._stream.push(token_id)
        reason: Ended | None = None
        if token_id in self._eos_ids:
            reason = "eos"
        elif self._stream.stopped:
            reason = "stop"
        elif index == self._last_index:
            reason = "length"
        return (text + self._stream.flush() if reason else text), reason
