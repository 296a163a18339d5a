"""Course: short lessons beside the pages, each of which asks for a guess before it shows."""

from __future__ import annotations

from core.language import N_
from pages.ui.course import page
from pages.ui.shell import frame

frame.intro(
    N_("Course"),
    N_(
        "How does a language model decide what to write? Each lesson takes about "
        "five minutes and uses the real pages: you guess first, then you look, "
        "and every number comes from a model that runs here."
    ),
)
page.draw()
