"""A response as this API writes it: its items, and everything that it repeats of its request."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from openai.types.responses import (
    Response,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
    ResponseUsage,
)
from openai.types.responses.response_reasoning_item import Content
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
from openai.types.shared import Reasoning

from core.server.api.answer import Choices, plain
from core.server.api.errors import ApiError
from core.server.api.logprobs import TokenLogprobs
from core.server.api.plan import Plan
from core.server.api.responses import ResponseOptions


class ResponseBody(Choices):
    """Writes the response at any stage of its run."""

    def __init__(self, plan: Plan, options: ResponseOptions) -> None:
        super().__init__(plan, "resp_")
        self.options = options
        self.reasoning_id = f"rs_{uuid.uuid4().hex}"
        self.message_id = f"msg_{uuid.uuid4().hex}"

    def snapshot(
        self, status: str, output: Sequence[dict[str, Any]] = (), error: ApiError | None = None
    ) -> dict[str, Any]:
        """The response with so much of its output."""
        ended = status not in ("in_progress", "queued")
        return plain(
            self._repeated(),
            created_at=self.created,
            completed_at=int(time.time()) if status == "completed" else None,
            status=status,
            output=list(output),
            error={"code": "server_error", "message": str(error)} if error else None,
            incomplete_details={"reason": "max_output_tokens"} if status == "incomplete" else None,
            usage=plain(self.response_usage()) if ended else None,
            text={"format": {"type": "text"}, "verbosity": "medium"},
            presence_penalty=0.0,
            frequency_penalty=0.0,
            store=self.options.store,
            **self.extras(),
        )

    def _repeated(self) -> Response:
        """What a response repeats of its request."""
        options, effort = self.options, self.plan.asked.effort
        return Response(
            id=self.id,
            object="response",
            created_at=self.created,
            model=self.plan.model,
            output=[],
            instructions=options.instructions,
            metadata=dict(options.metadata),
            previous_response_id=options.previous,
            max_output_tokens=options.max_output_tokens,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
            reasoning=Reasoning(effort=effort, summary=None),  # type: ignore[arg-type]
            temperature=self._shaping("temperature"),
            top_p=self._shaping("top_p"),
            top_logprobs=self._top_logprobs(),
            truncation="disabled",
            background=False,
            service_tier="default",
            safety_identifier=options.safety_identifier,
            prompt_cache_key=options.prompt_cache_key,
            max_tool_calls=None,
        )

    def _shaping(self, name: str) -> float:
        if name in self.plan.asked.given:
            return float(self.plan.asked.given[name])
        configs = self.started.configs if self.started else ()
        return float(getattr(configs[0].shaping, name)) if configs else 1.0

    def _top_logprobs(self) -> int:
        wanted = self.plan.logprobs
        if wanted is None:
            return 0
        return wanted.count(self.vocabulary.vocab_size) if self.started else max(0, wanted.top)

    def response_usage(self) -> ResponseUsage:
        """Tokens of the prompt and of the output, thinking and its marks included."""
        prompt = self.started.prompt_tokens if self.started else 0
        return ResponseUsage(
            input_tokens=prompt,
            input_tokens_details=InputTokensDetails(cached_tokens=0, cache_write_tokens=0),
            output_tokens=self.tokens,
            output_tokens_details=OutputTokensDetails(reasoning_tokens=self.reasoning_tokens),
            total_tokens=prompt + self.tokens,
        )

    @property
    def status(self) -> str:
        """How the response has ended."""
        return "incomplete" if self.choices[0].finish_reason == "length" else "completed"

    def output(self) -> list[dict[str, Any]]:
        """The items, once the run has ended."""
        choice, status = self.choices[0], self.status
        found = []
        if "thinking" in choice.texts:
            # Only the last item is cut off.
            own = status if "answer" not in choice.texts else "completed"
            found.append(self.reasoning_item(own, choice.thinking))
        if "answer" in choice.texts or not found or status == "completed":
            found.append(self.message_item(status, choice.answer))
        return found

    def reasoning_item(self, status: str, text: str | None = None) -> dict[str, Any]:
        """What the model thought; without a text it is yet to come."""
        content = [] if text is None else [Content(type="reasoning_text", text=text)]
        item = ResponseReasoningItem(
            id=self.reasoning_id, type="reasoning", summary=[], content=content
        )
        return plain(item, status=status)

    def message_item(self, status: str, text: str | None = None) -> dict[str, Any]:
        """What the model says; without a text it is yet to come."""
        item = ResponseOutputMessage(
            id=self.message_id, type="message", role="assistant", content=[], status="completed"
        )
        parts = [] if text is None else [self.text_part(text, self.choices[0].answer_logprobs)]
        return plain(item, status=status, content=parts)

    def text_part(self, text: str, tokens: Sequence[TokenLogprobs] = ()) -> dict[str, Any]:
        """A part of a message."""
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        return plain(part, logprobs=self.entries(tokens))
