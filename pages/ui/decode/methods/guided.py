"""Second forwards and watermarks on the Decode page: settings without a knob, and the detector."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS, WATERMARKS
from core.decoding.shaping.settings.guidance import LAYERS
from core.decoding.shaping.settings.watermarks import SCHEMES, keys_in
from core.evaluation.false_positives import false_positive_words
from core.figures.base.labels import visible_token
from core.language import N_, tr
from pages.ui import platform
from pages.ui.decode import parts
from pages.ui.decode.state import DecodeView
from pages.ui.run import jobs
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.view import select_step
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Number, Read, Text, declare, value
from pages.ui.widgets.controls.options import Segments

_EDITED = "edited"


def _is_on(name: str) -> Callable[[Read], bool]:
    key, off = SETTINGS[name].key, SETTINGS[name].off
    return lambda read: bool(read(key) != off)


def _number(name: str) -> Number:
    spec = SETTINGS[name]
    assert spec.interval is not None
    low, high = int(spec.interval.low), int(spec.interval.high)
    return Number(
        name, spec.label, spec.off, low, high, field=f"shaping.{name}", help=spec.help,
        acts=_is_on(spec.part_of),
    )  # fmt: skip


_SCALE, _NEGATIVE = SETTINGS["guidance_scale"], SETTINGS["negative_prompt"]
_LAYERS, _SHARE = SETTINGS["dola_layers"], SETTINGS["dola_alpha"]
_SECOND = (
    *declare(
        Number(
            "guidance_scale",
            _SCALE.label,
            1.0,
            0.0,
            100.0,
            0.1,
            field="shaping.guidance_scale",
            help=_SCALE.help,
        )
    ),
    *declare(
        Text(
            "negative_prompt",
            _NEGATIVE.label,
            "",
            field="shaping.negative_prompt",
            help=_NEGATIVE.help,
            acts=lambda read: bool(read("guidance_scale") != 1.0),
        )
    ),
    *declare(
        Text(
            "dola_layers",
            _LAYERS.label,
            "",
            field="shaping.dola_layers",
            max_chars=200,
            placeholder=N_("high, low, or 1,3"),
            form=(LAYERS, N_("high, low, or numbers with commas between")),
            help=_LAYERS.help,
        )
    ),
    *declare(
        Number(
            "dola_alpha",
            _SHARE.label,
            0.1,
            0.01,
            1.0,
            0.05,
            field="shaping.dola_alpha",
            help=_SHARE.help,
            acts=lambda read: bool(read("dola_layers")),
        )
    ),
)
_MARKS = (
    *declare(_number("watermark_key")),
    *declare(
        Segments(
            "watermark_scheme",
            SETTINGS["watermark_scheme"].label,
            SCHEMES[0],
            {scheme: scheme for scheme in SCHEMES},
            field="shaping.watermark_scheme",
            help=SETTINGS["watermark_scheme"].help,
            acts=_is_on("watermark_bias"),
        )
    ),
    *declare(_number("watermark_context")),
    *declare(
        Text(
            "synthid_keys",
            SETTINGS["synthid_keys"].label,
            ",".join(map(str, SETTINGS["synthid_keys"].off)),
            field="shaping.synthid_keys",
            to_field=lambda text: tuple(keys_in(text)),
            from_field=lambda keys: ",".join(map(str, keys)),
            help=SETTINGS["synthid_keys"].help,
            acts=_is_on("synthid_depth"),
        )
    ),
    *declare(_number("synthid_history")),
)
ROWS = (*_SECOND, *_MARKS)
SECOND_KEYS, MARK_KEYS = (tuple(row.key for row in rows) for rows in (_SECOND, _MARKS))
declare(
    Text(_EDITED, N_("Another word there"), "", max_chars=100, width=260,
        placeholder=N_(" cat, or #42"),
        help=N_("One token in place of the selected one: its text, with the space before a word, "
        "or #id. The detector reads the text again.")),
)  # fmt: skip


def is_marked(trace: Trace) -> bool:
    """Return whether a run has a watermark."""
    return bool(trace.config.shaping.active(WATERMARKS))


def draw(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    """Draw the detector along the run, and the field that edits one token."""
    words = ""
    with st.container(key=platform.key("edit-row"), gap="small"):
        if view.step is not None:
            with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
                control.draw(_EDITED)
                token = visible_token(view.step.chosen.text, 24)
                st.text(tr("in place of {token}", token=token), width="content")
            words = _edit(view, trace, str(value(_EDITED)))
        figure.chart(
            parts.WATERMARK.part(view, trace),
            (view.number, view.selected, view.result(_EDITED) is not None, value(_EDITED)),
            on_click=partial(select_step, view, redraw),
            across=True,
        )
        if words:
            st.text(words)
        for name in trace.config.shaping.active(WATERMARKS):
            st.text(tr(false_positive_words(name)))


def _edit(view: DecodeView, trace: Trace, word: str) -> str:
    """Read the text with the edited token; return a sentence until it is there."""
    if not word:
        view.drop(_EDITED)
        return ""
    if not view.may_load(str(value("model"))):
        return tr("Choose this run's model in the sidebar to edit its text.")
    at = view.selected
    _, ready = view.soon(_EDITED, (view.number, at, word), lambda job: _read(job, trace, at, word))
    if not ready and not view.error(_EDITED):
        # The watch of the page was drawn before this job began.
        platform.poll(_wait, jobs.poll_seconds)(view)
    return "" if ready else view.error(_EDITED)


def _wait(view: DecodeView) -> None:
    """Draw the page again when the edited text was read."""
    for job in view.jobs.values():
        job.watch()
    if view.news:
        st.rerun()
    st.text(tr("Reading the edited text…"))


def _read(job: Job, trace: Trace, at: int, word: str) -> Trace:
    from core.decoding.reading.read import read_edited

    model = jobs.load_for(job, trace)
    read: Trace = job.compute(N_("Reading the edited text"), read_edited, model, trace, at, word)
    return read
