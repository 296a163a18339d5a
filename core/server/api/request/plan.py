"""Plan of a request after its body was read; it doesn't depend on a model yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ....decoding.errors import DecodingError, PromptError
from ....decoding.loop.text import encode_continuation, join_prompt
from ....decoding.protocol import Chats, LanguageModel, offers
from ....decoding.reasoning.config import LEVELS
from ....decoding.reasoning.split import END_OF_PROMPT, marks_of
from ..endpoints import ENDPOINTS, Endpoint
from ..errors import ApiError
from .calls import KnowsTools, calculator_turn, template_tools
from .config import RequestSettings, Thinks
from .messages import ChatMessage, as_plain, with_instructions
from .tools import ToolFields, Tools

# Limit on choices of one request; each choice is a run.
MAX_CHOICES = 16
Mode: TypeAlias = Literal["raw", "final"]
MODES: tuple[Mode, ...] = ("raw", "final")


@dataclass(frozen=True, slots=True)
class LogprobsOptions:
    """Log-probabilities that a request asks for.

    Args:
        top: number of most probable tokens at each position; -1 for the whole vocabulary.
        mode: `raw` for the model's distribution, `final` for the distribution of the draw.
    """

    top: int = 0
    mode: Mode = "raw"

    def count(self, vocab_size: int) -> int:
        """Return the number of tokens at a position."""
        return vocab_size if self.top < 0 else min(self.top, vocab_size)


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation for the model to answer.

    Args:
        opened: True if its text ends where the answer begins.
    """

    messages: tuple[ChatMessage, ...]
    opened: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseOptions:
    """Fields that a response repeats from its request.

    Args:
        messages: the whole conversation without instructions, for a later request.
        previous: id of the response that this request continues.
        store: True if the answer can be fetched and continued later.
    """

    messages: tuple[ChatMessage, ...]
    instructions: str | None
    previous: str | None
    store: bool
    metadata: Mapping[str, str]
    safety_identifier: str | None
    prompt_cache_key: str | None
    text_format: Mapping[str, Any]
    tools: ToolFields


# Text to continue, its token ids, or a conversation.
Prompt: TypeAlias = str | tuple[int, ...] | Chat
StreamUsage: TypeAlias = Literal["never", "last", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A request.

    Args:
        prompts: the prompts; each gets `n` choices.
        echo: True if the answer begins with the prompt.
        only_prompt: True if nothing is generated (max_tokens 0).
        prompt_logprobs: number of candidates at each prompt position; None for none.
        keep_stop: True if the text includes the stop string that ended the run.
        special: True if the text includes special tokens.
        token_ids: True if the answer includes the ids of its prompt and of its tokens.
        ids_as_text: True if completions write a token as `token_id:383`, as vLLM can.
        usage: chunks of a stream with the usage; `always` means every chunk.
        response: options of the Responses API only.
        tools: tools that the answer may call; None for none.
        body: JSON of the request, unchanged.
    """

    endpoint: Endpoint
    model: str
    prompts: tuple[Prompt, ...]
    settings: RequestSettings
    n: int = 1
    logprobs: LogprobsOptions | None = None
    echo: bool = False
    only_prompt: bool = False
    stream: bool = False
    prompt_logprobs: int | None = None
    keep_stop: bool = False
    special: bool = False
    token_ids: bool = False
    ids_as_text: bool = False
    usage: StreamUsage = "never"
    response: ResponseOptions | None = None
    tools: Tools | None = None
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models that the run needs."""
        return (self.model, self.settings.draft) if self.settings.draft else (self.model,)

    def blamed(self, error: DecodingError) -> str | None:
        """Return the parameter that causes an error."""
        if isinstance(error, PromptError):
            return ENDPOINTS[self.endpoint].prompt
        return self.settings.blamed(error)

    @property
    def prompt_text(self) -> str:
        """The user's last text, for a list of requests."""
        first = self.prompts[0]
        if isinstance(first, Chat):
            newest = reversed(first.messages)
            texts = (message["content"] for message in newest if message["role"] == "user")
            return str(next(texts, first.messages[-1]["content"]))
        return first if isinstance(first, str) else f"{len(first)} token ids"


def encode(model: LanguageModel, prompt: Prompt, plan: Plan) -> list[int]:
    """Return the token ids of a prompt.

    With a thinking budget, a model without marks gets an instruction. With the effort `none`, the
    prompt closes the thinking that the model would begin; where a constraint acts from the first
    token on, it closes only a thinking that the template has opened.

    Raises:
        ApiError: a conversation for a model without a chat template.
        PromptError: the text is invalid, or the template refuses the messages.
    """
    if isinstance(prompt, tuple):
        return list(prompt)
    if isinstance(prompt, str):
        return model.encode(prompt)
    effort, messages = plan.settings.effort, list(prompt.messages)
    if effort in LEVELS and offers(model, Thinks):
        messages = with_instructions(messages, model.think_marks.instruction)
    ids = encode_chat(model, messages, prompt.opened, plan.tools)
    closes = plan.settings.constraint and not plan.settings.separates_thinking
    if not prompt.opened or not (effort == "none" or closes):
        return ids
    start, end = marks_of(model)
    before = join_prompt(model, ids[-END_OF_PROMPT:]).rstrip()
    if not end or before.endswith(end.strip() or end):
        return ids
    opened = before.endswith(start.strip() or start)
    if effort != "none" and not opened:
        return ids
    return ids + encode_continuation(model, end if opened else start + end)


def encode_chat(
    model: LanguageModel,
    messages: list[ChatMessage],
    opened: bool = True,
    tools: Tools | None = None,
) -> list[int]:
    """Return the token ids of a conversation.

    Args:
        opened: True if they end where the answer begins.
        tools: tools that the template writes, if it knows tools.

    Raises:
        ApiError: the model has no chat template.
        PromptError: the template refuses the messages.
    """
    if not offers(model, Chats) or not model.has_chat_template:
        raise ApiError(
            getattr(model, "template_fault", "")
            or f"{model.model_id} has no chat template; send text to /v1/completions.",
            param="model",
        )
    if template_tools(model) and offers(model, KnowsTools):
        declared = [tool.declaration for tool in tools.allowed] if tools else []
        return model.encode_chat(messages, opened, tools=declared)
    going_on, count = calculator_turn(model, messages) if opened else ("", 0)
    ids = model.encode_chat(as_plain(messages[: len(messages) - count]), opened)
    return ids + (encode_continuation(model, going_on) if going_on else [])
