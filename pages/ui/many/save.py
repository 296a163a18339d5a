"""Web page of many runs."""

from __future__ import annotations

from core import figures
from core.decoding.many.types import ManyRuns
from core.export.stored import many_tables
from core.export.stored_parts import many_parts
from core.export.web.run_page import PageText, run_page
from pages.ui.many.state import example
from pages.ui.widgets.controls import figure_choices


def web_page(many: ManyRuns) -> bytes:
    """Return figures, tables and the verdict as one page that needs no server."""
    first = many.traces[0]
    run = PageText(
        title="Decoding Explorer: many runs",
        settings=figures.many_caption(many),
        prompt=first.rendered_prompt or first.prompt,
        text=figures.many_verdict(many),
        notes=many_tables(many),
    )
    return run_page(run, many_parts(many), figure_choices.theme())


def stored_page() -> bytes | None:
    """Return the web page of the stored grid; None if its file is missing or damaged."""
    found = example("grid")
    return web_page(found) if found else None
