"""The request that is looked at: its run live or whole, its settings, and the same asked anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core import figures
from core.decoding.counting import counted, nth
from core.decoding.methods import config_to_dict
from core.decoding.trace import Trace
from core.figures.base.grid import columns_for
from core.server.api.errors import ApiError
from core.server.api.history import Record
from core.server.api.parts import Part
from pages.ui import registry
from pages.ui.hosting import endpoint
from pages.ui.requests.state import STATES, RequestsView, partial_trace_of
from pages.ui.run import jobs, panel, save
from pages.ui.shell import fragments
from pages.ui.widgets import figure, pager, style, token_strip

VARIANTS: dict[str, dict[str, Any]] = {
    "Greedy": {"method": "greedy"},
    "Beam search, 4 beams": {"method": "beam", "num_beams": 4},
    "Speculative": {"method": "speculative", "draft": "embedded:draft"},
    "Temperature 0.3": {"method": "sampling", "shaping": {"temperature": 0.3}},
    "Temperature 1.5": {"method": "sampling", "shaping": {"temperature": 1.5}},
}
# What says how to decode, in any endpoint's body.
_SETTINGS = ("decoding", "temperature", "top_p", "reasoning", "reasoning_effort", "logprobs_mode")


def send(view: RequestsView, kind: Any, body: Mapping[str, Any], beside: str = "") -> None:
    """Send a request from the page, through the same door as a client's, and look at it.

    Raises:
        ApiError: what is wrong with it, or no room for it.
    """
    from core.server.api.submit import submit

    if view.owner is None:
        raise ApiError("Type your key first.", status=401)
    service = endpoint.service()
    found = submit(service, kind, body, view.owner)
    found.start(service, _nobody_reads).leave()
    view.choose(found.record.id, beside)


def _nobody_reads(part: Part) -> None:
    """The page looks at the record instead."""


def draw(view: RequestsView, record: Record) -> None:
    """The run while it goes on, then whole."""
    if record.active:
        with panel.box():
            fragments.polled(_live, jobs.poll_seconds)(view, record)
        return
    view.look_at(record)
    if view.trace is None:
        with panel.box():
            st.text(record.error or "This request was stopped before its first token.")
    else:
        _finished(view, record, view.trace)
    _details(view, record)


def _live(view: RequestsView, record: Record) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Stop", key="stop_request", icon=":material/stop:", on_click=record.stop)
        st.text(f"{STATES[record.state]} · {counted(record.tokens, 'token')}", width="stretch")
    trace = partial_trace_of(record)
    if trace is None:
        return
    if trace.token_steps:
        token_strip.draw(view, trace, style.theme(), by="probability", live=True)
    else:
        st.text(trace.text or "Decoding…")


def _finished(view: RequestsView, record: Record, trace: Trace) -> None:
    beside = endpoint.service().history.find(record.owner, view.beside) if view.beside else None
    left, right = st.columns(2) if beside else (st.container(), None)
    with left, panel.box():
        tokens = counted(len(trace.token_ids), "token")
        panel.head(view, trace, trace.config.words, tokens, panel.ENDED[trace.finish_reason])
        if trace.token_steps:
            token_strip.draw(view, trace, style.theme(), by="probability", live=False)
            token_strip.draw_legend("probability", style.theme())
        else:
            st.text(trace.text)
    if right is not None and beside is not None:
        with right, panel.box():
            _beside(beside)
    if len(record.traces) > 1:
        _choices(view, record)
    if trace.token_steps:
        _heatmap(view, trace)


def _beside(record: Record) -> None:
    trace = record.traces[0] if record.traces else None
    words = trace.config.words if trace else STATES[record.state]
    st.text(f"Beside it: {words} · {counted(record.tokens, 'token')}")
    st.text(trace.text if trace else record.error)


def _choices(view: RequestsView, record: Record) -> None:
    with st.container(horizontal=True, gap="small"):
        for at in range(len(record.traces)):
            st.button(
                f"Choice {nth(at)}",
                key=f"choice-{at}",
                type="primary" if at == view.choice else "secondary",
                on_click=partial(view.take_choice, at),
            )


def _heatmap(view: RequestsView, trace: Trace) -> None:
    width = style.figure_width()
    columns = columns_for(width)
    pager.draw(view, "first", pager.of_span(view.first, columns, len(view.steps)), "steps")
    window = {"first": view.first, "columns": columns}
    figure.chart(
        "requests-heatmap",
        partial(figures.probability_heatmap, trace, **window, selected=view.selected, width=width),
        partial(figures.probability_heatmap_data, trace, **window),
        (view.number, view.first, view.selected, width),
        on_click=partial(_select, view),
    )


def _select(view: RequestsView, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float):
        view.select(int(custom[0]))


def _details(view: RequestsView, record: Record) -> None:
    with st.container(key="request-acts", horizontal=True, gap="small"):
        if view.trace is not None:
            page = registry.page_of(view.trace.config.method)
            st.button(
                f"Open in {page.title}",
                key="open_in",
                icon=":material/open_in_new:",
                on_click=save.turn_to,
                args=(page, view.trace),
            )
        st.menu_button(
            "The same request with",
            list(VARIANTS),
            key="variant",
            on_click=_send_variant,
            args=(view, record),
        )
    with st.expander("What was asked, and how it was understood", icon=":material/data_object:"):
        asked, used = st.columns(2)
        asked.code(json.dumps(dict(record.body), indent=2, ensure_ascii=False), language="json")
        if record.configs:
            plain = config_to_dict(record.configs[min(view.choice, len(record.configs) - 1)])
            used.code(json.dumps(plain, indent=2), language="json")
        if view.trace is not None:
            st.text(view.trace.rendered_prompt)
            st.code(", ".join(map(str, view.trace.prompt_ids)), language=None, wrap_lines=True)


def _send_variant(view: RequestsView, record: Record) -> None:
    decoding = VARIANTS.get(str(st.session_state.get("variant")))
    if decoding is None:
        return
    kept = {name: held for name, held in record.body.items() if name not in _SETTINGS}
    kept = {name: held for name, held in kept.items() if name != "stream_options"}
    try:
        send(view, record.endpoint, {**kept, "stream": False, "decoding": decoding}, record.id)
    except ApiError as error:
        view.failure = str(error)
