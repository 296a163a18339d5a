"""Web page of the stored grid of many runs."""

from __future__ import annotations

from core.export.web.runs_page import runs_page
from pages.ui.many.state import example
from pages.ui.widgets.controls import figure_choices


def stored_page() -> bytes | None:
    """Return the web page of the stored grid; None if its file is missing or damaged."""
    found = example("grid")
    return runs_page(found, figure_choices.theme()) if found else None
