"""Chat completions: a conversation in, the model's next message out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice as ChatChoice
from openai.types.chat.chat_completion_chunk import Choice as ChunkChoice
from openai.types.chat.chat_completion_chunk import ChoiceDelta
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from core.decoding.reasoning.config import LEVELS
from core.decoding.validation import Interval
from core.server.api import vllm_fields
from core.server.api.answer import DONE, Choices, StreamUsage, data, plain
from core.server.api.config import read_settings
from core.server.api.errors import ApiError, unsupported
from core.server.api.fields import Fields
from core.server.api.logprobs import MODES, Wanted
from core.server.api.messages import read_messages
from core.server.api.parts import AllEnded, AnswerPart, ChoiceEnded, Delta, Started
from core.server.api.plan import MAX_CHOICES, Chat, Plan

KNOWN = frozenset(CompletionCreateParamsBase.__annotations__) | {"stream"}
MOST_TOP = Interval(-1, 10_000_000)


def read_chat(body: Mapping[str, Any]) -> tuple[Plan, StreamUsage]:
    """The plan of a request, and when its stream says the usage.

    Raises:
        ApiError: a parameter that is wrong or not supported.
    """
    fields = Fields(body)
    model = fields.required_text("model")
    effort = read_effort(fields, "reasoning_effort")
    plan = Plan(
        endpoint="chat",
        model=model,
        prompts=(_conversation(fields),),
        asked=read_settings(fields, "chat", effort),
        n=fields.whole("n", Interval(1, MAX_CHOICES), 1) or 1,
        logprobs=_logprobs(fields),
        stream=fields.flag("stream"),
        **vllm_fields.read_shown(fields),
        body=body,
    )
    usage = read_stream_options(fields)
    _read_what_changes_nothing(fields)
    fields.finish(KNOWN)
    return plan, usage


def _conversation(fields: Fields) -> Chat:
    fields.require_prompt("chat")
    messages = tuple(read_messages(fields.any("messages"), "messages"))
    return Chat(messages, fields.flag("add_generation_prompt", True))


def read_effort(fields: Fields, name: str) -> str | None:
    """A named thinking budget, or `none`; None where nothing is said."""
    return fields.choice(name, ("none", *LEVELS))


def read_mode(fields: Fields) -> Any:
    """Which log-probabilities are asked for."""
    return fields.choice("logprobs_mode", MODES, "raw")


def _logprobs(fields: Fields) -> Wanted | None:
    asked, top = fields.flag("logprobs"), fields.whole("top_logprobs", MOST_TOP)
    mode = read_mode(fields)
    if asked:
        return Wanted(top or 0, mode)
    for name in ("top_logprobs", "logprobs_mode"):
        if fields.has(name) and (name != "top_logprobs" or top):
            raise fields.wrong(name, "says how log-probabilities are given; set logprobs to true")
    return None


def read_stream_options(fields: Fields) -> StreamUsage:
    """Read when a stream says the usage."""
    given = fields.object("stream_options")
    if given is None:
        return "never"
    if fields.any("stream") is not True:
        raise fields.wrong("stream_options", "acts on a stream only; set stream to true")
    options = Fields(given, "stream_options.")
    usage, always = options.flag("include_usage"), options.flag("continuous_usage_stats")
    options.inert("include_obfuscation", False)
    options.finish(())
    return ("always" if always else "last") if usage else "never"


def read_no_tools(fields: Fields) -> None:
    """Raises ApiError for a tool: none is ever called."""
    if fields.items("tools"):
        raise unsupported("tools", "The models here call no tools; leave it out.")


def _read_what_changes_nothing(fields: Fields) -> None:
    for name in ("frequency_penalty", "presence_penalty"):
        fields.inert(name, 0)
    read_no_tools(fields)
    fields.inert("tool_choice", "none", "auto")
    fields.inert("parallel_tool_calls", True, False)
    fields.inert("response_format", {"type": "text"})
    fields.inert("modalities", ["text"])
    fields.inert("service_tier", "auto", "default")
    fields.inert("store", False)
    fields.object("metadata")
    for name in ("user", "safety_identifier", "prompt_cache_key"):
        fields.ignored(name)


def _thinking(text: str) -> dict[str, str]:
    """A message's thinking, by the name that most servers have, and by vLLM's newer one."""
    return {"reasoning_content": text, "reasoning": text}


class ChatAnswer(Choices):
    """A chat completion.

    Args:
        usage: when a stream says it.
    """

    def __init__(self, plan: Plan, usage: StreamUsage) -> None:
        super().__init__(plan, "chatcmpl-")
        self._usage = usage

    def body(self) -> dict[str, Any]:
        """The whole answer."""
        found = ChatCompletion(
            id=self.id,
            object="chat.completion",
            created=self.created,
            model=self.plan.model,
            choices=[self._choice(at) for at in range(len(self.choices))],
            usage=self.usage(),
            system_fingerprint=self.fingerprint,
            service_tier="default",
        )
        written = plain(found, **self.extras())
        for choice, own in zip(written["choices"], self.choices, strict=True):
            if self.plan.logprobs:
                entries = self.entries(own.answer_logprobs)
                choice["logprobs"] = {"content": entries, "refusal": None}
            if own.thinking:
                choice["message"].update(_thinking(own.thinking))
            if self.plan.token_ids:
                choice["token_ids"] = own.token_ids
        return {**written, **self.prompt_extras(0)}

    def _choice(self, at: int) -> ChatChoice:
        own = self.choices[at]
        message = ChatCompletionMessage(
            role="assistant", content=own.answer, refusal=None, annotations=[]
        )
        reason = own.finish_reason or "stop"
        return ChatChoice(index=at, message=message, finish_reason=reason, logprobs=None)

    def events(self, part: AnswerPart) -> Iterator[str]:
        """What a stream says of a part."""
        self.take(part)
        if isinstance(part, Started):
            for at in range(len(self.choices)):
                yield self._chunk(at, ChoiceDelta(role="assistant", content="", refusal=None))
        elif isinstance(part, Delta) and self.says(part):
            yield self._delta(part)
        elif isinstance(part, ChoiceEnded):
            yield self._chunk(part.choice, ChoiceDelta(), part.finish_reason)
        elif isinstance(part, AllEnded):
            if self._usage != "never":
                yield data(plain(self._envelope([]), usage=plain(self.usage()), **self.extras()))
            yield DONE

    def _delta(self, part: Delta) -> str:
        if part.phase == "thinking":
            return self._chunk(
                part.choice, ChoiceDelta(), more=_thinking(part.text), ids=part.token_ids
            )
        logprobs = None
        if self.plan.logprobs:
            logprobs = {"content": self.entries(part.logprobs), "refusal": None}
        delta = ChoiceDelta(content=part.text)
        return self._chunk(part.choice, delta, logprobs=logprobs, ids=part.token_ids)

    def _chunk(
        self,
        at: int,
        delta: ChoiceDelta,
        reason: Any = None,
        logprobs: dict[str, Any] | None = None,
        more: Mapping[str, str] = MappingProxyType({}),
        ids: Sequence[int] | None = None,
    ) -> str:
        choice = ChunkChoice(index=at, delta=delta, finish_reason=reason, logprobs=None)
        written = plain(self._envelope([choice]), **self.usage_so_far(self._usage))
        own = written["choices"][0]
        own["logprobs"] = logprobs
        own["delta"].update(more)
        if self.plan.token_ids:
            own["token_ids"] = ids
            # The first chunk alone names a role.
            written |= self.prompt_extras(at) if delta.role else {}
        return data(written)

    def _envelope(self, choices: list[ChunkChoice]) -> ChatCompletionChunk:
        return ChatCompletionChunk(
            id=self.id,
            object="chat.completion.chunk",
            created=self.created,
            model=self.plan.model,
            choices=choices,
            system_fingerprint=self.fingerprint,
            service_tier="default",
        )

    def error_events(self, error: ApiError) -> Iterator[str]:
        """An error that ends the stream."""
        yield data(error.body())
