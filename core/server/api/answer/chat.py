"""Writer of chat completions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk

from .logprobs import TokenLogprobs
from .parts import ApiFinishReason, CallDelta, Delta
from .record import Call, Choice
from .writer import ChunkWriter


class ChatWriter(ChunkWriter):
    """Writes an answer as a chat completion."""

    def body(self) -> dict[str, Any]:
        choices = [self._choice(at, choice) for at, choice in enumerate(self.answer.choices)]
        return {
            **self._envelope(ChatCompletion, "chat.completion", choices),
            "usage": self.answer.usage(),
            **self.answer.extras(),
            **self.answer.prompt_extras(0),
        }

    def _choice(self, at: int, choice: Choice) -> dict[str, Any]:
        message: dict[str, Any] = {
            "content": choice.text("answer") or (None if choice.calls else ""),
            "refusal": None,
            "role": "assistant",
            "annotations": [],
        }
        if thinking := choice.text("thinking"):
            message |= _thinking(thinking)
        if choice.calls:
            message["tool_calls"] = [_call(call) for call in choice.calls]
        return {
            "finish_reason": choice.finish_reason or "stop",
            "index": at,
            "logprobs": self._logprobs(choice.logprobs.get("answer", ())),
            "message": message,
            **({"token_ids": choice.token_ids} if self.plan.token_ids else {}),
        }

    def _logprobs(self, tokens: Sequence[TokenLogprobs]) -> dict[str, Any] | None:
        return {"content": self.entries(tokens), "refusal": None} if self.plan.logprobs else None

    def opening(self) -> Iterator[dict[str, Any]]:
        for at in range(len(self.answer.choices)):
            chunk = self._chunk(at, {"content": "", "refusal": None, "role": "assistant"})
            yield {**chunk, **(self.answer.prompt_extras(at) if self.plan.token_ids else {})}

    def delta(self, part: Delta) -> dict[str, Any]:
        if part.phase == "thinking":
            return self._chunk(part.choice, _thinking(part.text), ids=part.token_ids)
        logprobs = self._logprobs(part.logprobs)
        return self._chunk(part.choice, {"content": part.text}, logprobs, part.token_ids)

    def call_delta(self, part: CallDelta) -> dict[str, Any]:
        written: dict[str, Any] = {"function": {"arguments": part.arguments}}
        if not part.arguments:
            call = self.answer.choices[part.choice].calls[part.call]
            written = _call(call) | {"function": {"name": call.name, "arguments": ""}}
        return self._chunk(part.choice, {"tool_calls": [{"index": part.call, **written}]})

    def last_chunk(self, at: int, reason: ApiFinishReason) -> dict[str, Any]:
        return self._chunk(at, {}, reason=reason)

    def _chunk(
        self,
        at: int,
        delta: dict[str, Any],
        logprobs: dict[str, Any] | None = None,
        ids: Sequence[int] | None = None,
        reason: ApiFinishReason | None = None,
    ) -> dict[str, Any]:
        choice = {"delta": delta, "index": at, "finish_reason": reason, "logprobs": logprobs}
        return self.chunk({**choice, **({"token_ids": ids} if self.plan.token_ids else {})})

    def envelope(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return self._envelope(ChatCompletionChunk, "chat.completion.chunk", choices)

    def _envelope(
        self,
        kind: type[ChatCompletion | ChatCompletionChunk],
        name: Any,
        choices: list[dict[str, Any]],
    ) -> dict[str, Any]:
        envelope = kind(
            id=self.answer.id,
            object=name,
            created=self.answer.created,
            model=self.plan.model,
            choices=[],
            system_fingerprint=self.answer.started.fingerprint,
            service_tier="default",
        )
        return {**envelope.model_dump(mode="json", exclude_unset=True), "choices": choices}


def _call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _thinking(text: str) -> dict[str, str]:
    """Return the message fields for the thinking: most servers' name, and vLLM's newer one."""
    return {"reasoning_content": text, "reasoning": text}
