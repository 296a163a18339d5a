"""The app as a visitor meets it: its first figure, gestures, and a rerun that reshapes a step.

First figure: from opening a page until a chart is drawn, in a browser that never saw the app, and
after a reload. The pages take turns with a Streamlit page of nothing but one Plotly chart, whose
times theirs are divided by, round by round: what else the machine does meets all of them. Server
time of a rerun: the page's script under `AppTest`, with a temperature that differs from the run's,
so that the selected step is shaped anew and every visible figure is built.
"""

from __future__ import annotations

import json
import socket
import statistics
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TypeAlias

from playwright.sync_api import Browser, Error, Page, sync_playwright

from benchmarks.gestures import GESTURES, ONE_CHART, PLAIN, Gesture, milliseconds
from pages.ui import registry
from tests.browser.find_browser import installed_browser
from tests.ui.knobs import move

Paint: TypeAlias = tuple[float, float]

ROOT = Path(__file__).parent.parent
PLAIN_PAGE = "a plain page of one chart"
# Seconds until a server or a page that shows nothing is given up.
PATIENCE = 120
FIRST_CHART = ".js-plotly-plot .main-svg"
# What counts as the first figure of a page, by its path, where that is no chart.
FIRST = {"inside": ".way details", "course": ".st-key-lessons"}
# What the page of requests has to show: one of its own server.
ASKED = {
    "model": "embedded:target",
    "messages": [{"role": "user", "content": "Where do cats sleep?"}],
    "max_tokens": 20,
}
# Milliseconds since the page was asked for, of the first frame that has an element. The page itself
# looks: a question from outside waits for the chart library, which keeps the browser busy a while.
WATCH = """
window.seen = {}
const inside = (root, selector) => root.querySelector(selector) ||
  [...root.querySelectorAll("*")].some((e) => e.shadowRoot && inside(e.shadowRoot, selector))
const look = () => {
  for (const selector of SELECTORS)
    if (!seen[selector] && inside(document, selector)) seen[selector] = performance.now()
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
    """Print tables of seconds and milliseconds, medians."""
    print(f"\nThe app, medians of {repeats}")
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=installed_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        plain = Path(folder, "app.py")
        plain.write_text(PLAIN, encoding="utf-8")
        with served(plain) as (beside, _), served(ROOT / "app.py") as (url, ready):
            print(f"The server answers after {ready:.2f} s.")
            _ask(url)
            pages = {PLAIN_PAGE: (beside, FIRST_CHART)} | {
                row.title: (f"{url}/{row.path}", FIRST.get(row.path, FIRST_CHART))
                for row in registry.PAGES
            }
            _print_paints(_paints(browser, pages, repeats))
            print("| gesture, until the figure shows it | measured |")
            print("|---|---|")
            _print_gestures(browser, beside, ONE_CHART, repeats)
            for path, gestures in GESTURES.items():
                _print_gestures(browser, f"{url}/{path}", gestures, repeats)
        browser.close()
    print(f"| server time of a rerun that reshapes | {_rerun(repeats * 4) * 1e3:.0f} ms |")


def _ask(url: str) -> None:
    """Send the server a request, and wait for its answer."""
    asked = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(ASKED).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        answer.read()


def _print_paints(found: dict[str, list[Paint]]) -> None:
    print("| page | first figure, new browser | by the plain page | after a reload | by it |")
    print("|---|---|---|---|---|")
    for name, paints in found.items():
        pairs = list(zip(paints, found[PLAIN_PAGE], strict=True))
        cells = [
            f"{statistics.median(paint[of] for paint in paints):.2f} s | "
            f"{statistics.median(paint[of] / plain[of] for paint, plain in pairs):.2f}"
            for of in (0, 1)
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _print_gestures(
    browser: Browser, address: str, gestures: Sequence[Gesture], repeats: int
) -> None:
    with _opened(browser, address) as page:
        page.wait_for_selector(FIRST_CHART, timeout=PATIENCE * 1000)
        page.wait_for_timeout(8000)  # The model loads.
        for gesture in gestures:
            try:
                found = milliseconds(page, gesture, repeats)
            except Error as error:
                print(f"| {gesture.name} | {str(error).splitlines()[0]} |", flush=True)
                continue
            shown = "nothing showed it" if found is None else f"{found:.0f} ms"
            print(f"| {gesture.name} | {shown} |", flush=True)


def _paints(
    browser: Browser, pages: dict[str, tuple[str, str]], repeats: int
) -> dict[str, list[Paint]]:
    """The pages' paints, in turns, after a round in which the server loads its parts.

    Args:
        pages: of each its address, and what selects its first figure.
    """
    rounds = [
        {name: _paint(browser, *where) for name, where in pages.items()} for _ in range(repeats + 1)
    ][1:]
    return {name: [found[name] for found in rounds] for name in pages}


def _paint(browser: Browser, address: str, figure: str) -> Paint:
    """Seconds until the first figure is drawn, opened for the first time and after a reload."""
    with _opened(browser, address, figure) as page:
        first = page.evaluate(SEEN, figure)
        page.wait_for_timeout(2000)
        page.reload()
        return first / 1e3, page.evaluate(SEEN, figure) / 1e3


def watch(page: Page, figure: str) -> None:
    """Let the page's next document note when an element is there, for `SEEN`."""
    page.add_init_script(WATCH.replace("SELECTORS", json.dumps([figure])))


@contextmanager
def _opened(browser: Browser, address: str, figure: str = FIRST_CHART) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(PATIENCE * 1000)
    watch(page, figure)
    try:
        page.goto(address)
        yield page
    finally:
        page.close()


@contextmanager
def served(app: Path) -> Iterator[tuple[str, float]]:
    """The address of a server, and the seconds until it answered."""
    port, started = free_port(), perf_counter()
    options = ["--server.headless", "true", "--server.port", str(port)]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", app.name, *options],
        cwd=app.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(server, url)
        yield url, perf_counter() - started
    finally:
        server.terminate()
        server.wait(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
    app.switch_page(registry.DECODE.script).run()
    move(app, "temperature", 0.9).run()
    sleep(20)  # the model loads and the step's logits are read on another thread
    app.run()
    times = []
    for turn in range(repeats):
        move(app, "temperature", 0.5 + turn / 50)
        started = perf_counter()
        app.run()
        times.append(perf_counter() - started)
    return statistics.median(times)
