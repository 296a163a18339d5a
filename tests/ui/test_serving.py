"""What is done as the server starts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
import streamlit as st

from pages.ui.hosting import serving
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
    given: dict[str, Any] = {"server.address": address, "server.headless": headless}
    monkeypatch.setattr(st, "get_option", lambda name: given.get(name, 120))
    monkeypatch.setattr(serving, "open_browser", opened.append)

    async def start_and_stop() -> None:
        async with serving.lifespan(None):  # type: ignore[arg-type]
            await asyncio.sleep(0)

    asyncio.run(start_and_stop())
    assert url in capsys.readouterr().out
    assert opened == ([] if headless else [url])


def test_a_wrong_setting_stops_the_start_with_one_sentence() -> None:
    variables = {**os.environ, "DECODING_EXPLORER_HOSTS": "https://explorer.example.org"}
    command = [sys.executable, "-c", "import app"]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 1
    assert "DECODING_EXPLORER_HOSTS names hosts without scheme" in done.stderr
    assert "Traceback" not in done.stderr
