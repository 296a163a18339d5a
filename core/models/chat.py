"""Conversations, written out by the tokenizer's own chat template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from core.decoding.errors import ModelError, PromptError

Messages = Sequence[dict[str, str]]


def render_chat(
    tokenizer: PreTrainedTokenizerBase, messages: Messages, open_answer: bool, model_id: str
) -> str:
    """The conversation as text; `open_answer` ends it where the model is to answer.

    Raises:
        ModelError: the tokenizer has no chat template.
        PromptError: the template refuses the messages.
    """
    text: str = _apply(tokenizer, messages, open_answer, model_id, tokenize=False)
    return text


def encode_chat(
    tokenizer: PreTrainedTokenizerBase, messages: Messages, open_answer: bool, model_id: str
) -> list[int]:
    """The conversation's ids; a control token that a message spells out stays ordinary text.

    Raises:
        ModelError: the tokenizer has no chat template.
        PromptError: the template refuses the messages.
    """
    ids: list[int] = _apply(
        tokenizer,
        messages,
        open_answer,
        model_id,
        tokenize=True,
        return_dict=False,
        sanitize_control_tokens=True,
    )
    return ids


def _apply(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    open_answer: bool,
    model_id: str,
    **options: Any,
) -> Any:
    if tokenizer.chat_template is None:
        raise ModelError(
            f"{model_id} has no chat template; give the prompt as plain text instead of messages."
        )
    if not messages:
        raise PromptError("The conversation holds no message; give at least one.")
    try:
        return tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=open_answer, **options
        )
    except Exception as error:  # The template is a program of the model's: it may raise anything.
        reason = " ".join(str(error).split())[:200]
        raise PromptError(
            f"The chat template of {model_id} refuses these messages ({reason}); check their "
            "roles, order and content."
        ) from None
