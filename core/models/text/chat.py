"""Render conversations with the tokenizer's chat template.

A template is a program. A template that came with the app runs in this process; any other runs in
a child process, which is killed when it exceeds its time or memory limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from transformers import PreTrainedTokenizerBase

from ...decoding.errors import ModelError, PromptError
from ...decoding.validation import shortened
from ...language import N_, Message
from ..isolation.client import LimitError, RequestLimits, ask
from ..stopping import current
from .token_text import panics_told

Messages = Sequence[Mapping[str, Any]]
# Tools in the form of OpenAI's chat completions.
ToolList = Sequence[Mapping[str, Any]]
LIMITS = RequestLimits(cpu_seconds=2, seconds=10.0, memory_bytes=2**28)


def render_chat(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    open_answer: bool,
    model_id: str,
    *,
    isolated: bool = False,
) -> str:
    """Return the conversation as text, ready for the model's answer if `open_answer`.

    Args:
        isolated: run the template in a child process.

    Raises:
        ModelError: the tokenizer has no chat template.
        PromptError: the template refuses the messages, or doesn't end.
        LoadingStoppedError: the calling task was stopped (`stoppable`); only if `isolated`.
    """
    _check(tokenizer, messages, model_id)
    if isolated:
        return _write_isolated(tokenizer, messages, open_answer, model_id, marked=False)
    return str(_apply(tokenizer, messages, open_answer, model_id, tokenize=False))


def encode_chat(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    open_answer: bool,
    model_id: str,
    *,
    isolated: bool = False,
    tools: ToolList = (),
) -> list[int]:
    """Return the conversation's token ids; control tokens in a message are encoded as plain text.

    Args:
        isolated: run the template in a child process.
        tools: tools that the template writes.

    Raises:
        ModelError: the tokenizer has no chat template.
        PromptError: the template refuses the messages, or doesn't end.
        LoadingStoppedError: the calling task was stopped (`stoppable`); only if `isolated`.
    """
    _check(tokenizer, messages, model_id)
    options = {"sanitize_control_tokens": True}
    if not isolated:
        offered = {"tools": list(tools)} if tools else {}
        ids: list[int] = _apply(
            tokenizer,
            messages,
            open_answer,
            model_id,
            tokenize=True,
            return_dict=False,
            **offered,
            **options,
        )
        return ids
    text = _write_isolated(tokenizer, messages, open_answer, model_id, marked=True, tools=tools)
    try:
        with panics_told(model_id):
            encoded = tokenizer(text, add_special_tokens=False, verbose=False, **options)
        return list(encoded["input_ids"])
    except PromptError:
        raise
    except Exception as error:
        raise _refused(model_id, error) from None


def template_fault(tokenizer: PreTrainedTokenizerBase, model_id: str) -> str:
    """Return an error message if the tokenizer has only named templates, no default; else ""."""
    template = tokenizer.chat_template
    if not isinstance(template, dict) or "default" in template:
        return ""
    return Message(
        "{model} has chat templates of the names {names}, and no default one; save one of them as "
        "chat_template.jinja in its folder, or give the prompt as plain text.",
        model=model_id,
        names=shortened(", ".join(template), 100),
    )


def tool_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the chat template for a conversation with tools; empty if it writes none."""
    template = tokenizer.chat_template
    if isinstance(template, dict):
        template = template.get("tool_use", template.get("default"))
    return template if template and re.search(r"\btools\b", template) else ""


def _check(tokenizer: PreTrainedTokenizerBase, messages: Messages, model_id: str) -> None:
    if tokenizer.chat_template is None:
        raise ModelError(
            Message(
                "{model} has no chat template; give the prompt as plain text instead of messages.",
                model=model_id,
            )
        )
    if fault := template_fault(tokenizer, model_id):
        raise ModelError(fault)
    if not messages:
        raise PromptError(N_("The conversation holds no message; give at least one."))


def _write_isolated(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    open_answer: bool,
    model_id: str,
    *,
    marked: bool,
    tools: ToolList = (),
) -> str:
    control = getattr(tokenizer, "chat_control_tokens", None)
    try:
        text: str = ask(
            "chat",
            LIMITS,
            current(),
            template=tokenizer.get_chat_template(tools=list(tools) or None),
            messages=list(messages),
            tools=list(tools),
            open_answer=open_answer,
            marked=marked,
            special_tokens=dict(tokenizer.special_tokens_map),
            added_tokens=[
                (token.content, token.special) for token in tokenizer.added_tokens_decoder.values()
            ],
            control_tokens=None if control is None else list(control),
        )
    except LimitError as error:
        raise PromptError(
            Message(
                "The chat template of {model} {reason}; use another model, or switch "
                "the chat template off.",
                model=model_id,
                reason=error.reason,
            )
        ) from None
    except (PromptError, TypeError, ValueError) as error:
        raise _refused(model_id, error) from None
    return text


def _apply(
    tokenizer: PreTrainedTokenizerBase,
    messages: Messages,
    open_answer: bool,
    model_id: str,
    **options: Any,
) -> Any:
    try:
        return tokenizer.apply_chat_template(
            list(messages), add_generation_prompt=open_answer, **options
        )
    except Exception as error:  # The template is the model's own program: it may raise anything.
        raise _refused(model_id, error) from None


def _refused(model_id: str, error: Exception) -> PromptError:
    reason = shortened(" ".join(str(error).split()), 200)
    return PromptError(
        Message(
            "The chat template of {model} refuses these messages ({reason}); check "
            "their roles, order and content.",
            model=model_id,
            reason=reason,
        )
    )
