"""A diffusion run and its figures as one page that needs no server."""

from __future__ import annotations

from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from pages.ui.diffusion.parts import PARTS
from pages.ui.diffusion.state import DiffusionView
from pages.ui.run.files import save
from pages.ui.run.files.archive import Tables
from pages.ui.run.parts import saved_parts


def parts(view: DiffusionView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """Return the whole canvas in windows, the order, the selected position, what was measured."""
    return saved_parts(PARTS, view, trace, paper)


def tables(view: DiffusionView, trace: Trace) -> Tables:  # noqa: ARG001
    """Return the filled positions in the order of the text."""
    return tables_of(trace)


def web_page(view: DiffusionView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """Return the text, the canvas, the order and the selected position as a web page."""
    notes = [*tables(view, trace)]
    return save.web_page(trace, parts(view, trace, PAPER), theme, notes=notes)
