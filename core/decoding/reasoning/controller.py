"""Budget controller of a reasoning run: whether each token is forced, and whether it is thinking or
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...language import Message
from ..config import Ended
from ..errors import ConfigError
from ..loop.run import token_limit
from ..loop.text import TextStream, encode_continuation, join_prompt, visible_bytes
from ..protocol import LanguageModel
from ..record.steps import ForcedAs, Phase
from ..validation import brief
from .calculator import CALL_IN_VIEW, END_RESULT, call_at_end, result_of
from .config import Reasoning


class TokenDecision(NamedTuple):
    """The emitted token, the reason if it is forced, and the pick that it replaced."""

    token_id: int
    phase: Phase
    forced_as: ForcedAs | None = None
    instead_of: int | None = None


class BudgetController:
    """Token-by-token budget of one run; it knows no logits.

    `asks` says whether the next token depends on the model's pick; `decide` returns the emitted
    token; `after` counts it, and returns the text that it adds and the reason if the run ends.
    """

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], config: Reasoning) -> None:
        self._model, self._config = model, config
        self._limit = token_limit(model, prompt_ids, config)
        self._stream = TextStream(model, config.stop_strings)
        self._end_ids = self._encode("think_end") if config.think_end else []
        self._end_mark = config.think_end.encode()
        self._wait_ids = self._encode("wait_text") if config.ignore_end else []
        self._in_view = max(len(self._end_mark), 4 * CALL_IN_VIEW if config.calculator else 1)
        self._queue: list[int] = []
        self._queued_as: ForcedAs = "think_start"
        self._seen = b""
        self._tokens = self._thinking = self._answer = self._ignored = 0
        self.phase: Phase = "thinking"
        # Number of tokens before the answer, once it has begun.
        self.answer_from: int | None = None
        self._inside = False  # between the two marks
        self._begin(join_prompt(model, prompt_ids).rstrip())

    def _begin(self, prompt: str) -> None:
        """Set the state after the prompt, which may open the thinking, or open and close it."""
        start, end = self._config.think_start, self._config.think_end
        if not end or prompt.endswith(end.strip() or end):
            self.phase, self.answer_from = "answer", 0
        elif not start or prompt.endswith(start.strip() or start):
            self._inside = True
        else:
            self._force(self._encode("think_start"), "think_start")

    def _encode(self, name: str) -> list[int]:
        text: str = getattr(self._config, name)
        ids = encode_continuation(self._model, text)
        if not ids:
            raise ConfigError(
                Message(
                    "has no tokens in this model's vocabulary, got {given}; give another text.",
                    given=brief(text),
                ),
                name,
                "Reasoning",
            )
        if max(ids) >= self._model.vocab_size:
            raise ConfigError(
                Message(
                    "holds a token that this model has no embedding for, got {given}; "
                    "give another text.",
                    given=brief(text),
                ),
                name,
                "Reasoning",
            )
        return ids

    def _force(self, ids: Sequence[int], why: ForcedAs) -> None:
        self._queue, self._queued_as = list(ids), why

    @property
    def _at_bound(self) -> bool:
        return self._inside and self._thinking >= self._config.max_thinking_tokens

    @property
    def asks(self) -> bool:
        """True if the next token depends on the model's pick."""
        return self._at_bound or not self._queue

    def decide(self, picked: int | None = None) -> TokenDecision:
        """Return the next token.

        Args:
            picked: the model's pick, if `asks` is True.
        """
        if picked is None:
            return TokenDecision(self._queue.pop(0), self.phase, self._queued_as)
        if not self._inside:
            return TokenDecision(picked, self.phase)
        if self._at_bound:
            return self._close(picked)
        stops = self._closes(picked) or picked in self._model.eos_ids
        # Another attempt to stop is ignored only if the whole wait text fits.
        fits = self._thinking + len(self._wait_ids) <= self._config.max_thinking_tokens
        if stops and fits and self._ignored < self._config.ignore_end:
            self._ignored += 1
            self._force(self._wait_ids, "wait")
            return TokenDecision(self._queue.pop(0), self.phase, "wait", picked)
        return TokenDecision(picked, self.phase)

    def _close(self, picked: int) -> TokenDecision:
        """Return, at the bound, the model's own closing mark, or the first token of the forced
        mark.
        """
        self._force([], "think_end")
        if self._closes(picked):
            return TokenDecision(picked, self.phase)
        self._inside = False
        self._force(self._end_ids, "think_end")
        return TokenDecision(self._queue.pop(0), self.phase, "think_end", picked)

    def _closes(self, token_id: int) -> bool:
        return self._end_mark in self._seen + visible_bytes(self._model, token_id)

    def after(self, decision: TokenDecision) -> tuple[str, Ended | None]:
        """Return the text that a token adds, and the reason if the run ends with it; None if it
        goes on.
        """
        token_id, by_model = decision.token_id, decision.forced_as is None
        text = self._stream.push(token_id)
        self._tokens += 1
        if decision.phase == "answer":
            self._answer += 1
        closed = self._inside and by_model and self._closes(token_id)
        if self._inside and not closed:
            self._thinking += 1
        self._seen = (self._seen + visible_bytes(self._model, token_id))[-self._in_view :]
        if closed or (not self._inside and not self._queue and self.phase == "thinking"):
            # A mark is complete: the thinking or the answer begins.
            self._inside = not (closed or self._queued_as == "think_end")
            self._seen = b""
            if not self._inside:
                self.phase, self.answer_from = "answer", self._tokens
                self._stream.watch_from_here()
        elif by_model and self._config.calculator:
            expression = call_at_end(self._seen.decode("utf-8", "replace"))
            if expression is not None:
                result = encode_continuation(self._model, result_of(expression) + END_RESULT)
                self._force(result, "result")
        reason = self._reason(token_id if by_model else None)
        return (text + self._stream.flush() if reason else text), reason

    def _reason(self, picked: int | None) -> Ended | None:
        if picked is not None and picked in self._model.eos_ids:
            return "eos"
        if self._answer and self._stream.stopped:
            return "stop"
        full = self._answer >= self._config.max_answer_tokens
        return "length" if full or self._tokens >= self._limit else None
