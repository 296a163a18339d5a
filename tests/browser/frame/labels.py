"""Labels of a page that are cut, wrapped where they shouldn't be, or over one another."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

# Figures have tests of their own; tokens, files and code may be longer than their box.
LEFT = (
    ".js-plotly-plot, .strip, .steps, .rows, .runs .text, .de-told, code, pre, script, style,"
    " svg, noscript, [data-testid=stDataFrame], [data-testid=stIconMaterial],"
    " [data-testid=stHeaderActionElements]"
)
# Labels of one line; the methods stand two by two, with room for a line for each word.
ONE_LINE = ":not(.st-key-method *):is(button, [role=tab], [role=radio])"
FAULTS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def faults(page: Page) -> list[str]:
    """Return what is wrong with the labels of a page as it stands."""
    found: list[str] = page.evaluate(FAULTS, [LEFT, ONE_LINE])
    return found
