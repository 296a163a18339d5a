"""First figure of a page in each language, divided by its first figure in English.

The languages take turns, page by page and round by round: what else the machine does meets all of
them. A ratio is the median of the rounds' ratios. A new browser has nothing of the app; one that
has been here before keeps the files, and opens a session of its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.app import FIRST_CHART, PATIENCE, SEEN, served, watch
from core.language.catalogue import ENGLISH, LANGUAGES
from pages.ui import registry
from tests.browser.find_browser import installed_browser

PAGES = ("", "decode", "sampling", "beam", "speculative", "reasoning")
_APP = Path(__file__).parent.parent / "app.py"
_VIEWPORT = {"width": 1280, "height": 720}
OpenTab: TypeAlias = Callable[[], Page]


def run(repeats: int = 10, paths: Sequence[str] = PAGES, *, both: bool = True) -> None:
    """Print tables of seconds and ratios, medians.

    Args:
        paths: of the pages.
        both: measure a new browser too, not only one that has been here before.
    """
    with sync_playwright() as playwright, served(_APP) as (url, _):
        browser = playwright.chromium.launch(
            executable_path=installed_browser(), args=["--no-sandbox", "--disable-gpu"]
        )
        if both:
            print(f"\nFirst figure by language in a new browser, medians of {repeats}")
            _print_table(lambda: browser.new_page(viewport=_VIEWPORT), url, paths, repeats)
        print(f"\nFirst figure by language in a browser that has the files, medians of {repeats}")
        _print_table(_returning(browser), url, paths, repeats)
        browser.close()


def _returning(browser: Browser) -> OpenTab:
    context = browser.new_context(viewport=_VIEWPORT)
    context.new_page()  # A context without a page forgets its files.
    return context.new_page


def _print_table(open_tab: OpenTab, url: str, paths: Sequence[str], repeats: int) -> None:
    others = [language for language in LANGUAGES if language != ENGLISH]
    print(f"| page | {ENGLISH} | {' | '.join(f'{name} | by {ENGLISH}' for name in others)} |")
    print(f"|---|---|{'---|---|' * len(others)}")
    for path in paths:
        addresses = {name: f"{url}/{path}?home=1&lang={name}" for name in LANGUAGES}
        # The first round loads the parts of the server.
        rounds = [
            {name: _first_figure(open_tab, address) for name, address in addresses.items()}
            for _ in range(repeats + 1)
        ][1:]
        cells = [_median(found[ENGLISH] for found in rounds)]
        for name in others:
            ratio = statistics.median(found[name] / found[ENGLISH] for found in rounds)
            cells += [_median(found[name] for found in rounds), f"{ratio:.3f}"]
        title = next(row.title for row in registry.PAGES if row.path == path)
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


def _median(seconds: Iterable[float]) -> str:
    return f"{statistics.median(seconds):.2f} s"


def _first_figure(open_tab: OpenTab, address: str) -> float:
    """Return the seconds from the navigation to the first figure."""
    page = open_tab()
    page.set_default_timeout(PATIENCE * 1000)
    watch(page, FIRST_CHART)
    page.goto(address)
    milliseconds: float = page.evaluate(SEEN, FIRST_CHART)
    page.close()
    return milliseconds / 1e3
