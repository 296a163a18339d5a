"""Writer of completions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from openai.types import Completion

from .logprobs import LegacyLogprobs, TokenLogprobs
from .parts import ApiFinishReason, Delta, PartPhase
from .record import Answer, Choice
from .writer import ChunkWriter

_PHASES: tuple[PartPhase, ...] = ("prompt", "thinking", "answer")


class CompletionWriter(ChunkWriter):
    """Writes an answer as a completion."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self._lists = defaultdict[int, LegacyLogprobs](
            lambda: LegacyLogprobs(answer.started.vocabulary, ids_as_text=self.plan.ids_as_text)
        )
        # Choices with a started stream.
        self._begun: set[int] = set()

    def body(self) -> dict[str, Any]:
        choices = [self._choice(at, choice) for at, choice in enumerate(self.answer.choices)]
        return {
            **self.envelope(choices),
            "usage": self.answer.usage(),
            **self.answer.extras(),
        }

    def _choice(self, at: int, choice: Choice) -> dict[str, Any]:
        logprobs = None
        if self.plan.logprobs:
            scored = [token for phase in _PHASES for token in choice.logprobs.get(phase, [])]
            logprobs = self._lists[at].lists([*choice.prompt_ids[:1], *scored])
        return {
            "finish_reason": choice.finish_reason or "length",
            "index": at,
            "logprobs": logprobs,
            "text": choice.text(*_PHASES),
            **({"token_ids": choice.token_ids} if self.plan.token_ids else {}),
            **self.answer.prompt_extras(at),
        }

    def delta(self, part: Delta) -> dict[str, Any]:
        # A prompt's first token has no probability.
        tokens: list[TokenLogprobs | int] = list(part.logprobs)
        ids = part.token_ids
        if part.phase == "prompt":
            tokens, ids = [*ids[:1], *tokens], ()
        logprobs = self._lists[part.choice].lists(tokens) if self.plan.logprobs else None
        return self._chunk(part.choice, part.text, None, logprobs, ids)

    def last_chunk(self, at: int, reason: ApiFinishReason) -> dict[str, Any]:
        return self._chunk(at, "", reason, None)

    def _chunk(
        self,
        at: int,
        text: str,
        reason: ApiFinishReason | None,
        logprobs: dict[str, Any] | None,
        ids: Sequence[int] = (),
    ) -> dict[str, Any]:
        choice = {"index": at, "text": text, "finish_reason": reason, "logprobs": logprobs}
        if self.plan.token_ids:
            choice["token_ids"] = list(ids)
            if at not in self._begun:
                choice |= self.answer.prompt_extras(at)
            self._begun.add(at)
        return self.chunk(choice)

    def envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        envelope = Completion(
            id=self.answer.id,
            object="text_completion",
            created=self.answer.created,
            model=self.plan.model,
            choices=[],
            system_fingerprint=self.answer.started.fingerprint,
        )
        return {**envelope.model_dump(mode="json", exclude_unset=True), "choices": choices}
