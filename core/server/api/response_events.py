"""A response as a stream: the events in their order, each with its number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.server.api.answer import DONE, named
from core.server.api.errors import ApiError
from core.server.api.parts import AllEnded, AnswerPart, ChoiceEnded, Delta, Failed, Started
from core.server.api.plan import Plan
from core.server.api.response_body import ResponseBody
from core.server.api.responses import ResponseOptions


class ResponseAnswer(ResponseBody):
    """A response, whole or as events."""

    def __init__(self, plan: Plan, options: ResponseOptions) -> None:
        super().__init__(plan, options)
        self._number = 0
        # The item that is open, and how many were closed.
        self._open, self._closed = "", 0

    def body(self) -> dict[str, Any]:
        """The whole answer."""
        return self.snapshot(self.status, self.output())

    def events(self, part: AnswerPart) -> Iterator[str]:
        """What a stream says of a part."""
        self.take(part)
        if isinstance(part, Started):
            for kind in ("response.created", "response.in_progress"):
                yield self._event(kind, response=self.snapshot("in_progress"))
        elif isinstance(part, Delta):
            yield from self._delta(part)
        elif isinstance(part, ChoiceEnded):
            yield from self._end_items()
        elif isinstance(part, AllEnded):
            kind = f"response.{self.status}"
            yield self._event(kind, response=self.body())
            yield DONE
        else:
            assert isinstance(part, Failed)

    def error_events(self, error: ApiError) -> Iterator[str]:
        """An error that ends the stream."""
        yield self._event("response.failed", response=self.snapshot("failed", (), error))
        yield DONE

    def _event(self, kind: str, **fields: Any) -> str:
        self._number += 1
        return named({"type": kind, "sequence_number": self._number - 1, **fields})

    def _delta(self, part: Delta) -> Iterator[str]:
        kind = "reasoning" if part.phase == "thinking" else "message"
        if self._open != kind:
            yield from self._close("completed")
            yield from self._begin(kind)
        if kind == "reasoning" and part.text:
            yield self._event("response.reasoning_text.delta", **self._place(), delta=part.text)
        elif kind == "message" and (part.text or part.logprobs):
            entries = self.entries(part.logprobs)
            yield self._event(
                "response.output_text.delta", **self._place(), delta=part.text, logprobs=entries
            )

    def _end_items(self) -> Iterator[str]:
        last = self.output()[-1]["type"]
        if self._open != last:
            yield from self._close("completed")
            yield from self._begin(last)
        yield from self._close(self.status)

    def _begin(self, kind: str) -> Iterator[str]:
        self._open = kind
        item = self.reasoning_item if kind == "reasoning" else self.message_item
        yield self._event(
            "response.output_item.added", output_index=self._closed, item=item("in_progress")
        )
        empty = {"type": "reasoning_text", "text": ""}
        part = empty if kind == "reasoning" else self.text_part("")
        yield self._event("response.content_part.added", **self._place(), part=part)

    def _close(self, status: str) -> Iterator[str]:
        """Close the item that is open; none at the beginning."""
        if not self._open:
            return
        choice, place = self.choices[0], self._place()
        if self._open == "reasoning":
            text = choice.thinking
            item = self.reasoning_item(status, text)
            yield self._event("response.reasoning_text.done", **place, text=text)
        else:
            item = self.message_item(status, choice.answer)
            entries = item["content"][0]["logprobs"]
            yield self._event(
                "response.output_text.done", **place, text=choice.answer, logprobs=entries
            )
        yield self._event("response.content_part.done", **place, part=item["content"][0])
        yield self._event("response.output_item.done", output_index=self._closed, item=item)
        self._open, self._closed = "", self._closed + 1

    def _place(self) -> dict[str, Any]:
        own = self.reasoning_id if self._open == "reasoning" else self.message_id
        return {"item_id": own, "output_index": self._closed, "content_index": 0}
