"""Web page of the stored runs of Home."""

from __future__ import annotations

from core.export.web.runs_page import runs_page
from pages.ui.home.state import example
from pages.ui.widgets.controls import figure_choices


def stored_page() -> bytes | None:
    """Return the web page of the stored runs; None if their file is missing or damaged."""
    runs = example()
    return runs_page(runs.many, figure_choices.theme()) if runs else None
