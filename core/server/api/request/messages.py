"""Convert the messages of a request's body to those that a chat template takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.decoding.validation import brief, shortened
from core.server.api.errors import ApiError, unsupported
from core.server.api.request.fields import MAX_TEXT

Message = dict[str, str]
# Developer messages were formerly called system messages.
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_TEXT_PARTS = ("text", "input_text", "output_text")
MAX_MESSAGES = 1_000
# Accepted fields of a message, and fields that must be empty for a text model.
_LABELS = {"id", "name", "status", "phase", "type"}
_MAY_BE_EMPTY = ("tool_calls", "function_call", "refusal", "audio", "annotations")


def read_messages(value: Any, name: str) -> list[Message]:
    """Read the messages of a chat.

    Args:
        value: the body's value under this name.

    Raises:
        ApiError: it is no list of messages, or a message has other content than text.
    """
    if not isinstance(value, list) or not value:
        raise ApiError(f"{name} must be a list of messages, at least one.", param=name)
    if len(value) > MAX_MESSAGES:
        raise ApiError(f"{name} must hold at most {MAX_MESSAGES:,} messages.", param=name)
    return [_message(message, f"{name}[{at}]") for at, message in enumerate(value)]


def read_input(value: Any, name: str = "input") -> list[Message]:
    """Read the input of a response: a text, or items; reasoning is dropped, as in templates.

    Raises:
        ApiError: it has other items than messages with text.
    """
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, list):
        kinds = [item.get("type", "message") if isinstance(item, dict) else None for item in value]
        for at, kind in enumerate(kinds):
            if kind not in ("message", "reasoning", None):
                raise unsupported(f"{name}[{at}].type", f"Items are messages, got {brief(kind)}.")
        value = [item for item, kind in zip(value, kinds, strict=True) if kind != "reasoning"]
    return read_messages(value, name)


def _message(value: Any, name: str) -> Message:
    if not isinstance(value, dict):
        raise ApiError(f"{name} must be an object with role and content.", param=name)
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise unsupported(
            f"{name}.role", f"A role is one of {', '.join(_ROLES)}, got {brief(role)}."
        )
    for key in value.keys() - {"role", "content"} - _LABELS:
        if key not in _MAY_BE_EMPTY or value[key]:
            raise unsupported(f"{name}.{shortened(key, 60)}", "Messages hold text only.")
    return {"role": _ROLES[role], "content": _text(value.get("content"), f"{name}.content")}


def _text(content: Any, name: str) -> str:
    if isinstance(content, list):
        return "".join(_part(part, f"{name}[{at}]") for at, part in enumerate(content))
    if not isinstance(content, str):
        raise ApiError(f"{name} must be a string or a list of text parts.", param=name)
    if len(content) > MAX_TEXT:
        raise ApiError(f"{name} must hold at most {MAX_TEXT:,} characters.", param=name)
    return content


def _part(part: Any, name: str) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _TEXT_PARTS:
        raise unsupported(f"{name}.type", f"Models here read text only, got {brief(kind)}.")
    if not isinstance(part.get("text"), str):
        raise ApiError(f"{name}.text must be a string.", param=name)
    return str(part["text"])


def with_instructions(messages: Sequence[Message], instructions: str | None) -> list[Message]:
    """Return the messages with the instructions at the start of the system message."""
    if not instructions:
        return list(messages)
    first, *others = messages
    if first["role"] == "system":
        text = f"{instructions}\n\n{first['content']}"
        return [{"role": "system", "content": text}, *others]
    return [{"role": "system", "content": instructions}, *messages]
