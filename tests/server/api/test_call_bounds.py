"""Bounds of a call's arguments: a text that goes on wherever it may still ends."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
from llguidance import LLMatcher, LLTokenizer

from core.decoding.constraints.value import Constraint, limits
from core.server.api.request.bounds import bounded

PARTS = {"s": {"type": "string"}}
SCHEMAS: dict[str, Any] = {
    "a pattern": {"type": "string", "pattern": "^.*$"},
    "a pattern of long texts": {"type": "string", "pattern": "^(a{100})+$"},
    "a pattern beside a length": {"type": "string", "pattern": "^[a-z]+$", "minLength": 60},
    "a format": {"type": "string", "format": "uri"},
    "a format of long texts": {"type": "string", "format": "uuid"},
    "several types": {"type": ["integer", "string", "null"]},
    "an integer without maximum": {"type": "integer", "minimum": 1},
    "an integer near the largest": {"type": "integer", "minimum": 2**63 - 5},
    "a number without minimum": {"type": "number", "maximum": -7.5},
    "a number between two": {"type": "number", "minimum": 0, "maximum": 1},
    "a number in a small range": {"type": "number", "minimum": 1e-7, "maximum": 2e-7},
    "multiples": {"type": "number", "multipleOf": 0.5},
    "any value": {},
    "no rule": True,
    "a list of any values": {"type": "array"},
    "a map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "more properties": {
        "type": "object",
        "properties": {"x": {"type": "string"}},
        "additionalProperties": True,
    },
    "a required property without schema": {"type": "object", "required": ["q"]},
    "lengths of a part": {"type": "string", "anyOf": [{"minLength": 2}, {"maxLength": 4}]},
    "a reference": {"$ref": "#/$defs/s"},
}


def walk(schema: dict[str, Any], seed: int) -> str:
    """A text of the schema; its values go on wherever they may."""
    grammar = Constraint("json", json.dumps(schema)).grammar(forcing=False)
    matcher = LLMatcher(LLTokenizer("byte"), grammar, log_level=0, limits=limits())
    draw, text = random.Random(seed), b""
    while not matcher.is_stopped():
        mask = matcher.compute_bitmask()
        allowed = [byte for byte in range(256) if mask[byte >> 3] >> (byte & 7) & 1]
        on = [byte for byte in allowed if chr(byte).isalnum() and byte < 128]
        others = [byte for byte in allowed if byte not in b'"]}' and 32 < byte < 127]
        byte = draw.choice(on or others or allowed)
        matcher.consume_token(byte)
        text += bytes([byte])
        assert len(text) < 3_000, text[:100]
    return text.decode()


def _tool(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "$defs": PARTS}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_call_comes_to_an_end_and_keeps_to_its_schema(name: str) -> None:
    schema = _tool(SCHEMAS[name])
    for seed in range(5):
        jsonschema.validate(json.loads(walk(bounded(schema, 160), seed)), schema)


def test_a_function_without_parameters_gets_none() -> None:
    assert walk(bounded({"type": "object", "properties": {}}, 160), 0) == "{}"


@pytest.mark.parametrize("limit", [80, 400, 2_000])
def test_a_free_object_is_shorter_than_the_limit_on_tokens(limit: int) -> None:
    assert all(len(walk(bounded({"type": "object"}, limit), seed)) <= limit for seed in range(9))


def test_without_bounds_a_call_goes_on() -> None:
    with pytest.raises(AssertionError):
        walk(_tool({"type": "string", "pattern": "^.*$"}), 0)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^(ab){5000}$"},
        {"type": "string", "pattern": "^a{100}$", "minLength": 100},
        {"type": "number", "minimum": -1e12, "maximum": 1e12},
        {"type": "object", "patternProperties": {"^x+$": {"type": "string"}}},
        {"type": "array", "minItems": 10, "items": {"type": "boolean"}},
        {"allOf": [{"type": "object", "required": ["x"]}, {"type": "object", "required": ["y"]}]},
    ],
)
def test_no_bound_makes_a_schema_that_nothing_keeps(schema: Any) -> None:
    Constraint("json", json.dumps(bounded(_tool(schema), 160)))


def test_a_wrong_keyword_is_left_to_the_constraint() -> None:
    for rule in ({"required": [["a"], 5]}, {"minItems": "x"}, {"maximum": True}, {"type": 5}):
        assert bounded(
            {"type": "object", "properties": {"a": {"const": 1}}, "$defs": {"a": rule}}, 160
        )
