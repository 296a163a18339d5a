"""Reading a step of the sampling lab, or any file of the app, that anyone may have written."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from core.decoding.autoregressive.config import Sampling
from core.decoding.errors import TraceError
from core.decoding.lab.types import LabExample
from core.decoding.record.trace import Trace
from core.decoding.serial import require_header
from core.decoding.shaping.config import KNOB_RANGES, Shaping
from core.traces.file import parsed, trace_of
from core.traces.schema.lab import lab_layout


def read_any(source: bytes | str | Path, *, max_bytes: int | None = None) -> Trace | LabExample:
    """Validate and read a run's trace or a step of the lab, whichever the file says it is.

    Args:
        source: the file's bytes, or its path.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    data = parsed(source, max_bytes)
    if isinstance(data, dict) and data.get("schema") == LabExample.schema:
        return lab_of(data)
    return trace_of(data)


def lab_of(data: Any) -> LabExample:
    """The step of the lab in a file that was parsed.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    require_header(data, LabExample)
    example = lab_layout().read(data)
    if example.step.config != _plain(example.step.config):
        raise TraceError("The file's settings are none that the lab's knobs can hold.")
    return example


def _plain(config: Any) -> Sampling:
    """The config with nothing set but what the lab sets."""
    values = {field.name: getattr(config.shaping, field.name) for field in fields(Shaping)}
    shaping = Shaping(**{name: value for name, value in values.items() if name in KNOB_RANGES})
    return Sampling(shaping=shaping, seed=config.seed, draw=config.draw)
