"""Number of the selected step, with buttons to its neighbours that choose in the token strip."""

from __future__ import annotations

from pages.ui import platform
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_HTML = """
<div class="stepper">
  <button type="button" data-to="previous" aria-label="Previous step" title="Previous step (key ←)"
  ><svg viewBox="0 0 24 24" aria-hidden="true"><path d="m14.5 6-6 6 6 6"/></svg></button>
  <strong></strong>
  <button type="button" data-to="next" aria-label="Next step" title="Next step (key →)"
  ><svg viewBox="0 0 24 24" aria-hidden="true"><path d="m9.5 6 6 6-6 6"/></svg></button>
  <button type="button" data-to="uncertain" title="More entropy than the run has on average (key U)"
  ><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 12h15m-6-6 6 6-6 6"/></svg
  ><span>Next uncertain step</span></button>
</div>
"""
SCRIPTS = source("widgets/ahead.js", "widgets/stepper.js")
_component = component(
    "stepper",
    html=_HTML,
    js=SCRIPTS,
    isolate_styles=False,
)


def draw(strip: str, at: int, count: int, marked: tuple[int, ...]) -> None:
    """Draw them.

    Args:
        strip: the key of the strip of tokens.
        marked: steps that "next uncertain" goes to.
    """
    # It shows what is chosen by itself: there is nothing to fetch.
    strip, ahead = platform.key(strip), {"address": "", "at": {platform.key(strip): at}}
    data = {
        "name": platform.key("stepper"),
        "strip": strip,
        "ahead": ahead,
        "count": count,
        "marked": marked,
    }
    _component(key=platform.key("stepper"), data={**data, "drawn": drawn_at()})
