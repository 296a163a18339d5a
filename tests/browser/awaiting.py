"""Playwright's assertions wait for their element by `wait_for` first.

A vain look of `expect` for an element that isn't there reads the whole page as a screen reader
does, for its message. That costs the browser as much as a figure, and the looks come up to a second
apart.
"""

from __future__ import annotations

from typing import Any

from playwright._impl.assertions import LocatorAssertions
from playwright.sync_api import Error, Page, expect

_WITHOUT_AN_ELEMENT = ("to.be.hidden", "to.be.detached", "to.have.count")
_look = LocatorAssertions._call_expect


async def _after_the_element(
    self: LocatorAssertions, expression: str, options: Any, title: str | None
) -> Any:
    if not self._is_not and not expression.endswith((".array", *_WITHOUT_AN_ELEMENT)):
        try:
            await self._actual_locator.first.wait_for(state="attached", timeout=options["timeout"])
        except Error:
            options["timeout"] = 1  # The assertion fails at once, in its own words.
    return await _look(self, expression, options, title)


def await_elements() -> None:
    """Let the assertions of this process wait so."""
    LocatorAssertions._call_expect = _after_the_element


def stand_still(page: Page) -> None:
    """Wait until the page is drawn."""
    expect(page.locator("[data-testid=stMainBlockContainer] h1")).to_be_visible()
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_attached()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.chart')].every("
        "one => !one.clientWidth || one.querySelector('.main-svg'))"
        " && window.decodingExplorer && !document.querySelector('[data-stale=true]')"
        # A text that was drawn again fades in; those that follow a scroll bar never end.
        " && document.getAnimations().every("
        "one => one.timeline !== document.timeline || one.playState !== 'running')"
    )
