"""Syntax in which a model writes calls of functions, and the constraint that holds it to the tools.

A model of Hermes' form (Qwen, SmolLM3) writes a JSON object in tags; the embedded models write an
expression for a calculator. For any other model a constraint makes it write JSON lines, without
text around them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ....decoding.constraints.value import Constraint
from ....decoding.errors import DecodingError
from ....decoding.loop.text import encode_plain
from ....decoding.protocol import LanguageModel, offers
from ....decoding.reasoning.calculator import CALL, CALL_MARKS, RESULT
from ....decoding.reasoning.split import marks_of
from ..errors import unsupported
from .bounds import bounded
from .formats import constraint_of
from .tools import Tool, Tools

# Limit on calls of one answer.
MOST_CALLS = 8
OPEN, CLOSE = "<tool_call>", "</tool_call>"
CALCULATOR = "calculator"
_EXPRESSION = r"/[0-9.()+*\/ -]{1,200}/"
_ANY_TEXT = r"/(.|\n)*/"
# Spaces as `json.dumps` writes them, which templates do.
_SPACES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class KnowsTools(Protocol):
    """A model whose chat template may write tools."""

    @property
    def tool_template(self) -> str:
        """The chat template; empty if it writes no tools."""
        ...

    def encode_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        add_generation_prompt: bool = True,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[int]:
        """Return the conversation's token ids, with the tools as the template writes them."""
        ...


@dataclass(frozen=True, slots=True)
class CallSyntax:
    """Syntax of the calls of one run.

    Args:
        constraint: what the run may write.
        tags: True if a call stands in the tags of Hermes' form.
        calculator: the tool and its parameter, if a call is an expression in the embedded models'
            marks.
    """

    constraint: Constraint
    tags: bool = False
    calculator: tuple[str, str] | None = None


def template_tools(model: LanguageModel) -> str:
    """Return the model's chat template if it writes tools; else an empty text."""
    return model.tool_template if offers(model, KnowsTools) else ""


def has_call_marks(model: LanguageModel) -> bool:
    """Return True if the marks of a calculator's call are special tokens of the model."""
    try:
        ids = [encode_plain(model, mark) for mark in CALL_MARKS]
    except DecodingError:
        return False
    return all(len(one) == 1 and not model.token_bytes(one[0]) for one in ids)


def syntax_of(model: LanguageModel, tools: Tools, *, thinks: bool, limit: int) -> CallSyntax:
    """Return the syntax in which a run calls tools.

    Args:
        thinks: True if the method itself separates the thinking from the answer.
        limit: limit on new tokens.

    Raises:
        ApiError: the model may choose whether it calls, and its template knows no tools.
    """
    parameter = _expression_parameter(tools.allowed) if has_call_marks(model) else ""
    if parameter:
        return _calculator(model, tools, parameter, thinks)
    template = template_tools(model)
    tags = OPEN in template and "<function=" not in template
    if not tags and not tools.must:
        why = (
            "writes calls in a form that this server doesn't read"
            if template
            else f"calls one tool by itself, named {CALCULATOR}, with one string"
            if has_call_marks(model)
            else "has no chat template that knows tools"
        )
        raise unsupported(
            "tools", f"{model.model_id} {why}; set tool_choice to required, or to a function."
        )
    if not tags:
        # A model that was never trained on calls may never close a string or a list, nor end its
        # calls.
        allowed = [replace(t, parameters=bounded(t.schema, limit)) for t in tools.allowed]
        tools = replace(tools, allowed=tuple(allowed), several=False)
    return CallSyntax(_json_calls(model, tools, tags, thinks), tags)


def _expression_parameter(tools: Sequence[Tool]) -> str:
    """Return the parameter for a calculator's expression; empty if the tools are no calculator."""
    properties = tools[0].parameters.get("properties", {})
    if len(tools) > 1 or tools[0].name != CALCULATOR or len(properties) != 1:
        return ""
    ((name, schema),) = properties.items()
    # Another rule for the text, such as a pattern, is kept by a JSON call.
    plain = isinstance(schema, dict) and schema.keys() <= {"type", "title", "description"}
    return name if plain and schema.get("type") == "string" else ""


