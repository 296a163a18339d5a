"""The page Inside as it is drawn: the run's text, the way to the selected token, and its readings.

The way and the readings are fragments: a key draws the way at once, the readings once keys rest.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.counting import counted
from core.decoding.record.trace import Trace
from core.language import N_, tr
from core.traces.data_path.source import source_of
from pages.ui import platform, registry
from pages.ui.decode.state import uncertain_steps, write_step
from pages.ui.inside import boxes, save, tabs, way, work
from pages.ui.inside.state import InsideView
from pages.ui.resources import models
from pages.ui.run import address, changed
from pages.ui.run.display import panel
from pages.ui.run.figures import token_strip
from pages.ui.run.jobs import Job
from pages.ui.widgets import stepper, style
from pages.ui.widgets.controls.control import value

WAY, READINGS = "inside-way-part", "inside-readings"


def draw(view: InsideView) -> None:
    """The run, and what its selected step did."""
    panel.failure(view.failure)
    panel.draw(
        view,
        N_("the model continues the prompt, and every function of the run is recorded."),
        partial(_live, view),
        partial(_finished, view),
    )
    if view.trace is not None and view.step is not None and "decode" not in view.jobs:
        if may_record(view, view.trace):
            platform.part(_way, key=WAY)(view)
            with st.container(key=platform.key("rest")):
                platform.part(_readings, key=READINGS)(view)
            platform.mark_ready()
            return
        _ask_for_model(view.trace)
    panel.watch(view)


def may_record(view: InsideView, trace: Trace) -> bool:
    """Return whether the run's model may be loaded: by a file or a link only an embedded one."""
    return view.may_load(str(value("model"))) or models.is_embedded(trace.model_id)


def _ask_for_model(trace: Trace) -> None:
    st.text(
        tr(
            "This run was made by {model}. Choose that model in the sidebar first: a file alone "
            "doesn't make this server load one.",
            model=trace.model_id,
        )
    )


def _live(view: InsideView, job: Job) -> None:
    trace = view.partial_trace(job)
    with panel.box():
        panel.running(job, counted(job.tokens, "token"))
        if trace is not None:
            _strip(view, trace, live=True)


def _finished(view: InsideView, trace: Trace) -> None:
    with panel.box():
        panel.head(
            view,
            trace,
            counted(len(trace.token_ids), "token"),
            panel.ENDED[trace.finish_reason],
            page=registry.INSIDE,
            saves=partial(save.menu, view, trace),
        )
        _strip(view, trace, live=False)
        panel.note(
            changed.note(view, registry.INSIDE), N_("Click a token to follow how the run made it.")
        )


def _strip(view: InsideView, trace: Trace, *, live: bool) -> None:
    token_strip.draw(
        view,
        trace,
        style.theme(),
        by="probability",
        live=live,
        then=partial(platform.rerun, WAY),
        rested=partial(platform.rerun, READINGS),
    )


def _way(view: InsideView) -> None:
    """The boxes, top to bottom, with the values of the selected step."""
    trace, step = view.trace, view.step
    if trace is None or step is None:
        return
    recorded, fresh = work.recorded(view, trace, use_cache=not value("no_cache"))
    error = view.error("record")
    waiting = error or ("" if fresh else tr("The run is being recorded…"))
    drawn = boxes.picture(trace, step, recorded if fresh else None, waiting)
    view.places = drawn.places
    shown = drawn.places.get(view.opened_source)
    with st.container(
        key=platform.key("step-head"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        stepper.draw(token_strip.KEY, view.selected, len(view.steps), tuple(uncertain_steps(trace)))
        panel.note("", N_("Open a part to see its values and functions."), key="part-note")
    way.draw(
        drawn,
        view.opened_source,
        source_of(*shown) if shown else "",
        partial(_show_source, view),
    )
    write_step(view, 0)
    address.keep()


def _show_source(view: InsideView, row: str) -> None:
    view.opened_source = "" if view.opened_source == row else row
    platform.rerun(WAY)


def _readings(view: InsideView) -> None:
    if view.trace is not None and view.step is not None:
        tabs.draw(view, view.trace, partial(platform.rerun, WAY, READINGS))
    panel.watch(view)
