"""Start of the server, its scripts, and disconnects of browsers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnected
from streamlit.file_util import get_static_dir

from core.export.web import bundle
from core.server.api.service import NO_KEY
from core.server.settings import Settings
from pages.ui.hosting import endpoint, serving
from pages.ui.hosting.departures import QuietDepartures
from pages.ui.hosting.early import EarlyScripts
from pages.ui.platform import chart_script
from tests.ui.conftest import ROOT


@pytest.mark.parametrize(
    ("address", "url"),
    [("127.0.0.1", "http://127.0.0.1:8501"), (None, "http://localhost:8501")],
)
@pytest.mark.parametrize("headless", [True, False])
def test_the_app_says_where_it_is_and_opens_the_browser(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str | None,
    url: str,
    headless: bool,
) -> None:
    opened: list[str] = []
    options: dict[str, Any] = {"server.address": address, "server.headless": headless}
    monkeypatch.setattr(st, "get_option", lambda name: options.get(name, 120))
    monkeypatch.setattr(serving, "open_browser", opened.append)

    async def start_and_stop() -> None:
        async with serving.lifespan(None):  # type: ignore[arg-type]
            await asyncio.sleep(0)

    asyncio.run(start_and_stop())
    assert url in capsys.readouterr().out
    assert opened == ([] if headless else [url])


def test_a_shared_server_without_a_key_says_that_its_endpoint_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoint, "service", endpoint.service.__wrapped__)
    monkeypatch.setattr(endpoint, "settings", Settings)
    monkeypatch.setattr(endpoint.reach, "shared", lambda: True)
    assert endpoint.service().closed == NO_KEY and NO_KEY in endpoint.start_line("http://x")
    monkeypatch.setattr(endpoint.reach, "shared", lambda: False)
    assert not endpoint.service().closed and "http://x/v1" in endpoint.start_line("http://x")


def test_a_wrong_setting_stops_the_start_with_one_sentence() -> None:
    variables = {**os.environ, "DECODING_EXPLORER_HOSTS": "https://explorer.example.org"}
    command = [sys.executable, "-c", "import app"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert "DECODING_EXPLORER_HOSTS names hosts without scheme" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("kind", "named"), [("text/html; charset=utf-8", 7), ("text/css", 0)])
def test_a_page_names_the_scripts_of_its_first_elements(kind: str, named: int) -> None:
    start = {"type": "http.response.start", "headers": [(b"Content-Type", kind.encode())]}
    send = AsyncMock()

    async def answer(scope: object, receive: object, send: Any) -> None:  # noqa: ARG001
        await send({**start, "status": 200})

    asyncio.run(EarlyScripts(answer)({"type": "http"}, None, send))  # type: ignore[arg-type]
    headers = send.call_args.args[0]["headers"]
    links = [value.decode() for name, value in headers if name == b"link"]
    assert len(links) == named
    for link in links[:-1]:
        assert Path(get_static_dir(), link[1 : link.index(">")]).is_file()
        assert link.endswith("crossorigin")
    assert links[-1:] == [f"<{chart_script.SCRIPT}>; rel=preload; as=script"][:named]


@pytest.mark.parametrize("encoding", ["gzip, br", "identity"])
def test_the_charts_script_is_kept_for_good_and_sent_compressed(encoding: str) -> None:
    app = TestClient(Starlette(routes=chart_script.routes()))
    answer = app.get(chart_script.SCRIPT, headers={"accept-encoding": encoding})
    assert answer.content == bundle.script()
    assert answer.headers.get("content-encoding") == ("gzip" if "gzip" in encoding else None)
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(("fault", "kept"), [(WebSocketDisconnected, False), (TypeError, True)])
def test_a_visitor_who_has_gone_is_no_fault(fault: type[Exception], kept: bool) -> None:
    app = QuietDepartures(AsyncMock(side_effect=fault))
    with pytest.raises(fault) if kept else nullcontext():
        asyncio.run(app({"type": "websocket"}, AsyncMock(), AsyncMock()))
