"""Web page of the runs of Home."""

from __future__ import annotations

from core import figures
from core.decoding.many.types import ManyRuns
from core.export.stored import many_tables
from core.export.stored_parts import many_parts
from core.export.web.run_page import PageText, run_page
from pages.ui.home.state import example
from pages.ui.widgets.controls import figure_choices


def web_page(many: ManyRuns) -> bytes:
    """Return the tree, the table and the verdict as one page that needs no server."""
    first = many.traces[0]
    run = PageText(
        title="Decoding Explorer: one prompt, every decoder",
        settings=figures.methods_caption(many),
        prompt=first.rendered_prompt or first.prompt,
        text=f"\n\n{figures.methods_verdict(many)}",
        notes=many_tables(many),
    )
    return run_page(run, many_parts(many), figure_choices.theme())


def stored_page() -> bytes | None:
    """Return the web page of the stored runs; None if their file is missing or damaged."""
    runs = example()
    return web_page(runs.many) if runs else None
