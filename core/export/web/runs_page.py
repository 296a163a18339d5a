"""Several runs of one prompt as one web page that needs no server."""

from __future__ import annotations

from ... import figures
from ...decoding.many.types import ManyRuns
from ...figures.base.theme import Theme
from ...language import N_, tr
from ..stored import caption_of_runs, many_tables
from ..stored_parts import many_parts
from .run_page import PageText, run_page


def runs_page(many: ManyRuns, theme: Theme) -> bytes:
    """Return the figures, the tables and the verdict of the runs as a web page."""
    kind, verdict = N_("Decoding Explorer: many runs"), figures.many_verdict
    if many.has_searches:
        kind, verdict = N_("Decoding Explorer: one prompt, every decoder"), figures.methods_verdict
    first = many.traces[0]
    run = PageText(
        title=tr(kind),
        settings=caption_of_runs(many),
        prompt=first.rendered_prompt or first.prompt,
        text=f"\n\n{verdict(many)}",
        notes=many_tables(many),
    )
    return run_page(run, many_parts(many), theme)
