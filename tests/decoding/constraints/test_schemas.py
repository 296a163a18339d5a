"""Finished texts under random JSON schemas are valid by `jsonschema`."""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import pytest
import torch

from core.decoding.constraints.grammar import grammars_of
from core.decoding.constraints.value import Constraint
from tests.depth import cases, slow
from tests.models.builders import random_language_model

SCHEMAS = 500
LONGEST = 400
WORDS = ("name", "age", "x", "is old", "né")


def _schema(dice: random.Random, depth: int = 0) -> dict[str, Any]:
    """A random schema that some value satisfies, of keywords that llguidance has."""
    kinds = ["string", "integer", "number", "boolean", "null", "enum", "const", "pattern", "format"]
    kinds += ["object", "array", "anyOf", "oneOf", "allOf", "ref", "tuple"] if depth < 3 else []
    below = depth + 1
    match dice.choice(kinds):
        case "string":
            low = dice.randint(0, 3)
            return {"type": "string", "minLength": low, "maxLength": low + dice.randint(0, 4)}
        case "pattern":
            return {"type": "string", "pattern": dice.choice(["^[a-c]{2}$", "^a+b?$", "^x|y$"])}
        case "format":
            return {"type": "string", "format": dice.choice(["date", "ipv4", "uuid"])}
        case "integer":
            low = dice.randint(-20, 20)
            return {"type": "integer", "minimum": low, "maximum": low + dice.randint(0, 99)}
        case "number":
            low = dice.randint(-5, 5)
            return {"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + 3}
        case "enum":
            return {"enum": dice.sample(["a", 1, None, True, 2.5, ["b"], {"c": 0}], 3)}
        case "const":
            return {"const": dice.choice(["fixed", 7, None, [1, 2], {"k": "v"}])}
        case "object":
            names = dice.sample(WORDS, dice.randint(1, 3))
            schema: dict[str, Any] = {
                "type": "object",
                "properties": {name: _schema(dice, below) for name in names},
                "required": dice.choice([names, names[1:], []]),
                "additionalProperties": dice.choice([False, False, {"type": "boolean"}]),
            }
            if schema["required"] == names:
                schema["maxProperties"] = len(names) + 1
            return schema
        case "array":
            low = dice.randint(0, 2)
            bounds = {"minItems": low, "maxItems": low + dice.randint(0, 2)}
            return {"type": "array", "items": _schema(dice, below), **bounds}
        case "tuple":
            items = [_schema(dice, below) for _ in range(2)]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": 2}
        case "anyOf":
            return {"anyOf": [_schema(dice, below), _schema(dice, below)]}
        case "oneOf":
            return {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "boolean"}]}
        case "allOf":
            return {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 8}]}
        case "ref":
            return {"$ref": "#/$defs/part"}
        case kind:
            return {"type": kind}


def _sampled(constraint: Constraint, dice: torch.Generator) -> tuple[bytes, bool]:
    """Draw a text under the constraint, ending it as soon as it may end or at `LONGEST` tokens."""
    model = random_language_model()
    grammar, ids = grammars_of(model).start(constraint), list[int]()
    while not grammar.complete and len(ids) < LONGEST:
        allowed = grammar.allowed(model.vocab_size).float()
        assert allowed.any(), (constraint, ids)
        ids.append(int(torch.multinomial(allowed, 1, generator=dice)))
        grammar.read(ids)
        assert not grammar.left
    return b"".join(map(model.token_bytes, ids)), grammar.complete


@pytest.mark.parametrize("first", [0, slow(1), slow(2), slow(3), slow(4)])
def test_what_finished_is_valid(first) -> None:
    finished = 0
    for case in range(first * SCHEMAS // 5, (first + 1) * SCHEMAS // 5):
        dice = random.Random(case)
        schema = {**_schema(dice), "$defs": {"part": {"type": "string", "maxLength": 3}}}
        generator = torch.Generator().manual_seed(case)
        for _ in range(cases(5, 2)):
            text, complete = _sampled(Constraint("json", json.dumps(schema)), generator)
            if complete:
                finished += 1
                jsonschema.validate(
                    json.loads(text), schema, format_checker=jsonschema.FormatChecker()
                )
    assert finished > 150
