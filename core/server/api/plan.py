"""What a request asks for, once its body was read; nothing of it depends on a model yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from core.decoding.errors import DecodingError, PromptError
from core.decoding.loop.text import encode_continuation, encode_plain, join_prompt
from core.decoding.protocol import Chats, LanguageModel, offers
from core.decoding.reasoning.config import LEVELS
from core.decoding.reasoning.split import END_OF_PROMPT, marks_of
from core.server.api.config import Asked, Thinks
from core.server.api.endpoints import ENDPOINTS, Endpoint
from core.server.api.errors import ApiError
from core.server.api.logprobs import Wanted
from core.server.api.messages import Message, with_instructions

# Choices of one request: each is a run.
MAX_CHOICES = 16


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation that the model is to answer.

    Args:
        opened: whether its text ends where the answer begins.
    """

    messages: tuple[Message, ...]
    opened: bool = True


# Text that is to be continued, its token ids, or a conversation.
Prompt: TypeAlias = str | tuple[int, ...] | Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A request.

    Args:
        prompts: each gets `n` choices.
        echo: whether the answer begins with the prompt.
        only_prompt: whether nothing is to be generated (max_tokens 0).
        prompt_logprobs: how many the tokens of the prompt get; None for none.
        keep_stop: whether the text ends with the stop string that ended the run.
        special: whether special tokens are written out in the text.
        token_ids: whether the answer says the ids of its prompt and of its tokens.
        body: the request's JSON, as it came.
    """

    endpoint: Endpoint
    model: str
    prompts: tuple[Prompt, ...]
    asked: Asked
    n: int = 1
    logprobs: Wanted | None = None
    echo: bool = False
    only_prompt: bool = False
    stream: bool = False
    prompt_logprobs: int | None = None
    keep_stop: bool = False
    special: bool = False
    token_ids: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that the run needs."""
        return (self.model, self.asked.draft) if self.asked.draft else (self.model,)

    def blamed(self, error: DecodingError) -> str | None:
        """The parameter that an error speaks of."""
        if isinstance(error, PromptError):
            return ENDPOINTS[self.endpoint].prompt
        return self.asked.blamed(error)

    @property
    def prompt_text(self) -> str:
        """What the user wrote last, for a list of requests."""
        first = self.prompts[0]
        if isinstance(first, Chat):
            said = (one["content"] for one in reversed(first.messages) if one["role"] == "user")
            return next(said, first.messages[-1]["content"])
        return first if isinstance(first, str) else f"{len(first)} token ids"


def encode(model: LanguageModel, prompt: Prompt, effort: str | None) -> list[int]:
    """The token ids of a prompt.

    Args:
        effort: where the model is to think; one without marks of its own is told how. With `none`
            the prompt closes the thinking that the model would begin.

    Raises:
        ApiError: a conversation for a model without a chat template.
        PromptError: a text that is none, or messages that the template refuses.
    """
    if isinstance(prompt, tuple):
        return list(prompt)
    if isinstance(prompt, str):
        return model.encode(prompt)
    messages = list(prompt.messages)
    if effort in LEVELS and offers(model, Thinks):
        messages = with_instructions(messages, model.think_marks.instruction)
    ids = encode_chat(model, messages, prompt.opened)
    return ids + _no_thinking(model, ids) if effort == "none" and prompt.opened else ids


def _no_thinking(model: LanguageModel, ids: list[int]) -> list[int]:
    """Return the ids that close the thinking at a prompt's end; none for a model without marks."""
    start, end = marks_of(model)
    before = join_prompt(model, ids[-END_OF_PROMPT:]).rstrip()
    if not end or before.endswith(end.strip() or end):
        return []
    opened = before.endswith(start.strip() or start)
    return encode_continuation(model, end if opened else start + end)


def encode_chat(model: LanguageModel, messages: list[Message], opened: bool = True) -> list[int]:
    """The ids of a conversation.

    Args:
        opened: whether they end where the answer begins.

    Raises:
        ApiError: the model has no chat template.
        PromptError: messages that the template refuses.
    """
    if not offers(model, Chats) or not model.has_chat_template:
        raise ApiError(
            getattr(model, "template_fault", "")
            or f"{model.model_id} has no chat template; send text to /v1/completions.",
            param="model",
        )
    return model.encode_chat(messages, opened)


def encode_without_special(model: LanguageModel, text: str) -> list[int]:
    """The ids of a text alone; none for an empty one."""
    return encode_plain(model, text) if text else []
