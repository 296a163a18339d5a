"""Writers of answers: the interface, and the chunks of chat and completions."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .logprobs import TokenLogprobs, entry_of
from .parts import (
    AllEnded,
    AnswerPart,
    ApiFinishReason,
    CallDelta,
    ChoiceEnded,
    Delta,
    Failed,
    Started,
)
from .record import Answer

DONE = "data: [DONE]\n\n"


class AnswerWriter(ABC):
    """Writes an answer in the format of one API, as one body or as a stream of events."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.plan = answer.plan

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the whole answer, after it has received every part."""

    @abstractmethod
    def events(self, part: AnswerPart) -> Iterator[str]:
        """Yield the events for a part that the answer has received."""

    def entries(self, tokens: Sequence[TokenLogprobs]) -> list[dict[str, Any]]:
        """Return log-probabilities in the form of chat and responses."""
        return [entry_of(self.answer.started.vocabulary, token) for token in tokens]


class ChunkWriter(AnswerWriter):
    """Writes the chunk streams of chat and completions."""

    def events(self, part: AnswerPart) -> Iterator[str]:
        if isinstance(part, Started):
            yield from map(event, self.opening())
        elif isinstance(part, Delta):
            if part.text or part.logprobs or (self.plan.token_ids and part.token_ids):
                yield event(self.delta(part))
        elif isinstance(part, CallDelta):
            yield event(self.call_delta(part))
        elif isinstance(part, ChoiceEnded):
            yield event({**self.last_chunk(part.choice, part.finish_reason), **self.answer.noted()})
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
        """Yield the first chunks of a stream."""
        yield from ()

    @abstractmethod
    def delta(self, part: Delta) -> dict[str, Any]:
        """Return the stream chunk for new tokens of a choice."""

    def call_delta(self, part: CallDelta) -> dict[str, Any]:
        """Return the stream chunk for a part of a call; only chats have tools."""
        raise NotImplementedError

    @abstractmethod
    def last_chunk(self, at: int, reason: ApiFinishReason) -> dict[str, Any]:
        """Return the chunk that ends a choice."""

    @abstractmethod
    def envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a chunk with these choices."""

    def chunk(self, choice: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk of one choice, with the usage so far if every chunk must have it."""
        usage = self.answer.usage() if self.plan.usage == "always" else None
        extras = {} if self.plan.usage == "never" else {"usage": usage}
        return {**self.envelope([choice]), **extras}


def event(value: Mapping[str, Any], name: str = "") -> str:
    """Return a server-sent event; refuse NaN and infinities."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"
