"""A trace in JupyterLab: its HTML, a figure, and the widget, whose knobs need no kernel."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("jupyterlab", "anywidget", "ipykernel"))),
        reason="requirements-notebook.txt isn't installed",
    ),
]
ROOT = Path(__file__).parents[2]
CELLS = (
    "from core import Trace, explore, figures\n"
    f"trace = Trace.load({str(ROOT / 'assets/traces/decode.json')!r})\ntrace",
    "widget = trace.widget()\nwidget",
    "figures.probability_heatmap(trace)",
    "widget.step",
)
# The kernel starts and imports; on a busy machine that takes a while.
SECONDS = 120


def notebook(cells: tuple[str, ...]) -> str:
    """A notebook file of code cells."""
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c}
        for c in cells
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4})


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab in this folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "port": port,
        "ip": "127.0.0.1",
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": "",
        "ServerApp.password": "",
        "ServerApp.port_retries": 0,
        "LabApp.news_url": "None",
        "LabApp.extension_manager": "readonly",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    own = {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "PYTHONPATH": str(ROOT),
    }
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **own}, stdout=log, stderr=log
        )
    try:
        url = f"http://127.0.0.1:{port}"
        ends = time.monotonic() + SECONDS
        while not _answers(f"{url}/api") and server.poll() is None and time.monotonic() < ends:
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def run_all(page: Page, url: str, name: str) -> None:
    """Open a notebook and run its cells."""
    page.goto(f"{url}/lab/tree/{name}?reset")
    cells = page.locator(".jp-CodeCell")
    cells.first.click(timeout=1000 * SECONDS)
    # A kernel that is still being started takes no cell.
    expect(page.locator("[data-status=idle]").first).to_be_attached(timeout=1000 * SECONDS)
    for at in range(cells.count()):
        cells.nth(at).click()
        page.keyboard.press("Control+Enter")


def test_a_trace_is_explored_in_jupyterlab_without_a_server(page: Page, tmp_path: Path) -> None:
    (tmp_path / "run.ipynb").write_text(notebook(CELLS), encoding="utf-8")
    with jupyter(tmp_path) as url:
        run_all(page, url, "run.ipynb")
        widget = page.locator(".decoding-explorer")
        expect(widget).to_be_visible(timeout=1000 * SECONDS)
        tokens, bars = widget.locator(".token"), widget.locator(".bar")
        expect(tokens).to_have_count(40)
        tokens.nth(5).click()
        expect(tokens.nth(5)).to_have_attribute("aria-pressed", "true")
        before = bars.all_text_contents()
        widget.get_by_label("Top-k").fill("2")
        expect(bars.filter(has_text="removed by top-k")).to_have_count(len(before) - 2)
        widget.get_by_label("Min-p").fill("0.5")
        expect(bars.filter(has_text="removed by")).to_have_count(len(before) - 1)
        tokens.nth(5).press("ArrowRight")
        expect(tokens.nth(6)).to_be_focused()
        widget.get_by_role("button", name="Reset").click()
        tokens.nth(5).click()
        assert bars.all_text_contents() == before
        # What is chosen in the browser is known to Python.
        last = page.locator(".jp-CodeCell").last
        # A change waits until the kernel has read the one before: the second run sees it.
        for step in (re.compile("[56]"), "5"):
            last.click()
            page.keyboard.press("Control+Enter")
            expect(last.locator(".jp-OutputArea-output")).to_have_text(step, timeout=1000 * SECONDS)
        expect(page.locator(".jp-RenderedPlotly")).to_be_visible(timeout=1000 * SECONDS)
        expect(page.locator(".jp-RenderedHTML bdi").first).to_be_visible()
    assert page.troubles == []  # type: ignore[attr-defined]
