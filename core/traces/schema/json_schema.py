"""JSON Schema of a trace file, made from the records' layout.

`python -m core.traces.schema.json_schema > docs/trace.schema.json` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema as cs

from ...decoding.config import MethodConfig
from ...decoding.methods import METHODS
from ...decoding.record.notes import Note
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import Shaping
from .trace import trace_layout

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean"}


class _Schemas(GenerateJsonSchema):
    """Writer of each record as a definition of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, JsonSchemaValue] = {}

    def handle_ref_overrides(self, json_schema: JsonSchemaValue) -> JsonSchemaValue:
        return json_schema  # A reference has no keys beside it.

    def field_title_should_be_set(self, _schema: object) -> bool:
        return False

    def function_wrap_schema(self, schema: cs.WrapValidatorFunctionSchema) -> JsonSchemaValue:
        metadata = schema.get("metadata")
        if not metadata:  # A table: an object of columns.
            return _closed(self.generate_inner(schema["schema"]), {})
        name = metadata["record"].__name__
        if name not in self.records:
            self.records[name] = {}
            self.records[name] = _closed(
                self.generate_inner(schema["schema"]), metadata["constants"]
            )
        return {"$ref": f"#/$defs/{name}"}

    def function_plain_schema(self, schema: cs.PlainValidatorFunctionSchema) -> JsonSchemaValue:
        record = schema["metadata"]["record"]
        if record.__name__ not in self.records:
            self.records[record.__name__] = _CODECS[record]
        return {"$ref": f"#/$defs/{record.__name__}"}

    def tagged_union_schema(self, schema: cs.TaggedUnionSchema) -> JsonSchemaValue:
        return {"oneOf": [self.generate_inner(choice) for choice in schema["choices"].values()]}


def _closed(made: JsonSchemaValue, constants: Mapping[str, object]) -> JsonSchemaValue:
    """Return the schema of an object with these constants, and without other fields."""
    made["properties"] = {n: {"const": v} for n, v in constants.items()} | made["properties"]
    made["required"] = [*constants, *made.get("required", [])]
    return made | {"additionalProperties": False}


def _settings(config: type, constants: Mapping[str, object] = {}) -> JsonSchemaValue:
    """Return the schema of settings; a file may leave out those at their defaults."""
    properties: dict[str, Any] = {name: {"const": value} for name, value in constants.items()}
    hints = get_type_hints(config)
    for field in fields(config):
        kind = _TYPES.get(hints[field.name])
        properties[field.name] = {"type": kind} if kind else {}
    return {
        "type": "object",
        "properties": properties,
        "required": list(constants),
        "additionalProperties": False,
    }


def _method(config: type[MethodConfig]) -> JsonSchemaValue:
    made = _settings(config, {"method": config.method})
    made["properties"]["shaping"] = {"$ref": "#/$defs/Shaping"}
    return made


_TEXT = {"type": "string"}
_CODECS: dict[Any, JsonSchemaValue] = {
    MethodConfig: {"oneOf": [_method(method.config) for method in METHODS]},
    # Old files hold a note's words alone.
    Note: {"anyOf": [_TEXT, _closed({"properties": {"key": _TEXT, "words": _TEXT}}, {})]},
}


def trace_schema() -> JsonSchemaValue:
    """Return the JSON Schema of a trace file, with each record under `$defs`.

    It declares fields, types and bounds; `read_trace` also checks that the parts agree.
    """
    schemas = _Schemas()
    top = schemas.generate_inner(trace_layout().schema)
    definitions = {**schemas.records, "Shaping": _settings(Shaping)}
    return {
        "$schema": _DIALECT,
        "title": Trace.schema,
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


if __name__ == "__main__":
    print(json.dumps(trace_schema(), indent=1, ensure_ascii=False))
