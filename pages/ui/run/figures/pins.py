"""Pinned tokens: the field that names them, their numbers at every step, and their figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core import figures
from core.decoding.counting import sentences
from core.decoding.reading.types import PinnedToken, recorded_ids, recorded_pins
from core.decoding.record.trace import Trace
from core.figures.base.labels import visible_token
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run import jobs
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.parts import PagePart
from pages.ui.run.view import View
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Text, declare, value

KEY = "pins"
_LONGEST = 1_000
declare(
    Text(KEY, N_("Pinned tokens"), "", height=120, max_chars=_LONGEST,
        placeholder=" yes\n no\n#42",
        help=N_("Up to five tokens, one a line: a token's text, with the space before a "
            "word, or #id. \\n and \\t are escapes.")),
)  # fmt: skip


def _lines() -> tuple[str, ...]:
    """Return the tokens that the field names, as they are written."""
    return tuple(line for line in str(value(KEY)).split("\n") if line.strip())


def pinned_of(view: View, trace: Trace) -> tuple[PinnedToken, ...]:
    """Return the pinned tokens: at every step if the model has read the run, else as recorded,
    without those that no step's candidates hold, unless a server names its candidates alone.
    """
    written = view.pinned
    cached = view.cached.get(KEY)
    if cached is not None and cached[0] == (view.number, written):
        found: tuple[PinnedToken, ...] = cached[1]
        return found
    pins = recorded_pins(trace, recorded_ids(trace, written))
    return tuple(pin for pin in pins if trace.known is not None or set(pin.ranks) != {None})


def _lacking(trace: Trace, written: tuple[str, ...], shown: tuple[PinnedToken, ...]) -> str:
    """Return those of the written tokens that the figure doesn't show; plain text."""
    ids = {pin.token_id for pin in shown}
    lacking = (text for text in written if not ids.intersection(recorded_ids(trace, (text,))))
    return tr(", ").join(visible_token(text, 24) for text in lacking)


def _arguments(view: View, trace: Trace) -> Mapping[str, Any] | None:
    if not view.pinned:
        return None
    pins = pinned_of(view, trace)
    return {"pins": pins, "trace": trace, "selected": view.selected, "reads": view.reads}


PINS = PagePart(
    "pins", figures.pinned_lines, _arguments, N_("name tokens under Pinned tokens first")
)


def draw(
    view: View,
    trace: Trace,
    on_click: Callable[[list[object]], None],
    on_change: Callable[[], None] | None = None,
) -> None:
    """Draw the field and the figure of a run's pinned tokens.

    Args:
        on_click: as of `figure.chart`.
        on_change: ends the callback of the field, in a fragment that doesn't start deferred work.
    """
    with st.container(key=platform.key("pins-row"), gap="small"):
        control.draw(KEY, **({"on_change": on_change} if on_change else {}))
        written, words = _lines(), ""
        view.pinned = written
        if not written:
            st.text(
                tr("Name tokens to follow their probability through the whole text.")
                if view.reads
                else tr("Name tokens to follow their probability through all steps of this run.")
            )
            return
        ready = False
        if view.may_load(str(value("model"))):
            key = (view.number, written)
            _, ready = view.later(KEY, key, lambda job: _follow(job, trace, written))
            words = "" if ready else view.error(KEY) or tr("Reading the run's logits…")
        else:
            words = tr("Choose this run's model in the sidebar to follow the tokens at every step.")
        shown = pinned_of(view, trace)
        if not ready and (lacking := _lacking(trace, written, shown)):
            missing = tr("Not among this run's candidates: {tokens}.", tokens=lacking)
            words = tr(sentences(missing, words))
        if shown:
            depends = (view.number, view.selected, written, ready)
            figure.chart(PINS.part(view, trace), depends, on_click=on_click, across=True)
        if words:  # Below, so that the figure stays where it is.
            st.text(tr(words))


def _follow(job: Job, trace: Trace, written: tuple[str, ...]) -> tuple[PinnedToken, ...]:
    from core.decoding.reading.measure import pinned, pins_in

    model = jobs.load_for(job, trace)
    ids = pins_in(model, written)
    found: tuple[PinnedToken, ...] = job.compute(tr("Reading the run"), pinned, model, trace, ids)
    return found
