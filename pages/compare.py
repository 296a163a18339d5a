"""Compare: two runs side by side, where they part, and why."""

from __future__ import annotations

from pages.ui.compare import page
from pages.ui.shell import frame

frame.intro(
    "Compare",
    "Two runs side by side: what differs in their settings, where their texts part, and why. "
    "Click a token on either side, and both show the same step.",
)
page.show()
