"""Convert the messages of a request's body to those that a chat template takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....decoding.validation import brief, shortened
from ..errors import ApiError, unsupported
from .fields import MAX_TEXT

# Role and content; of an assistant also `tool_calls`, of a tool also `tool_call_id` and `name`.
ChatMessage = dict[str, Any]
# Developer messages were formerly called system messages.
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_TEXT_PARTS = ("text", "input_text", "output_text")
MAX_MESSAGES = 1_000
# Accepted fields of a message, and fields that must be empty for a text model.
_LABELS = {"id", "name", "status", "phase", "type"}
_MAY_BE_EMPTY = ("tool_calls", "function_call", "refusal", "audio", "annotations")
_ITEMS = ("message", "reasoning", "function_call", "function_call_output")


def read_messages(value: Any, name: str) -> list[ChatMessage]:
    """Read the messages of a chat.

    Args:
        value: the body's value under this name.

    Raises:
        ApiError: it is no list of messages, or a message has other content than text and calls of
            functions.
    """
    _require_list(value, name)
    return [_message(message, f"{name}[{at}]") for at, message in enumerate(value)]


def read_input(value: Any, name: str = "input") -> list[ChatMessage]:
    """Read the input of a response: a text, or items; reasoning is dropped, as in templates.

    Raises:
        ApiError: it has other items than messages with text, calls of functions and their outputs.
    """
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    _require_list(value, name)
    messages: list[ChatMessage] = []
    for at, item in enumerate(value):
        kind = item.get("type", "message") if isinstance(item, dict) else "message"
        if kind not in _ITEMS:
            raise unsupported(
                f"{name}[{at}].type",
                f"Items are messages and calls of functions, got {brief(kind)}.",
            )
        if kind != "reasoning":
            _append(messages, _item(item, kind, f"{name}[{at}]"))
    if not messages:
        raise ApiError(f"{name} must be a list of messages, at least one.", param=name)
    return messages


def _require_list(value: Any, name: str) -> None:
    if not isinstance(value, list) or not value:
        raise ApiError(f"{name} must be a list of messages, at least one.", param=name)
    if len(value) > MAX_MESSAGES:
        raise ApiError(f"{name} must hold at most {MAX_MESSAGES:,} messages.", param=name)


def _item(item: Any, kind: str, name: str) -> ChatMessage:
    """Return an item of a response's input as a message."""
    if kind == "function_call":
        function = {key: item.get(key) for key in ("name", "arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": "", "tool_calls": [_call(call, name)]}
    if kind == "function_call_output":
        text = _text(item.get("output"), f"{name}.output")
        return _result(item.get("call_id"), text, f"{name}.call_id")
    return _message(item, name)


def _append(messages: list[ChatMessage], message: ChatMessage) -> None:
    """Append a message; calls of one turn become one message, as in chat completions."""
    last = messages[-1] if messages else {}
    if message.get("tool_calls") and last.get("role") == "assistant" and not message["content"]:
        calls = [*last.get("tool_calls", ()), *message["tool_calls"]]
        messages[-1] = {**last, "tool_calls": calls}
    else:
        messages.append(message)


def _message(value: Any, name: str) -> ChatMessage:
    if not isinstance(value, dict):
        raise ApiError(f"{name} must be an object with role and content.", param=name)
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise unsupported(
            f"{name}.role", f"A role is one of {', '.join(_ROLES)}, got {brief(role)}."
        )
    calls = value.get("tool_calls") if role == "assistant" else None
    read = {"role", "content", *(["tool_calls"] if calls else [])}
    read |= {"tool_call_id"} if role == "tool" else set()
    for key in value.keys() - read - _LABELS:
        if key not in _MAY_BE_EMPTY or value[key]:
            raise unsupported(f"{name}.{shortened(key, 60)}", "Messages hold text only.")
    if not calls:
        text = _text(value.get("content"), f"{name}.content")
        if role == "tool":
            return _result(value.get("tool_call_id"), text, f"{name}.tool_call_id")
        return {"role": _ROLES[role], "content": text}
    if not isinstance(calls, list):
        raise ApiError(f"{name}.tool_calls must be a list.", param=name)
    content = value.get("content")
    return {
        "role": "assistant",
        "content": "" if content is None else _text(content, f"{name}.content"),
        "tool_calls": [_call(call, f"{name}.tool_calls[{at}]") for at, call in enumerate(calls)],
    }


def _call(value: Any, name: str) -> dict[str, Any]:
    """Return a call in the form that templates take, with its arguments as an object."""
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise unsupported(name, "A call is of a function, with its name and arguments.")
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        # A call that was cut off has no whole arguments.
        raise ApiError(f"{name} must have a JSON object as arguments.", param=name)
    call_id = value.get("id")
    if not isinstance(call_id, str):
        raise ApiError(f"{name} must have an id.", param=name)
    written = {"name": function["name"], "arguments": arguments}
    return {"id": call_id, "type": "function", "function": written}


def _result(call_id: Any, text: str, name: str) -> ChatMessage:
    if not isinstance(call_id, str):
        raise ApiError(f"{name} must name the call that this is the result of.", param=name)
    return {"role": "tool", "content": text, "tool_call_id": call_id}


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


def with_instructions(
    messages: Sequence[ChatMessage], instructions: str | None
) -> list[ChatMessage]:
    """Return the messages with the instructions at the start of the system message."""
    if not instructions:
        return list(messages)
    first, *others = messages
    if first["role"] == "system":
        text = f"{instructions}\n\n{first['content']}"
        return [{"role": "system", "content": text}, *others]
    return [{"role": "system", "content": instructions}, *messages]


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as the text that a constraint makes the model write."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def as_plain(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return messages for a template that knows no tools: calls are text of the assistant, and
    results are messages of the user.
    """
    return list(map(_as_plain, messages))


def _as_plain(message: ChatMessage) -> ChatMessage:
    if message["role"] == "tool":
        return {"role": "user", "content": message["content"]}
    return {"role": message["role"], "content": "\n".join(_lines(message))}


def _lines(message: ChatMessage) -> Iterator[str]:
    if message["content"] or "tool_calls" not in message:
        yield message["content"]
    for call in message.get("tool_calls", ()):
        yield call_text(**call["function"])
