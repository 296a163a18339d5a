"""The tab of Read that looks for a watermark in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.decoding.reading.watermarks import DETECTED_BIAS, Opening
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS, Shaping
from core.decoding.shaping.settings.watermarks import SCHEMES, keys_in
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Number, Read, Text, declare, value
from pages.ui.widgets.controls.options import Segments

_KEY = SETTINGS["watermark_key"]
_GREEN = "green"
_KEYS = ("mark_kind", "mark_key", "mark_share", "mark_scheme", "mark_context", "mark_keys")


def _is_green(read: Read) -> bool:
    return bool(read("mark_kind") == _GREEN)


declare(
    Segments("mark_kind", N_("Watermark"), _GREEN, {_GREEN: N_("Green list"),
        "synthid": "SynthID"}),
    Number("mark_key", N_("Key"), _KEY.off, 1, 2**53 - 1, help=_KEY.help, acts=_is_green),
    Number("mark_share", N_("Green share"), 0.25, 0.01, 0.99, 0.05, acts=_is_green,
        help=SETTINGS["watermark_ratio"].help),
    Segments("mark_scheme", N_("Scheme"), SCHEMES[0], {scheme: scheme for scheme in SCHEMES},
        acts=_is_green),
    Number("mark_context", N_("Context width"), 1, 1, 100, acts=_is_green,
        help=SETTINGS["watermark_context"].help),
    Text("mark_keys", N_("SynthID keys"), ",".join(map(str, SETTINGS["synthid_keys"].off)),
        acts=lambda read: not _is_green(read), help=SETTINGS["synthid_keys"].help),
)  # fmt: skip


def shaping() -> Shaping:
    """Return the watermark that the controls describe.

    Raises:
        ConfigError: the keys are no whole numbers.
    """
    if not _is_green(value):
        keys = tuple(keys_in(str(value("mark_keys"))))
        return Shaping(synthid_depth=max(len(keys), 1), synthid_keys=keys)
    return Shaping(
        watermark_bias=DETECTED_BIAS,
        watermark_key=int(value("mark_key")),
        watermark_ratio=float(value("mark_share")),
        watermark_scheme=str(value("mark_scheme")),
        watermark_context=int(value("mark_context")),
    )


def draw_controls() -> None:
    """Draw the controls of the watermark."""
    with st.container(
        key=platform.key("mark-row"), horizontal=True, vertical_alignment="bottom", gap="small"
    ):
        control.draw(*_KEYS)


def read(trace: Trace, marks: Shaping) -> Callable[[Job], Any]:
    """Return the work that reads the text with a watermark's settings."""

    def make(job: Job) -> tuple[Trace, Opening]:
        from core.decoding.reading.read import opening_of, read_marked

        model = jobs.load_for(job, trace)
        marked: Trace = job.compute(
            tr("Looking for the watermark"), read_marked, model, trace, marks
        )
        return marked, opening_of(model, marked)

    return make
