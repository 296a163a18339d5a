"""The requests as they come, the chosen one's run, and sending one from here."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from core.decoding.counting import counted
from core.decoding.errors import DecodingError
from core.language import N_, tr
from core.server.api.errors import ApiError
from core.server.api.history import Record
from pages.ui import platform
from pages.ui.hosting import endpoint
from pages.ui.requests import again, calls, controls, foreign, opened, request_list
from pages.ui.requests.state import RequestsView
from pages.ui.run.display import bar, panel
from pages.ui.widgets.controls.control import in_words

WRONG_KEY = N_("This is no key of this server; its operator gives them out.")
NEEDS_KEY = N_("This server's requests are seen with the key that made them. Type your key above.")


def base_url() -> str:
    """The endpoint's address, as the browser would write it."""
    parts = urlsplit(st.context.url or "http://127.0.0.1:8501")
    return f"{parts.scheme}://{parts.netloc}/v1"


def draw_send(view: RequestsView) -> None:
    """The call for a client elsewhere, and Send."""
    with st.container(key="run-side", width="content", horizontal=True, gap="small"):
        _draw_code()
        st.button(
            tr("Send"),
            key="send",
            icon=":material/send:",
            type="primary",
            disabled=bool(endpoint.service().closed),
            on_click=_send,
            args=(view,),
        )


def _send(view: RequestsView) -> None:
    try:
        kind, body = controls.body()
        again.send(view, kind, body)
    except DecodingError as error:
        view.failure = in_words(error)


def _draw_code() -> None:
    popover = st.popover(
        tr("As code"), key="as-code", icon=":material/terminal:", on_change="rerun"
    )
    # Closed it is empty: what colours code is a script of 1.6 MB.
    if not popover.open:
        return
    with popover:
        try:
            kind, body = controls.body()
        except DecodingError as error:
            st.text(tr(in_words(error)))
            return
        base, key = base_url(), endpoint.service().needs_key
        python, curl, json = st.tabs(["Python", "curl", "JSON"])
        wrapped = partial(st.code, wrap_lines=True)
        with python:
            wrapped(calls.as_python(base, kind, body, key=key), language="python")
        with curl:
            wrapped(calls.as_curl(base, kind, body, key=key), language="bash")
        with json:
            wrapped(calls.as_json(body), language="json")


def draw_key(view: RequestsView) -> None:
    """The field for the key, on a server that needs one."""
    service = endpoint.service()
    if not service.needs_key:
        view.owner = ""
    elif not endpoint.service().closed:
        _read_key(view)


def _read_key(view: RequestsView) -> None:
    typed = st.text_input(
        tr("Key"), type="password", key="api_key", max_chars=200, persist_state="session"
    )
    view.owner = None
    if typed:
        try:
            view.owner = endpoint.service().owner_of(typed)
        except ApiError:
            view.failure = WRONG_KEY


def draw(view: RequestsView) -> None:
    """The list, and what was chosen."""
    panel.failure(endpoint.service().closed or view.failure)
    view.failure = ""
    if not endpoint.service().closed and view.owner is None:
        st.text(tr(NEEDS_KEY))
    elif not endpoint.service().closed:
        record = chosen(view)
        platform.poll(_list, bar.poll_seconds)(view, _seen(view, record))
        if view.foreign is not None:
            foreign.draw(view, view.foreign)
        elif not opened.draw(view, record):
            return
        # Not before the first figure: the end of what is under way draws the page again.
        panel.watch(view)


def records_of(view: RequestsView) -> list[Record]:
    """The requests that the session may see, newest first."""
    return endpoint.service().history.of(view.owner or "") if view.owner is not None else []


def chosen(view: RequestsView) -> Record | None:
    """The request that is looked at: the newest unless another was chosen."""
    records = records_of(view)
    return next(
        (record for record in records if record.id == view.chosen), records[0] if records else None
    )


def _seen(view: RequestsView, record: Record | None) -> tuple[str, bool]:
    """Return the part of a request's state that needs a rerun of the page when it changes."""
    return (record.id, record.active) if record and view.foreign is None else ("", False)


def _list(view: RequestsView, drawn: tuple[str, bool]) -> None:
    """The requests; draws the page again where what it was drawn from has changed."""
    if _seen(view, chosen(view)) != drawn:
        st.rerun()
    records = records_of(view)
    with st.container(key="requests", gap="small"):
        _head(view, records)
        if records:
            request_list.draw(records, drawn[0], view.choose)
        else:
            st.text(
                tr(
                    "No request yet. Send one from here, or point a client at {base_url}.",
                    base_url=base_url(),
                )
            )


def _head(view: RequestsView, records: list[Record]) -> None:
    history = endpoint.service().history
    held = history.bytes_of(view.owner or "") / 2**20
    with st.container(
        key="requests-head", horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.header(tr("Calls"), anchor=False, width="content")
        most = tr(
            "in memory only: the last {requests:,} requests, or {size} MB, are kept",
            requests=history.most_records,
            size=history.most_bytes // 2**20,
        )
        parts = [most]
        if records:
            requests = counted(len(records), "request")
            parts.insert(0, tr("{requests}, about {held:.1f} MB", requests=requests, held=held))
        words = tr(", ").join(parts)
        if not endpoint.service().needs_key:
            words = tr("{kept}; every browser that opens this page sees them", kept=words)
        st.text(words, width="stretch")
        st.button(tr("Follow the newest"), key="follow", type="tertiary", on_click=view.choose,
            args=("",), disabled=not view.chosen)  # fmt: skip
        st.button(tr("Forget all"), key="forget", type="tertiary", on_click=history.clear,
            args=(view.owner or "",), disabled=not records)  # fmt: skip
        foreign.menu(view)
