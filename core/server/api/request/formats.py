"""Parameters that constrain an answer's text: OpenAI's formats, and vLLM's structured outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ....decoding.constraints.value import Constraint
from ....decoding.errors import ConfigError
from ....decoding.validation import brief
from ..endpoints import Endpoint
from ..errors import ApiError, unsupported
from .fields import Fields

# The parameters, each of which sets the constraint.
NAMES = ("response_format", "text", "structured_outputs")
TEXT_FORMAT = {"type": "text"}
# Of a format or a function.
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME_WORDS = "up to 64 letters, digits, _ and -"
_TYPES = ("text", "json_object", "json_schema")
_RULES = ("json", "regex", "choice", "grammar", "json_object")
# llguidance's converter is quadratic: of hostile texts of this length, the slowest took 1.1 s.
_MAX_GBNF = 10_000
# llguidance's own test for Lark is quadratic in blank lines.
_LARK = re.compile(r"^[^\S\n]*(%llguidance\b|start\s*:)", re.MULTILINE)


def read_formats(fields: Fields, endpoint: Endpoint) -> dict[str, Constraint]:
    """Return the constraint of each parameter that sets one.

    Raises:
        ApiError: a wrong value, a grammar that llguidance refuses, or a former name of vLLM's.
    """
    for rule in ("json", "regex", "choice", "grammar"):
        if fields.has(f"guided_{rule}"):
            why = f"vLLM removed it in 0.12; give structured_outputs with {rule}."
            raise unsupported(f"guided_{rule}", why)
    if endpoint == "responses":
        constraints = {"text": _of_text(fields)}
    else:
        constraints = {"response_format": _of_format(fields, "response_format", "json_schema")}
    constraints["structured_outputs"] = _of_structured_outputs(fields)
    return {name: found for name, found in constraints.items() if found is not None}


def text_format(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the format of a response's text, as its request gave it."""
    written = (body.get("text") or {}).get("format") or TEXT_FORMAT
    if written["type"] != "json_schema":
        return {"type": written["type"]}
    return {"description": None, "strict": False, **written}


def constraint_of(kind: Any, text: str, name: str) -> Constraint:
    """Return a constraint; raise ApiError in the name of its parameter if the text is wrong."""
    try:
        return Constraint(kind, text)
    except ConfigError as error:
        raise _refused(error, name) from None


def _refused(error: ConfigError, name: str) -> ApiError:
    return ApiError(error.sentence(name), param=name, code="invalid_value")


def _of_text(fields: Fields) -> Constraint | None:
    value = fields.object("text")
    if value is None:
        return None
    text = Fields(value, "text.")
    text.inert("verbosity", "medium")
    constraint = _of_format(text, "format", "")
    text.finish(())
    return constraint


def _of_format(fields: Fields, name: str, inside: str) -> Constraint | None:
    """Read a format of OpenAI's.

    Args:
        inside: the member that holds name and schema; empty if they stand beside the type.
    """
    value = fields.object(name)
    if value is None:
        return None
    where = f"{fields.label(name)}."
    written = Fields(value, where)
    kind = written.choice("type", _TYPES)
    if kind is None:
        raise written.wrong("type", f"is missing: one of {', '.join(_TYPES)}")
    constraint = None
    if kind == "json_object":
        constraint = Constraint("json", '{"type": "object"}')
    elif kind == "json_schema":
        held = written
        if inside:
            where = f"{where}{inside}."
            members = written.object(inside)
            if members is None:
                raise written.wrong(inside, "is missing: give an object with name and schema")
            held = Fields(members, where)
        if not NAME.fullmatch(called := held.required_text("name")):
            raise held.wrong("name", f"must be {NAME_WORDS}, got {brief(called)}")
        held.text("description")
        # The schema is kept in either case.
        held.flag("strict")
        schema = held.object("schema")
        if schema is None:
            raise held.wrong("schema", "is missing: give a JSON schema")
        constraint = constraint_of("json", json.dumps(schema), f"{where}schema")
        held.finish(())
    written.finish(())
    return constraint


def _of_structured_outputs(fields: Fields) -> Constraint | None:
    value = fields.object("structured_outputs")
    if value is None:
        return None
    options = Fields(value, "structured_outputs.")
    given = [rule for rule in _RULES if options.any(rule) not in (None, False)]
    if len(given) != 1:
        raise fields.wrong("structured_outputs", f"must hold exactly one of {', '.join(_RULES)}")
    constraint = _rule(options, given[0])
    options.inert("disable_fallback", False, True)
    options.inert("disable_additional_properties", False)
    options.finish(("structural_tag",))
    return constraint


def _rule(options: Fields, rule: str) -> Constraint:
    name = f"structured_outputs.{rule}"
    if rule in ("json", "json_object"):
        schema = {"type": "object"} if options.flag("json_object") else options.any("json")
        return constraint_of("json", _with_whitespace(options, schema, name), name)
    if rule == "choice":
        choices = options.items(rule)
        if not choices or not all(isinstance(text, str) and text for text in choices):
            raise options.wrong(rule, "must be a list of strings that aren't empty")
        return _of_choices(choices, name)
    text = options.required_text(rule)
    if rule == "regex":
        return constraint_of("regex", text, name)
    return constraint_of("lark", _as_lark(text, options), name)


def _of_choices(choices: Sequence[str], name: str) -> Constraint:
    try:
        return Constraint.of_choices(choices)
    except ConfigError as error:
        raise _refused(error, name) from None


def _with_whitespace(options: Fields, schema: Any, name: str) -> str:
    """Return the text of a schema with vLLM's rules for whitespace, in llguidance's words."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    compact, pattern = options.flag("disable_any_whitespace"), options.text("whitespace_pattern")
    rules: dict[str, Any] = {"item_separator": ",", "key_separator": ":"} if compact else {}
    rules |= {"whitespace_pattern": pattern} if pattern is not None else {}
    if not rules:
        return text
    # The constraint refuses what is no JSON.
    constraint_of("json", text, name)
    parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise options.wrong("json", f"must be an object, got {brief(parsed)}")
    return json.dumps({**parsed, "x-guidance": rules})


def _as_lark(text: str, options: Fields) -> str:
    """Return a grammar in Lark; llama.cpp's GBNF, which vLLM takes too, is converted."""
    from llguidance.gbnf_to_lark import gbnf_to_lark

    if "::=" not in text or _LARK.search(text):
        # The converter takes a Lark grammar without `start` for GBNF.
        return text
    if len(text) > _MAX_GBNF:
        raise options.wrong("grammar", f"must hold at most {_MAX_GBNF:,} characters of GBNF")
    try:
        return str(gbnf_to_lark(text))
    except Exception as error:  # The converter has no type of error for each fault.
        raise options.wrong(
            "grammar", f"is neither a Lark grammar nor GBNF: {brief(str(error))}"
        ) from None
