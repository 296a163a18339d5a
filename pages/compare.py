"""Compare: two runs side by side, where they part, and why."""

from __future__ import annotations

from core.language import N_
from pages.ui.compare import page
from pages.ui.shell import frame

frame.intro(
    N_("Compare"),
    N_(
        "Two runs side by side, with their different settings, the first token "
        "that differs, and the reason. Click a token on either side to see that "
        "step of both."
    ),
)
page.show()
