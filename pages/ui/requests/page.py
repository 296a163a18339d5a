"""The requests as they come, the chosen one's run, and sending one from here."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from core.decoding.counting import counted
from core.decoding.errors import DecodingError
from core.server.api.history import Record
from core.server.settings import settings
from pages.ui.hosting import endpoint
from pages.ui.requests import calls, controls, foreign, opened
from pages.ui.requests.state import STATES, RequestsView
from pages.ui.run import jobs, panel
from pages.ui.shell import fragments
from pages.ui.widgets.control import in_words

OFF = "The endpoint is switched off on this server (DECODING_EXPLORER_API)."
NEEDS_KEY = "This server's requests are seen with the key that made them. Type your key above."
LISTED = 8


def base_url() -> str:
    """The endpoint's address, as the browser would write it."""
    parts = urlsplit(st.context.url or "http://127.0.0.1:8501")
    return f"{parts.scheme}://{parts.netloc}/v1"


def closed() -> str:
    """Why nothing can be asked here; empty where it can."""
    return OFF if not settings().api else endpoint.service().closed


def draw_send(view: RequestsView) -> None:
    """Send what the controls describe."""
    with st.container(key="run-side", width="content"):
        st.button(
            "Send",
            key="send",
            icon=":material/send:",
            type="primary",
            disabled=bool(closed()),
            on_click=_send,
            args=(view,),
        )


def _send(view: RequestsView) -> None:
    try:
        kind, body = controls.body()
        opened.send(view, kind, body)
    except DecodingError as error:
        view.failure = in_words(error)


def draw_calls(view: RequestsView) -> None:
    """The same request for a client elsewhere, and the key where one is needed."""
    service = endpoint.service()
    if service.needs_key and not closed():
        _read_key(view)
    elif not service.needs_key:
        view.owner = ""
    with st.expander("The same call from outside", icon=":material/terminal:"):
        try:
            kind, body = controls.body()
        except DecodingError as error:
            st.text(in_words(error))
            return
        base, key = base_url(), service.needs_key
        python, curl, json = st.tabs(["Python", "curl", "JSON"])
        python.code(calls.as_python(base, kind, body, key=key), language="python")
        curl.code(calls.as_curl(base, kind, body, key=key), language="bash")
        json.code(calls.as_json(body), language="json")


def _read_key(view: RequestsView) -> None:
    typed = st.text_input(
        "Key", type="password", key="api_key", max_chars=200, persist_state="session"
    )
    view.owner = None
    if typed:
        try:
            view.owner = endpoint.service().owner_of(typed)
        except DecodingError as error:
            view.failure = in_words(error)


def draw(view: RequestsView) -> None:
    """The list, and the chosen request."""
    panel.failure(closed() or view.failure)
    view.failure = ""
    if closed():
        return
    if view.owner is None:
        st.text(NEEDS_KEY)
        return
    record = chosen(view)
    fragments.polled(_list, _poll_seconds)(view, _seen(record))
    if record is not None:
        opened.draw(view, record)
    foreign.draw(view)
    panel.watch(view)


def _poll_seconds() -> float:
    return max(0.4, jobs.poll_seconds())


def records_of(view: RequestsView) -> list[Record]:
    """The requests that the session may see, newest first."""
    return endpoint.service().history.of(view.owner or "") if view.owner is not None else []


def chosen(view: RequestsView) -> Record | None:
    """The request that is looked at: the newest unless another was chosen."""
    found = records_of(view)
    return next((one for one in found if one.id == view.chosen), found[0] if found else None)


def _seen(record: Record | None) -> tuple[str, bool]:
    """What a page of a request depends on, beside what its own part draws live."""
    return (record.id, record.active) if record else ("", False)


def _list(view: RequestsView, drawn: tuple[str, bool]) -> None:
    """The newest requests; draws the page again where what it was drawn from has changed."""
    if _seen(chosen(view)) != drawn:
        st.rerun()
    found = records_of(view)
    with st.container(key="requests", gap=None):
        if not found:
            st.text(f"No request yet. Send one from here, or point a client at {base_url()}.")
        for record in found[:LISTED]:
            _row(view, record, record.id == drawn[0])
    if found:
        _foot(view, found)


def _row(view: RequestsView, record: Record, selected: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.button(
            record.id[-6:],
            key=f"request-{record.id}",
            type="primary" if selected else "tertiary",
            icon=":material/pending:" if record.active else None,
            on_click=partial(view.choose, record.id),
        )
        st.text(summary(record), width="stretch")


def summary(record: Record) -> str:
    """A request in one line."""
    parts = [f"{record.endpoint}, {record.model}", record.method, STATES[record.state]]
    parts.append(counted(record.tokens, "token"))
    if (first := record.seconds_to_first_token) is not None:
        parts.append(f"first after {first:.2f} s")
    if (rate := record.tokens_per_second) is not None:
        parts.append(f"{rate:.0f} tokens/s")
    said = " ".join(record.prompt.split())
    return " · ".join(filter(None, (*parts, said[:60])))


def _foot(view: RequestsView, found: list[Record]) -> None:
    history = endpoint.service().history
    held = history.bytes_of(view.owner or "") / 2**20
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(
            f"{counted(len(found), 'request')}, about {held:.1f} MB, in memory only; the "
            f"last {history.most_records} and {history.most_bytes // 2**20} MB are kept.",
            width="stretch",
        )
        st.button("Follow the newest", key="follow", type="tertiary", on_click=view.choose,
            args=("",), disabled=not view.chosen)  # fmt: skip
        st.button("Forget all", key="forget", type="tertiary", on_click=history.clear,
            args=(view.owner or "",))  # fmt: skip
