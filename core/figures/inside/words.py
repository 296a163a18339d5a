"""Captions of figures that look inside a run."""

from __future__ import annotations

from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.figures.base.labels import settings_caption


def step_caption(trace: Trace, index: int) -> str:
    """The run's settings, and which of its steps; plain text."""
    return f"{settings_caption(trace)} · step {nth(index)}"
