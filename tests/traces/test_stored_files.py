"""Files that earlier versions wrote are read as before, and written again as they were.

A setting that came later stands in the new file at the value that changes nothing, a note has its
key.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import Trace, check, read_trace
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.record.notes import read_note
from core.decoding.shaping.config import SETTINGS
from core.traces.lab import lab_bytes, load_lab
from core.traces.lab_file import read_any

DATA = Path(__file__).parent / "data"
EXAMPLES = Path(__file__).parents[2] / "assets" / "traces"
RUNS = [
    *(path for path in sorted(DATA.glob("*.json")) if path.stem != "lab"),
    *(EXAMPLES / f"{name}.json" for name in ("decode", "beam", "speculative")),
]


def with_later_settings(stored: bytes) -> bytes:
    """The file with the settings that it lacks, each where it is written today."""

    def completed(value: object) -> object:
        if isinstance(value, list):
            return [completed(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.keys() & SETTINGS.keys() and "temperature" in value:
            off = {name: spec.off for name, spec in SETTINGS.items()}
            assert value.keys() <= off.keys()
            return {name: value.get(name, off[name]) for name in SETTINGS}
        if value.get("method") == "speculative":
            now = config_to_dict(config_from_dict(value))
            value = {name: value.get(name, now[name]) for name in now}
        if isinstance(notes := value.get("notes"), list):
            value = value | {"notes": [read_note(note)._asdict() for note in notes]}
        return {key: completed(item) for key, item in value.items()}

    content = json.dumps(completed(json.loads(stored)), ensure_ascii=False, separators=(",", ":"))
    return content.encode()


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_stored_run_is_read_as_before_and_written_to_the_byte(path: Path) -> None:
    stored = path.read_bytes()
    trace = read_trace(stored)
    assert trace == Trace.load(path) == read_any(stored)
    assert trace.to_json().encode() == with_later_settings(stored)
    assert all(outcome.passed for outcome in (*trace.checks, *check(trace)))


@pytest.mark.parametrize("path", [DATA / "lab.json", EXAMPLES / "lab.json"])
def test_a_stored_step_of_the_lab_is_read_as_before_and_written_to_the_byte(path: Path) -> None:
    stored = path.read_bytes()
    example = load_lab(path)
    assert example == read_any(stored)
    assert lab_bytes(example) == with_later_settings(stored)


def test_every_method_has_a_stored_run() -> None:
    methods = {json.loads(path.read_bytes())["config"]["method"] for path in RUNS}
    assert methods == {"greedy", "sampling", "beam", "speculative", "reasoning"}
