"""Read an untrusted file with a step of the sampling lab, or with a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..decoding.autoregressive.config import Sampling
from ..decoding.errors import TraceError
from ..decoding.lab.types import LabExample
from ..decoding.record.trace import Trace
from ..decoding.record.tree import RunTree
from ..decoding.serial import require_header
from ..decoding.shaping.config import SETTINGS, Shaping
from ..language import N_, Message
from .bounded_file import bytes_of
from .file import MAX_BYTES, MAX_FILE_BYTES, parsed, trace_of
from .foreign_trace import read_answer
from .schema.lab import lab_layout
from .tree_file import tree_of


def read_any(
    source: bytes | str | Path, *, max_bytes: int | None = None
) -> Trace | LabExample | RunTree:
    """Validate and read a run's trace, a tree of runs or a lab step, by the file's schema, or the
    answer of another tool.

    Args:
        source: the file's bytes, or its path.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    most = max_bytes or (MAX_BYTES if isinstance(source, bytes) else MAX_FILE_BYTES)
    raw = bytes_of(source, most, Message("trace file"), TraceError)
    if (answer := read_answer(raw)) is not None:
        return answer
    data = parsed(raw, most)
    if isinstance(data, dict) and data.get("schema") == LabExample.schema:
        return lab_of(data)
    if isinstance(data, dict) and data.get("schema") == RunTree.schema:
        return tree_of(data)
    return trace_of(data)


def lab_of(data: Any) -> LabExample:
    """Return the lab step in a parsed file.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    require_header(data, LabExample)
    example = lab_layout().read(data)
    if example.step.config != _plain(example.step.config):
        raise TraceError(N_("The file's settings are none that the lab's knobs can hold."))
    return example


def _plain(config: Any) -> Sampling:
    """Return the config with only the settings that the lab can change."""
    names = (name for name, spec in SETTINGS.items() if spec.slider or spec.lines)
    shaping = Shaping(**{name: getattr(config.shaping, name) for name in names})
    return Sampling(shaping=shaping, seed=config.seed, draw=config.draw)
