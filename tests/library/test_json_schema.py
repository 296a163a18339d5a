"""The published JSON Schema of traces: made from the layout, and met by every stored trace."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from core.traces.schema.json_schema import trace_schema

ROOT = Path(__file__).parents[2]
PUBLISHED = json.loads((ROOT / "docs/trace.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(PUBLISHED)


def _stored() -> list[Any]:
    files = sorted((ROOT / "assets/traces").glob("*.json*"))
    texts = [file.read_text(encoding="utf-8") for file in files]
    made = [text.splitlines() if "\n{" in text else [text] for text in texts]
    contents = [json.loads(line) for lines in made for line in lines if line]
    return [content for content in contents if content["schema"] == PUBLISHED["title"]]


def test_the_published_schema_is_that_of_the_layout() -> None:
    """`python -m core.traces.schema.json_schema > docs/trace.schema.json` writes it."""
    Draft202012Validator.check_schema(PUBLISHED)
    assert trace_schema() == PUBLISHED


def test_every_stored_trace_meets_the_schema() -> None:
    traces = _stored()
    methods = {trace["config"]["method"] for trace in traces}
    assert len(traces) > 30 and methods >= {"sampling", "beam", "speculative", "diffusion"}
    for trace in traces:
        VALIDATOR.validate(trace)


def _without(name: str) -> Callable[[Any], object]:
    return lambda trace: trace.pop(name)


SPOILED: dict[str, Callable[[Any], object]] = {
    "a missing field": _without("token_ids"),
    "a missing version": _without("version"),
    "an unknown field": lambda trace: trace.update(more=1),
    "a wrong type": lambda trace: trace.update(text=3),
    "a wrong number": lambda trace: trace["steps"][1].update(entropy=-1.0),
    "a step of no kind": lambda trace: trace["steps"][1].update(kind="none"),
    "an unknown column": lambda trace: trace["steps"][1]["candidates"].update(more=[]),
    "an unknown method": lambda trace: trace["config"].update(method="none"),
    "a setting of another method": lambda trace: trace["config"].update(num_beams=3),
    "a wrong setting of the shaping": lambda trace: trace["config"]["shaping"].update(top_p="1"),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_a_spoiled_trace_is_refused(fault: str) -> None:
    stored = json.loads((ROOT / "assets/traces/decode.json").read_text(encoding="utf-8"))
    spoiled = copy.deepcopy(stored)
    SPOILED[fault](spoiled)
    assert VALIDATOR.is_valid(stored) and not VALIDATOR.is_valid(spoiled)
