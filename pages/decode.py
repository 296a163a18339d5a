"""Decode: one run of one model, every probability visible."""

from __future__ import annotations

from core.language import N_
from pages.ui.decode import page
from pages.ui.shell import frame

with frame.page_columns():
    frame.intro(
        N_("Decode"),
        N_(
            "A language model writes one token at a time: at every step it assigns a "
            "probability to each token of its vocabulary, and the method picks one. "
            "Click a token to see that step."
        ),
    )
    page.show()
