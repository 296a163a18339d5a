"""A search and its figures as one page that needs no server."""

from __future__ import annotations

from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.figures.beam.words import beam_caption
from pages.ui.beam.parts import PARTS
from pages.ui.beam.state import BeamView
from pages.ui.run.files import save
from pages.ui.run.files.archive import Tables
from pages.ui.run.parts import saved_parts


def parts(view: BeamView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The tree in windows, as the page's switches draw it, the selected step and the comparison.

    Args:
        trace: the search as it is ranked now.
    """
    return saved_parts(PARTS, view, trace, paper)


def tables(view: BeamView, trace: Trace) -> Tables:  # noqa: ARG001
    """The hypotheses, best first."""
    return tables_of(trace)


def web_page(view: BeamView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text, the whole tree in windows, the selected step, the comparison and the hypotheses."""
    figures = parts(view, trace, PAPER)
    notes = [*tables(view, trace)]
    return save.web_page(trace, figures, theme, settings=beam_caption(trace), notes=notes)
