"""Tokenizer part of a model, for local and remote forwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from ...decoding.errors import PromptError
from ...decoding.reasoning.types import ThinkMarks
from ...language import Message
from .chat import (
    Messages,
    ToolList,
    encode_chat,
    render_chat,
    template_fault,
    tool_template,
)
from .think_marks import think_marks
from .token_text import TokenTexts, panics_told


class Texts(Protocol):
    """Bytes and display text of every token of one tokenizer."""

    def bytes_of(self, token_id: int) -> bytes: ...

    def text_of(self, token_id: int) -> str: ...


@dataclass(frozen=True, slots=True)
class TokenNames:
    """Vocabulary of a model without its weights (`protocol.Vocabulary`)."""

    model_id: str
    revision: str
    dtype: str
    vocab_size: int
    texts: Texts

    def token_text(self, token_id: int) -> str:
        """Return the display text of one token, as the model does."""
        return self.texts.text_of(token_id)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of one token, as the model does."""
        return self.texts.bytes_of(token_id)


class Tokenizing:
    """Methods of a model that need only its tokenizer.

    Args:
        tokenizer: the model's tokenizer.
        model_id: the model's name in traces.
        revision: a hub commit or a digest of the weights; empty if there is none.
        isolate_templates: run the chat template, an untrusted program, in a child process.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        model_id: str,
        revision: str = "",
        isolate_templates: bool = False,
    ) -> None:
        self.model_id = model_id
        self.revision = revision
        self.tokenizer = tokenizer
        self._isolate_templates = isolate_templates
        self._texts = TokenTexts(tokenizer)
        self.token_text = self._texts.text_of
        self.token_bytes = self._texts.bytes_of

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt, with the special tokens that the tokenizer adds.

        Raises:
            PromptError: the text holds half a surrogate pair, which is no character, or one of the
                tokenizer's regular expressions takes too long on it.
        """
        try:
            with panics_told(self.model_id):
                ids: list[int] = self.tokenizer(text, verbose=False)["input_ids"]
        except PromptError:
            raise
        except (TypeError, UnicodeError):
            raise no_text(text) from None
        return ids

    def decode(self, token_ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """Return the text that `token_ids` add after `before`, decoded by the library."""
        return self._texts.decode(token_ids, before)

    @property
    def has_chat_template(self) -> bool:
        """True if `render_chat` and `encode_chat` can be used."""
        return self.tokenizer.chat_template is not None and not self.template_fault

    @property
    def template_fault(self) -> str:
        """Error message if the model's chat templates can't be used; empty if they can."""
        return template_fault(self.tokenizer, self.model_id)

    @cached_property
    def think_marks(self) -> ThinkMarks:
        """Marks of the model's thinking, and their source."""
        return think_marks(self.tokenizer)

    def render_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Return the conversation as text, rendered by the model's template, for display.

        Raises:
            ModelError: the model has no chat template.
            PromptError: the template refuses the messages, or doesn't end.
        """
        return render_chat(
            self.tokenizer,
            messages,
            add_generation_prompt,
            self.model_id,
            isolated=self._isolate_templates,
        )

    @property
    def tool_template(self) -> str:
        """Chat template for a conversation with tools; empty if it writes none."""
        return tool_template(self.tokenizer)

    def encode_chat(
        self,
        messages: Messages,
        add_generation_prompt: bool = True,
        tools: ToolList = (),
    ) -> list[int]:
        """Return the conversation's token ids; control tokens in a message are plain text.

        Args:
            tools: tools that the template writes.

        Raises:
            ModelError: the model has no chat template.
            PromptError: the template refuses the messages, or doesn't end.
        """
        return encode_chat(
            self.tokenizer,
            messages,
            add_generation_prompt,
            self.model_id,
            isolated=self._isolate_templates,
            tools=tools,
        )


def no_text(text: str) -> PromptError:
    """Return the error for a prompt with half a surrogate pair, which is no character."""
    return PromptError(
        Message(
            "The prompt must be valid Unicode text, got {text!r}; remove the lone "
            "surrogates from it.",
            text=text[:40],
        )
    )