def _calculator(model: LanguageModel, tools: Tools, parameter: str, thinks: bool) -> CallSyntax:
    call, result = (_terminal(model, mark) for mark in (CALL, RESULT))
    body = f"{call} {_EXPRESSION} {result}"
    if not tools.must:
        body = f"{_thought(model, thinks)} (TEXT | TEXT? {body})"
    grammar = f"start: {body}\nTEXT: {_ANY_TEXT}\n"
    return CallSyntax(Constraint("lark", grammar), calculator=(tools.allowed[0].name, parameter))


def _json_calls(model: LanguageModel, tools: Tools, tags: bool, thinks: bool) -> Constraint:
    """Return the constraint for calls as JSON objects."""
    opening = _terminal(model, OPEN) if tags else ""
    closing = f'"\\n" {_terminal(model, CLOSE)}' if tags else ""
    begin = '"\\n' if tags else '"'
    names = [
        f'{begin}{{\\"name\\": \\"{tool.name}\\", \\"arguments\\": " args{at} "}}"'
        for at, tool in enumerate(tools.allowed)
    ]
    rules = [
        f"args{at}: %json {json.dumps({**tool.schema, 'x-guidance': _SPACES})}"
        for at, tool in enumerate(tools.allowed)
    ]
    more = f'("\\n" {opening} call){{0,{MOST_CALLS - 1}}}' if tools.several else ""
    rules.append(f"call: ({' | '.join(names)}) {closing}")
    if tools.must:
        start = f"{opening} call {more}"
    else:
        rules += [f"TEXT: {_ANY_TEXT}", _first(opening)]
        start = f"{_thought(model, thinks)} (TEXT | first call {more})"
    return constraint_of("lark", "\n".join([f"start: {start}", *rules, ""]), "tools")


def _first(opening: str) -> str:
    """Return the rule for the text before the first call, up to the opening tag."""
    # A lazy lexeme ends at the first tag; a special token is no text anyway.
    return f"first: TEXT? {opening}" if opening[0] == "<" else f"first[lazy]: TEXT {opening}"


def _thought(model: LanguageModel, thinks: bool) -> str:
    """Return the optional thinking before an answer, where its marks are special tokens."""
    start, end = marks_of(model)
    marks = [_terminal(model, mark) for mark in (start, end)] if start and end else []
    if thinks or not marks or not all(mark[0] == "<" for mark in marks):
        return ""
    return f"({marks[0]} TEXT {marks[1]})?"


def _terminal(model: LanguageModel, text: str) -> str:
    """Return a text as a terminal of Lark: the special token of this name, or the text."""
    ids = encode_plain(model, text)
    special = len(ids) == 1 and not model.token_bytes(ids[0])
    return f"<[{ids[0]}]>" if special else json.dumps(text)


def calculator_turn(model: LanguageModel, messages: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Return the text with which a conversation goes on after a calculator's result, and the number
    of messages that it stands for; an empty text if the conversation ends otherwise.
    """
    if len(messages) < 3 or messages[-1]["role"] != "tool" or not has_call_marks(model):
        return "", 0
    calls = messages[-2].get("tool_calls", ())
    if len(calls) != 1 or calls[0]["function"]["name"] != CALCULATOR:
        return "", 0
    expression, result = "".join(map(str, calls[0]["function"]["arguments"].values())), messages[-1]
    before, text = messages[-2]["content"], str(result["content"])
    if any(re.search(r"<|\n\n", part) for part in (expression, text, before)):
        # Nothing that a client's tool wrote may become a special token.
        return "", 0
    return f"{before}{CALL}{expression}{RESULT}{text}{CALL_MARKS[2]}", 2
