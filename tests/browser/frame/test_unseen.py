"""A tab that nobody sees."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.decode_page import DecodePage

pytestmark = pytest.mark.browser

# Timers go on when the test says so; what the page sends is counted.
BY_HAND = """
const now = Date.now, timers = new Map(), { send } = WebSocket.prototype;
let made = 0;
Object.assign(window, { sent: 0, later: 0, timers, tick: () => timers.forEach((act) => act()) });
Date.now = () => now() + window.later;
window.setInterval = (act) => (timers.set(++made, act), made);
window.clearInterval = (id) => timers.delete(id);
WebSocket.prototype.send = function (data) { window.sent += 1; send.call(this, data); };
"""
HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SENT = "(act) => { const before = sent; eval(act); return sent - before; }"


def test_a_run_that_nobody_sees_is_not_asked_for_and_is_there_when_it_is_seen(
    context: BrowserContext, server: str
) -> None:
    page = context.new_page()
    page.add_init_script(BY_HAND)
    decode = DecodePage(page, server).open(tokens=400)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.evaluate(HIDE, True)
    decode.run_button.click()
    expect(decode.stop_button).to_be_visible()
    page.wait_for_function("timers.size > 0")
    assert page.evaluate(SENT, "tick(); tick()") == 0
    # Once a minute it is, so that the server goes on with it.
    assert page.evaluate(SENT, "later = 60_000; tick()") > 0
    assert page.evaluate(SENT, "tick()") == 0
    assert page.evaluate(f"() => {{ const before = sent; ({HIDE})(false); return sent - before; }}")
    while "Your run" not in decode.status.inner_text():
        page.evaluate("tick()")
