"""Writers of answers: one interface, and the chunks that chat and completions share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.server.api.answer.logprobs import TokenLogprobs, entry_of
from core.server.api.answer.parts import (
    AllEnded,
    AnswerPart,
    ApiFinishReason,
    ChoiceEnded,
    Delta,
    Failed,
    Started,
)
from core.server.api.answer.record import Answer

DONE = "data: [DONE]\n\n"


class AnswerWriter(ABC):
    """Writes an answer in the shape of one API, whole or as events of a stream."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.plan = answer.plan

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the whole answer, once every part was taken in."""

    @abstractmethod
    def events(self, part: AnswerPart) -> Iterator[str]:
        """Yield the events for a part that the answer has taken in."""

    def entries(self, tokens: Sequence[TokenLogprobs]) -> list[dict[str, Any]]:
        """Return log-probabilities as chat and responses have them."""
        return [entry_of(self.answer.started.vocabulary, token) for token in tokens]


class ChunkWriter(AnswerWriter):
    """Writes streams of chunks, as chat and completions have them."""

    def events(self, part: AnswerPart) -> Iterator[str]:
        if isinstance(part, Started):
            yield from map(event, self.opening())
        elif isinstance(part, Delta):
            if part.text or part.logprobs or (self.plan.token_ids and part.token_ids):
                yield event(self.delta(part))
        elif isinstance(part, ChoiceEnded):
            yield event(self.last_chunk(part.choice, part.finish_reason))
        elif isinstance(part, AllEnded):
            if self.plan.usage != "never":
                yield event(
                    {
                        **self.envelope([]),
                        "usage": self.answer.usage(),
                        **self.answer.extras(),
                    }
                )
            yield DONE
        elif isinstance(part, Failed):
            yield event(part.error.body())

    def opening(self) -> Iterator[dict[str, Any]]:
        """Yield the chunks that begin a stream."""
        yield from ()

    @abstractmethod
    def delta(self, part: Delta) -> dict[str, Any]:
        """Return the chunk of some tokens."""

    @abstractmethod
    def last_chunk(self, at: int, reason: ApiFinishReason) -> dict[str, Any]:
        """Return the chunk that ends a choice."""

    @abstractmethod
    def envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a chunk with these choices."""

    def chunk(self, choice: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk of one choice, with the usage so far where every chunk says it."""
        usage = self.answer.usage() if self.plan.usage == "always" else None
        extras = {} if self.plan.usage == "never" else {"usage": usage}
        return {**self.envelope([choice]), **extras}


def event(value: Mapping[str, Any], name: str = "") -> str:
    """Return a server-sent event; NaN and infinities are refused."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"
