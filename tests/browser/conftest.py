"""One server and one browser for all browser tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Playwright,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.app_server import running_app
from tests.browser.app_page import PATIENCE_MS
from tests.browser.awaiting import await_elements
from tests.browser.find_browser import NO_BROWSER, installed_browser

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    # One process less to talk to about each frame.
    "--in-process-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-sync",
    # Nothing is drawn by a thread of its own while the server computes.
    "--num-raster-threads=1",
    "--disable-threaded-animation",
    "--disable-threaded-scrolling",
    "--disable-smooth-scrolling",
]
VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
expect.set_options(timeout=PATIENCE_MS)
await_elements()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, started for these tests."""
    with running_app(tmp_path_factory.mktemp("server") / "log.txt") as url:
        yield url


def launch(playwright: Playwright, folder: Path) -> BrowserContext:
    """An installed browser, else the one that playwright fetched, else a failure that helps."""
    try:
        return playwright.chromium.launch_persistent_context(
            folder,
            executable_path=installed_browser(),
            args=ARGUMENTS,
            viewport=VIEWPORT,
            accept_downloads=True,
            # Without a graphics card each frame of an animation costs the tests' processor.
            reduced_motion="reduce",
        )
    except Error:
        pytest.fail(NO_BROWSER)


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """One browser with a cache on disk: it compiles Plotly's script once, not in every test."""
    with sync_playwright() as playwright:
        browser = launch(playwright, tmp_path_factory.mktemp("profile"))
        browser.set_default_timeout(PATIENCE_MS)
        yield browser
        browser.close()


@pytest.fixture
def context(profile: BrowserContext) -> Iterator[BrowserContext]:
    """The browser as if it were new: one blank tab and nothing stored."""
    yield profile
    profile.clear_cookies()
    first, *others = profile.pages
    for page in profile.pages:
        if page.url.startswith("http"):
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
    for page in others:
        page.close()
    leave(first)


def leave(page: Page) -> None:
    """Empty the tab; one that crashed makes room for a new one."""
    try:
        page.goto("about:blank")
        page.set_viewport_size(VIEWPORT)
        page.emulate_media(color_scheme="null")
    except Error:
        page.context.new_page()
        page.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """The one tab, which has compiled the app's scripts already: a new one opens half as fast.

    A dialog or a script error in it fails the test that asks for them; what the content security
    policy forbids fails every test.
    """
    page, troubles, forbidden = context.pages[0], [], []

    def on_dialog(dialog: Dialog) -> None:
        troubles.append(dialog.message)
        dialog.dismiss()

    def on_error(error: Error) -> None:
        troubles.append(str(error))

    def on_console(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            forbidden.append(message.text)

    page.troubles = troubles  # type: ignore[attr-defined]
    page.forbidden = forbidden  # type: ignore[attr-defined]
    page.on("console", on_console)
    page.on("dialog", on_dialog)
    page.on("pageerror", on_error)
    yield page
    page.remove_listener("dialog", on_dialog)
    page.remove_listener("pageerror", on_error)
    page.remove_listener("console", on_console)
    assert forbidden == []
