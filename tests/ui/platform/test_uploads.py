"""The room that uploads take, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest
import streamlit as st
from starlette.requests import Request
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from core.server.hosts import AsgiMessage
from pages.ui.hosting import uploads
from pages.ui.hosting.uploads import (
    FILE_BYTES,
    MOST_BYTES,
    NO_ROOM,
    PATH,
    SESSION_BYTES,
    TOTAL_BYTES,
    UploadBounds,
)
from tests.ui.conftest import Open


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has a session hold a file of so many bytes; every session but "unknown" is at work."""
    files = MemoryUploadedFileManager("")
    server = SimpleNamespace(uploaded_file_mgr=files, is_active_session="unknown".__ne__)
    monkeypatch.setattr(uploads.runtime, "get_instance", lambda: server)
    return lambda session, size, name="": files.add_file(
        session, UploadedFileRec(str(uuid4()), name, "", bytes(size))
    )


def put(session: str, size: int) -> AsgiMessage:
    headers = [(b"content-length", str(size).encode())]
    return {"type": "http", "method": "PUT", "path": f"{PATH}{session}/file", "headers": headers}


async def nothing(*_: Any) -> None:
    """An app that takes every upload at once."""


def statuses(bounds: UploadBounds, *asked: AsgiMessage) -> list[int]:
    """Return the middleware's status for each concurrent request; 200 where it passes it on."""

    async def receive() -> AsgiMessage:
        return {"type": "http.request", "body": b"x", "more_body": False}

    async def ask(scope: AsgiMessage) -> int:
        sent = [200]

        async def send(message: AsgiMessage) -> None:
            sent.append(message.get("status", sent[-1]))

        await bounds(scope, receive, send)
        return sent[-1]

    async def ask_all() -> list[int]:
        return await asyncio.gather(*map(ask, asked))

    return asyncio.run(ask_all())


def test_names_and_empty_files_count(hold: Callable[..., None]) -> None:
    hold("a", 0, "n" * 1000)
    hold("a", 10)
    assert uploads.held_bytes() == {"a": 1010 + 2 * FILE_BYTES}


def test_a_session_and_all_together_are_bounded(hold: Callable[..., None]) -> None:
    hold("a", SESSION_BYTES - 3 * FILE_BYTES)
    bounds = UploadBounds(nothing)
    assert statuses(bounds, put("a", FILE_BYTES), put("a", FILE_BYTES + 1)) == [200, 202]
    for session in range(TOTAL_BYTES // SESSION_BYTES - 1):
        hold(str(session), SESSION_BYTES - FILE_BYTES)
    hold("late", 0)
    assert statuses(bounds, put("late", 2 * FILE_BYTES), put("late", 0)) == [202, 200]


def test_what_is_larger_than_any_file_is_refused_unread_and_other_requests_go_on(
    hold: Callable[..., None],
) -> None:
    hold("a", SESSION_BYTES)
    page_request = {"type": "http", "method": "GET", "path": "/", "headers": []}
    requests = [
        put("a", MOST_BYTES),
        put("a", MOST_BYTES + 1),
        page_request,
        put("a", 1) | {"method": "DELETE"},
    ]
    assert statuses(UploadBounds(nothing), *requests) == [202, 413, 200, 200]


def test_no_upload_is_put_on_the_disk() -> None:
    """Starlette would write a file there that is larger than `spool_max_size`."""
    limit = 2**20 * int(st.get_option("server.maxUploadSize"))
    assert limit < MOST_BYTES
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
    message = {"type": "http.request", "body": body + bytes(limit) + b"\r\n--b--\r\n"}
    headers = [(b"content-type", b"multipart/form-data; boundary=b")]

    async def rolled() -> bool:
        request = Request({"type": "http", "headers": headers}, AsyncMock(return_value=message))
        file: Any = (await request.form())["file"].file  # type: ignore[union-attr]
        return bool(file._rolled)

    assert not asyncio.run(rolled())


def test_a_file_that_the_server_does_not_hold_is_one_sentence(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There was no room for it, or it was forgotten while the page was away."""
    monkeypatch.setattr(MemoryUploadedFileManager, "get_files", lambda *_, **__: [])
    for script, key in (("decode.py", "trace_file"), ("reasoning.py", "problem_file")):
        app = open_app(script)
        app.file_uploader(key=key).upload("run.json", b"{}", "application/json").run()
        assert [text.value for text in app.text].count(NO_ROOM) == 1


@pytest.mark.usefixtures("hold")
def test_what_is_still_arriving_counts_once_and_is_forgotten() -> None:
    async def wait(*_: Any) -> None:
        await asyncio.sleep(0)

    bounds = UploadBounds(wait)
    third = SESSION_BYTES // 3
    assert statuses(bounds, *[put("a", third)] * 3) == [200, 200, 202]
    assert bounds.arriving.total() == 0
    assert statuses(bounds, *[put("unknown", third)] * 3) == [200] * 3


@pytest.mark.usefixtures("hold")
def test_one_that_trickles_in_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forever(*_: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(uploads, "UPLOAD_SECONDS", 0.01)
    bounds = UploadBounds(forever)
    assert statuses(bounds, put("a", 1)) == [408]
    assert bounds.arriving.total() == 0
