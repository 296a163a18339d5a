"""Captions of the figures on the inside of a run."""

from __future__ import annotations

from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...language import tr
from ..base.labels import settings_caption


def step_caption(trace: Trace, index: int) -> str:
    """Return the run's settings and the number of the step; plain text."""
    return f"{settings_caption(trace)} · {tr('step {step}', step=nth(index))}"
