"""Tools of a request, and the rule for calling them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ....decoding.constraints.value import MAX_LENGTH
from ....decoding.validation import brief, shortened
from ..errors import ApiError, unsupported
from .fields import Fields
from .formats import NAME, NAME_WORDS, constraint_of

MAX_TOOLS = 128
_MODES = ("none", "auto", "required")
# An annotation has this type; a property of the same name is a schema.
_ANNOTATIONS = {"title": str, "description": str, "$comment": str, "examples": list}
_VALUES = ("enum", "const", "default")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function of the client's.

    Args:
        parameters: JSON schema of its arguments, an object.
        written: the tool as the request gave it.
    """

    name: str
    parameters: Mapping[str, Any]
    written: Mapping[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        """The parameters without annotations, which constrain nothing."""
        kept: dict[str, Any] = _without_annotations(self.parameters)
        return kept

    @property
    def declaration(self) -> dict[str, Any]:
        """The tool in the form of chat completions, which chat templates take."""
        function = {name: held for name, held in self.written.items() if name != "type"}
        return {"type": "function", "function": {**function, "parameters": dict(self.parameters)}}


@dataclass(frozen=True, slots=True)
class Tools:
    """Tools that an answer may or must call.

    Args:
        allowed: the tools that may be called, of those that the request offers.
        must: True if the answer is a call.
        several: True if one answer may hold several calls.
    """

    offered: tuple[Tool, ...]
    allowed: tuple[Tool, ...]
    must: bool
    several: bool


@dataclass(frozen=True, slots=True)
class ToolFields:
    """Fields about tools that a response repeats.

    Args:
        choice: `tool_choice`, as the request gave it.
    """

    tools: tuple[Tool, ...] = ()
    choice: Any = "auto"
    parallel: bool = True


def read_tools(fields: Fields, *, flat: bool) -> tuple[ToolFields, Tools | None]:
    """Return the fields about tools, and the tools of the answer; None if it may call none.

    Args:
        flat: True for responses, where a tool's name stands beside its type.

    Raises:
        ApiError: a tool of another type, a schema that llguidance refuses, or a choice without its
            tool.
    """
    items = fields.items("tools")
    if len(items) > MAX_TOOLS:
        raise fields.wrong("tools", f"must hold at most {MAX_TOOLS} tools, got {len(items)}")
    offered = tuple(_tool(item, f"tools[{at}]", flat) for at, item in enumerate(items))
    names = [tool.name for tool in offered]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise fields.wrong("tools", f"names {brief(twice)} twice; leave one out")
    parallel = fields.flag("parallel_tool_calls", True)
    written = fields.any("tool_choice")
    mode, allowed = _choice(fields, written, offered, flat)
    read = ToolFields(offered, "auto" if written is None else written, parallel)
    if mode == "none" or not offered:
        if mode not in ("none", "auto"):
            raise fields.wrong("tool_choice", "needs a tool; give tools")
        return read, None
    length = sum(len(json.dumps(tool.schema)) for tool in allowed)
    if length > MAX_LENGTH:
        why = f"must have schemas of at most {MAX_LENGTH:,} characters in all, got {length:,}"
        raise fields.wrong("tools", why)
    return read, Tools(offered, allowed, mode != "auto", parallel and mode != "named")


def _tool(value: Any, name: str, flat: bool) -> Tool:
    if not isinstance(value, dict):
        raise ApiError(
            f"{name} must be an object, got {brief(value)}.", param="tools", code="invalid_value"
        )
    if (kind := value.get("type")) != "function":
        why = f"Tools are functions of the client's, got {brief(kind)}."
        raise ApiError(f"Unsupported: {name}. {why}", param="tools", code="unsupported_parameter")
    held: Any = value
    where = name
    if not flat:
        held, where = value.get("function"), f"{name}.function"
        if not isinstance(held, dict):
            raise ApiError(f"{where} must be an object.", param="tools", code="invalid_value")
    function = held.get("name")
    try:
        read = Fields(held, f"{where}.")
        read.text("description")
        read.flag("strict")
    except ApiError as error:
        raise ApiError(str(error), param="tools", code="invalid_value") from None
    if not isinstance(function, str) or not NAME.fullmatch(function):
        raise ApiError(
            f"{where}.name must be {NAME_WORDS}, got {brief(function)}.",
            param="tools",
            code="invalid_value",
        )
    return Tool(function, _parameters(held.get("parameters"), f"{where}.parameters"), held)


def _parameters(value: Any, name: str) -> dict[str, Any]:
    """Return the schema of the arguments, which are an object; none are an empty one."""
    schema = {"properties": {}, "additionalProperties": False} if value is None else value
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ApiError(
            f"{name} must be a JSON schema of the type object.", param="tools", code="invalid_value"
        )
    schema = {"type": "object", **schema}
    try:
        constraint_of("json", json.dumps(schema), name)
    except ApiError as error:
        raise ApiError(str(error), param="tools", code="invalid_value") from None
    return schema


def _without_annotations(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_annotations(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: held if name in _VALUES else _without_annotations(held)
        for name, held in schema.items()
        if not isinstance(held, _ANNOTATIONS.get(name, ()))
    }


def _choice(
    fields: Fields, value: Any, offered: Sequence[Tool], flat: bool
) -> tuple[Literal["none", "auto", "required", "named"], tuple[Tool, ...]]:
    """Return the rule for calls, and the tools that may be called."""
    if value is None:
        value = "auto"
    if isinstance(value, str) and value in _MODES:
        return value, tuple(offered)  # type: ignore[return-value]
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "function":
        return "named", (_named(fields, value, offered, flat),)
    if kind == "allowed_tools":
        held = value if flat else value.get("allowed_tools")
        mode = held.get("mode") if isinstance(held, dict) else None
        tools = held.get("tools") if isinstance(held, dict) else None
        if mode not in ("auto", "required") or not isinstance(tools, list) or not tools:
            raise fields.wrong("tool_choice", "must hold a mode, auto or required, and tools")
        named = [_named(fields, tool, offered, flat) for tool in tools]
        return mode, tuple({tool.name: tool for tool in named}.values())
    if kind is not None and kind != "function":
        raise unsupported("tool_choice", f"Tools are functions, got {brief(kind)}.")
    raise fields.wrong(
        "tool_choice", f"must be one of {', '.join(_MODES)} or name a function, got {brief(value)}"
    )


def _named(fields: Fields, value: Any, offered: Sequence[Tool], flat: bool) -> Tool:
    held = value if flat or not isinstance(value, dict) else value.get("function")
    if not isinstance(held, dict) or not isinstance(name := held.get("name"), str):
        form = '{"type": "function", "name": ...}'
        if not flat:
            form = '{"type": "function", "function": {"name": ...}}'
        raise fields.wrong("tool_choice", f"names a function as {form}, got {brief(value)}")
    tool = next((tool for tool in offered if tool.name == name), None)
    if tool is None:
        names = shortened(", ".join(tool.name for tool in offered) or "none", 200)
        raise fields.wrong("tool_choice", f"names {brief(name)}; the tools are {names}")
    return tool
