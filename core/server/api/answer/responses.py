"""Writer of responses: the output items, and the ordered events of a stream."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from openai.types.responses import Response, ResponseUsage
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
from openai.types.shared import Reasoning

from ..errors import ApiError
from ..request.tools import Tool
from .logprobs import TokenLogprobs
from .parts import (
    AllEnded,
    AnswerPart,
    CallDelta,
    ChoiceEnded,
    Delta,
    Failed,
    Started,
)
from .record import Answer
from .writer import DONE, AnswerWriter, event

# Kind of an output item; of a call of a function its number.
ItemKind: TypeAlias = Literal["reasoning", "message"] | int


class ResponseWriter(AnswerWriter):
    """Writes an answer as a response."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        assert answer.plan.response is not None
        self._options = answer.plan.response
        self._choice = answer.choices[0]
        self._ids: dict[ItemKind, str] = {}
        self._event_count = 0
        # Kind of the open item, and the number of closed items.
        self._open: ItemKind | None = None
        self._closed = 0
        # Number of log-probabilities in the deltas of the text.
        self._sent = 0

    def body(self) -> dict[str, Any]:
        return self._snapshot(self._status, self._output())

    @property
    def _status(self) -> str:
        return "incomplete" if self._choice.finish_reason == "length" else "completed"

    def _snapshot(
        self, status: str, output: Sequence[dict[str, Any]] = (), error: ApiError | None = None
    ) -> dict[str, Any]:
        """Return the response with this status and output."""
        shaping = self.answer.started.configs[0].shaping
        cut_off = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            **self._repeated().model_dump(mode="json", exclude_unset=True),
            "created_at": self.answer.created,
            "output": list(output),
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "error": {"code": "server_error", "message": str(error)} if error else None,
            "incomplete_details": cut_off,
            "usage": None if status == "in_progress" else self._usage(),
            "text": {"format": dict(self._options.text_format), "verbosity": "medium"},
            "tool_choice": self._options.tools.choice,
            "tools": [_tool(tool) for tool in self._options.tools.tools],
            "presence_penalty": shaping.presence_penalty,
            "frequency_penalty": shaping.frequency_penalty,
            "store": self._options.store,
            **self.answer.extras(),
        }

    def _repeated(self) -> Response:
        """Return the fields that a response repeats from its request."""
        options, settings, logprobs = self._options, self.plan.settings, self.plan.logprobs
        shaping = self.answer.started.configs[0].shaping
        vocab_size = self.answer.started.vocabulary.vocab_size
        return Response(
            id=self.answer.id,
            object="response",
            created_at=self.answer.created,
            model=self.plan.model,
            output=[],
            instructions=options.instructions,
            metadata=dict(options.metadata),
            previous_response_id=options.previous,
            max_output_tokens=settings.limit,
            parallel_tool_calls=options.tools.parallel,
            tool_choice="auto",
            tools=[],
            reasoning=Reasoning(effort=settings.effort, summary=None),  # type: ignore[arg-type]
            temperature=float(settings.values.get("temperature", shaping.temperature)),
            top_p=float(settings.values.get("top_p", shaping.top_p)),
            top_logprobs=logprobs.count(vocab_size) if logprobs else 0,
            truncation="disabled",
            background=False,
            service_tier="default",
            safety_identifier=options.safety_identifier,
            prompt_cache_key=options.prompt_cache_key,
            max_tool_calls=None,
        )

    def _usage(self) -> dict[str, Any]:
        """Return the token counts of prompt and output; the output includes thinking and marks."""
        prompt, output = self.answer.started.prompt_tokens, self.answer.tokens
        usage = ResponseUsage(
            input_tokens=prompt,
            input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
            output_tokens=output,
            output_tokens_details=OutputTokensDetails(
                reasoning_tokens=self.answer.reasoning_tokens
            ),
            total_tokens=prompt + output,
        )
        return usage.model_dump(mode="json", exclude_unset=True)

    def _output(self) -> list[dict[str, Any]]:
        """Return the items after the run has ended."""
        kinds = self._kinds()
        # Only the last item can be incomplete.
        statuses = [*("completed" for _ in kinds[1:]), self._status]
        return [self._item(kind, status) for kind, status in zip(kinds, statuses, strict=True)]

    def _kinds(self) -> list[ItemKind]:
        """Return the kinds of the items, of calls their numbers."""
        texts, calls = self._choice.texts, range(len(self._choice.calls))
        kinds: list[ItemKind] = ["reasoning"] if "thinking" in texts else []
        answered = texts.get("answer") if calls else "answer" in texts
        if answered or not (kinds or calls) or (self._status == "completed" and not calls):
            kinds.append("message")
        return [*kinds, *calls]

    def _item(self, kind: ItemKind, status: str, *, empty: bool = False) -> dict[str, Any]:
        """Return an item of the output; with `empty`, without its content."""
        if isinstance(kind, int):
            call = self._choice.calls[kind]
            if self._choice.finish_reason == "stop" and call is self._choice.calls[-1]:
                # A stop string cut it off.
                status = "incomplete"
            return {
                "id": self._id(kind),
                "call_id": call.id,
                "type": "function_call",
                "name": call.name,
                "arguments": "" if empty else call.arguments,
                "status": status,
            }
        text = self._choice.text("thinking" if kind == "reasoning" else "answer")
        if kind == "reasoning":
            return {
                "id": self._id(kind),
                "summary": [],
                "type": kind,
                "content": [] if empty else [{"text": text, "type": "reasoning_text"}],
                "status": status,
            }
        tokens = self._choice.text_logprobs
        return {
            "id": self._id(kind),
            "content": [] if empty else [self._text_part(text, tokens)],
            "role": "assistant",
            "status": status,
            "type": kind,
        }

    def _text_part(self, text: str, tokens: Sequence[TokenLogprobs]) -> dict[str, Any]:
        return {
            "annotations": [],
            "text": text,
            "type": "output_text",
            "logprobs": self.entries(tokens),
        }

    def events(self, part: AnswerPart) -> Iterator[str]:
        if isinstance(part, Started):
            for name in ("created", "in_progress"):
                yield self._event(name, response=self._snapshot("in_progress"))
        elif isinstance(part, Delta):
            yield from self._delta(part)
        elif isinstance(part, CallDelta):
            yield from self._turn_to(part.call)
            if part.arguments:
                place = {"item_id": self._id(part.call), "output_index": self._closed}
                name = "function_call_arguments.delta"
                yield self._event(name, **place, delta=part.arguments)
        elif isinstance(part, ChoiceEnded):
            yield from self._turn_to(self._kinds()[-1])
            if self._open == "message" and len(self._choice.text_logprobs) > self._sent:
                yield self._text_delta("")
            yield from self._close(self._status)
        elif isinstance(part, AllEnded):
            yield self._event(self._status, response=self.body())
            yield DONE
        elif isinstance(part, Failed):
            yield self._event("failed", response=self._snapshot("failed", (), part.error))
            yield DONE

    def _event(self, name: str, **fields: Any) -> str:
        """Return an event with the next sequence number."""
        kind = f"response.{name}"
        self._event_count += 1
        return event({"type": kind, "sequence_number": self._event_count - 1, **fields}, kind)

    def _delta(self, part: Delta) -> Iterator[str]:
        kind: ItemKind = "reasoning" if part.phase == "thinking" else "message"
        if self.plan.tools and kind == "message" and not part.text:
            # A token of a call, which is an item of its own, or of a text that is held back.
            return
        yield from self._turn_to(kind)
        if kind == "reasoning" and part.text:
            yield self._event("reasoning_text.delta", **self._place(), delta=part.text)
        elif kind == "message" and (part.text or part.logprobs):
            yield self._text_delta(part.text)

    def _text_delta(self, text: str) -> str:
        """Return the event for a part of the text, with the log-probabilities since the last."""
        tokens = self._choice.text_logprobs[self._sent :]
        self._sent += len(tokens)
        entries = self.entries(tokens)
        return self._event("output_text.delta", **self._place(), delta=text, logprobs=entries)

    def _turn_to(self, kind: ItemKind) -> Iterator[str]:
        """Open an item of this kind, unless it is open; close another one that is open."""
        if self._open == kind:
            return
        if self._open is not None:
            yield from self._close("completed")
        self._open = kind
        item = self._item(kind, "in_progress", empty=True)
        yield self._event("output_item.added", output_index=self._closed, item=item)
        if isinstance(kind, int):
            return
        empty = {"type": "reasoning_text", "text": ""}
        part = empty if kind == "reasoning" else self._text_part("", ())
        yield self._event("content_part.added", **self._place(), part=part)

    def _close(self, status: str) -> Iterator[str]:
        """Close the open item."""
        assert self._open is not None
        item, place = self._item(self._open, status), self._place()
        if isinstance(self._open, int):
            del place["content_index"]
            name = "function_call_arguments.done"
            yield self._event(name, **place, arguments=item["arguments"])
            yield from self._close_item(item)
            return
        (part,) = item["content"]
        done = {key: part[key] for key in ("text", "logprobs") if key in part}
        name = "reasoning_text" if self._open == "reasoning" else "output_text"
        yield self._event(f"{name}.done", **place, **done)
        yield self._event("content_part.done", **place, part=part)
        yield from self._close_item(item)

    def _close_item(self, item: dict[str, Any]) -> Iterator[str]:
        yield self._event("output_item.done", output_index=self._closed, item=item)
        self._open, self._closed = None, self._closed + 1

    def _place(self) -> dict[str, Any]:
        assert self._open is not None
        item_id = self._id(self._open)
        return {"item_id": item_id, "output_index": self._closed, "content_index": 0}

    def _id(self, kind: ItemKind) -> str:
        """Return the id of an item, the same in every event."""
        prefix = {"reasoning": "rs", "message": "msg"}.get(str(kind), "fc")
        return self._ids.setdefault(kind, f"{prefix}_{uuid.uuid4().hex}")


def _tool(tool: Tool) -> dict[str, Any]:
    """Return a tool as a response repeats it."""
    return {"description": None, "strict": None, **tool.written, "parameters": tool.parameters}
