"""Tokenizer part of a model, wherever the forwards run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from core.decoding.errors import PromptError
from core.decoding.reasoning.types import ThinkMarks
from core.models.text.chat import encode_chat, render_chat, template_fault
from core.models.text.think_marks import think_marks
from core.models.text.token_text import TokenTexts, panics_told


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
        """Display text of one token, as the model gives it."""
        return self.texts.text_of(token_id)

    def token_bytes(self, token_id: int) -> bytes:
        """Bytes of one token, as the model gives them."""
        return self.texts.bytes_of(token_id)


class Tokenizing:
    """The part of a model that its tokenizer makes.

    Args:
        tokenizer: the model's.
        model_id: what a trace names the model by.
        revision: a hub commit or a digest of the weights; empty when there is none.
        isolate_templates: run the chat template in a child process: it is a stranger's program.
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
        """Token ids of a prompt, with the special tokens that the tokenizer adds by itself.

        Raises:
            PromptError: the text holds half a surrogate pair, which is no character, or one of the
                tokenizer's expressions takes too long on it.
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
        """The text that tokens add behind others, by the library's own decoding."""
        return self._texts.decode(token_ids, before)

    @property
    def has_chat_template(self) -> bool:
        """True where `render_chat` and `encode_chat` can be used."""
        return self.tokenizer.chat_template is not None and not self.template_fault

    @property
    def template_fault(self) -> str:
        """Why the model's chat templates can't be used, in a sentence; empty where they can."""
        return template_fault(self.tokenizer, self.model_id)

    @cached_property
    def think_marks(self) -> ThinkMarks:
        """Marks of the model's thinking, and the source that they are known from."""
        return think_marks(self.tokenizer)

    def render_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """The conversation as the model's template writes it, to be shown.

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

    def encode_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> list[int]:
        """The conversation's token ids; control tokens in a message stay ordinary text.

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
        )


def no_text(text: str) -> PromptError:
    """Return the error for a prompt with half a surrogate pair, which is no character."""
    return PromptError(
        f"The prompt must be valid Unicode text, got {text[:40]!r}; remove the lone surrogates "
        "from it."
    )
