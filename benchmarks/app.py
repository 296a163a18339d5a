"""The app as a visitor meets it: from start to first paint, and a rerun that reshapes a step.

First paint: from the start of the server's process until the example's heatmap is drawn in a
browser that is open already. Server time of a rerun: the page's script under `AppTest`, with a
temperature that differs from the run's, so that the selected step is shaped anew and every visible
figure is built.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep, time

from playwright.sync_api import Browser, sync_playwright

from tests.browser.find_browser import installed_browser

ROOT = Path(__file__).parent.parent
# Seconds until a server or a page that shows nothing is given up.
PATIENCE = 30
FIRST_CHART = ".js-plotly-plot .main-svg"
FIRST_TEXT = ".strip button"
LEAST_APP = "import streamlit\n\nstreamlit.button('one', key='least')\n"
FIRST_BUTTON = ".st-key-least button"
# Milliseconds since 1970 of the first frame that has an element. The page itself looks: a question
# from outside waits for the chart library, which keeps the browser busy for a second.
WATCH = """
window.seen = {}
const inside = (root, selector) => root.querySelector(selector) ||
  [...root.querySelectorAll("*")].some((e) => e.shadowRoot && inside(e.shadowRoot, selector))
const look = () => {
  for (const selector of SELECTORS)
    if (!seen[selector] && inside(document, selector)) seen[selector] = Date.now()
  requestAnimationFrame(look)
}
look()
"""
SEEN = """async (selector) => {
  const end = Date.now() + PATIENCE_MS
  while (!window.seen[selector]) {
    if (Date.now() > end) throw new Error(`${selector} was not drawn within PATIENCE_MS ms`)
    await new Promise((next) => setTimeout(next, 20))
  }
  return window.seen[selector]
}""".replace("PATIENCE_MS", f"{PATIENCE * 1000}")


def run(repeats: int = 5) -> None:
    """Print a table of seconds and milliseconds, medians."""
    print(f"\nThe app, medians of {repeats}")
    print("| what | measured |")
    print("|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=installed_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        with TemporaryDirectory() as folder:
            least = Path(folder, "app.py")
            least.write_text(LEAST_APP, encoding="utf-8")
            rows = [
                (*_first_paint(browser, ROOT / "app.py"), _first_paint(browser, least)[1])
                for _ in range(repeats)
            ]
        browser.close()
    ready, text, chart, floor = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"| `streamlit run` until the server answers | {ready:.2f} s |")
    print(f"| until the example's text is on screen | {text:.2f} s |")
    print(f"| until a Streamlit page of one button is, for comparison | {floor:.2f} s |")
    print(f"| until its heatmap is drawn | {chart:.2f} s |")
    print(f"| server time of a rerun that reshapes | {_rerun(repeats * 4) * 1e3:.0f} ms |")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _first_paint(browser: Browser, app: Path) -> tuple[float, ...]:
    """Seconds until the server answers, and until each awaited element is drawn."""
    awaited = [FIRST_TEXT, FIRST_CHART] if app.parent == ROOT else [FIRST_BUTTON]
    port = free_port()
    started, began = perf_counter(), time()
    options = ["--server.headless", "true", "--server.port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", app.name, *options],
        cwd=app.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(WATCH.replace("SELECTORS", json.dumps(awaited)))
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(server, url)
        ready = perf_counter() - started
        page.goto(url)
        return ready, *(page.evaluate(SEEN, selector) / 1e3 - began for selector in awaited)
    finally:
        page.close()
        server.terminate()
        server.wait(10)


def _wait_for(server: subprocess.Popen[bytes], url: str) -> None:
    """Raises RuntimeError when the server ended or does not answer in time."""
    end = perf_counter() + PATIENCE
    while not answers(url):
        if server.poll() is not None:
            raise RuntimeError(f"The server ended by itself with status {server.returncode}.")
        if perf_counter() > end:
            raise RuntimeError(f"The server did not answer within {PATIENCE} s.")
        sleep(0.02)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _rerun(repeats: int) -> float:
    """Seconds of a rerun after the temperature was moved, the step's logits being there."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=120).run()
    app.slider(key="temperature_slider").set_value(0.9).run()
    sleep(20)  # the model loads and the step's logits are read on another thread
    app.run()
    times = []
    for turn in range(repeats):
        app.slider(key="temperature_slider").set_value(0.5 + turn / 50)
        started = perf_counter()
        app.run()
        times.append(perf_counter() - started)
    return statistics.median(times)
