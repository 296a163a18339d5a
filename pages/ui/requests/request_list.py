"""The requests as a list in which one is picked; its rows change in place while requests go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.decoding.counting import counted
from core.decoding.validation import shortened
from core.language import tr
from core.server.api.endpoints import ENDPOINTS
from core.server.api.history import Record
from pages.ui.requests.state import STATES
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_KEY = "request-list"
_PROMPT_SHOWN = 120
_HTML = """
<div class="table">
<div class="head" aria-hidden="true"><span></span><span>no.</span><span>state</span
><span>endpoint</span><span>method</span><span>asked</span><span>tokens</span
><span>first token</span><span
title="Tokens after the first, over the seconds from the first to the last">tokens/s</span></div>
<div class="rows" role="listbox" aria-label="Requests, newest first"></div>
</div>
"""

_component = component(
    "request_list",
    html=_HTML,
    css=source("requests/request_list.css"),
    js=source("widgets/row_list.js"),
)


def draw(records: Sequence[Record], chosen: str, on_pick: Callable[[str], None]) -> None:
    """Draw the list.

    Args:
        chosen: the id of the request that is looked at.
        on_pick: gets the id of a request that was clicked.
    """

    def picked() -> None:
        record_id = (st.session_state.get(_KEY) or {}).get("picked")
        if isinstance(record_id, str):
            on_pick(record_id)

    _component(
        key=_KEY,
        data={"rows": tuple(map(_row, records)), "chosen": chosen, "drawn": drawn_at()},
        on_picked_change=picked,
    )


def _row(record: Record) -> tuple[str, str, str, tuple[str, ...]]:
    """Its id, its state, what is read out of it, and its cells."""
    return record.id, record.state, description(record), _cells(record)


def prompt_of(record: Record) -> str:
    """Return the prompt of a request in one shortened line."""
    return shortened(" ".join(record.prompt.split()), _PROMPT_SHOWN)


def _cells(record: Record) -> tuple[str, ...]:
    first, rate = record.seconds_to_first_token, record.tokens_per_second
    return (
        str(record.number),
        tr(STATES[record.state]),
        ENDPOINTS[record.endpoint].label.lower(),
        tr(", ").join(filter(None, (record.method, record.rule))) or "…",
        prompt_of(record),
        str(record.tokens),
        "" if first is None else f"{first:.2f} s",
        "" if rate is None else f"{rate:.0f}",
    )


def description(record: Record) -> str:
    """A request in a sentence."""
    first, rate = record.seconds_to_first_token, record.tokens_per_second
    parts = [
        tr("Request {number}", number=record.number),
        ENDPOINTS[record.endpoint].label.lower(),
        record.model,
        record.method,
        tr("constrained by {rule}", rule=record.rule) if record.rule else "",
        tr(STATES[record.state]),
        tr(counted(record.tokens, "token")),
        "" if first is None else tr("first token after {seconds:.2f} s", seconds=first),
        "" if rate is None else tr("{rate:.0f} tokens a second after the first", rate=rate),
        tr("asked: {prompt}", prompt=prompt_of(record)),
    ]
    return tr(", ").join(filter(None, parts))
