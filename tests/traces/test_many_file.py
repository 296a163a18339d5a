"""Files of many runs: runs of beam search and of drafts are refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.decoding.errors import TraceError
from core.export.stored import read_stored

TRACES = Path(__file__).parents[2] / "assets/traces"


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [("beam", "length_penalty", 0.5), ("speculative", "draft_length", 3)],
)
def test_runs_without_single_tokens_are_refused(name: str, setting: str, value: float) -> None:
    run = json.loads((TRACES / f"{name}.json").read_bytes())
    other = {**run, "config": {**run["config"], setting: value}}
    with pytest.raises(TraceError, match="Many runs are of"):
        read_stored("".join(f"{json.dumps(row)}\n" for row in (run, other)).encode())
