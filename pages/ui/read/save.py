"""Exports of the page Read: the reading as a file, a web page and an archive of figures."""

from __future__ import annotations

from functools import partial

from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.subject import Subject
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.figures.read.words import reading_caption
from core.language import tr
from pages.ui import registry
from pages.ui.read.parts import ALL
from pages.ui.read.state import ReadView
from pages.ui.run.files import save
from pages.ui.run.files.archive import ArchiveSource, Tables
from pages.ui.run.parts import saved_parts
from pages.ui.widgets import style


def parts(view: ReadView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """All figures of the text, in windows where it is long."""
    return saved_parts(ALL, view, trace, paper)


def tables(view: ReadView, trace: Trace) -> Tables:  # noqa: ARG001
    """The reading in numbers, and its tokens."""
    return tables_of(trace)


def web_page(view: ReadView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The text and its figures as one page that needs no server and no network."""
    return save.web_page(
        trace,
        parts(view, trace, PAPER),
        theme,
        title=tr("Decoding Explorer: a text that a model read"),
        settings=reading_caption(trace),
    )


def stored_page() -> bytes | None:
    """Return the web page of the stored example; None if it can't be read."""
    view = ReadView.initial()
    return None if view.trace is None else web_page(view, view.trace)


def menu(view: ReadView, trace: Trace) -> None:
    """Draw the menu that saves the reading; its link is the page's address."""
    file = partial(save.trace_file, trace)
    source = ArchiveSource(
        "decoding-read",
        registry.READ.path,
        lambda: Subject.of_trace(trace, file()),
        lambda paper: parts(view, trace, paper),
        lambda: tables(view, trace),
    )
    save.save(
        source,
        file,
        lambda: web_page(view, trace, style.theme()),
        run=True,
        file_help=tr(
            "“Open a trace” shows this file on Decode, as a run whose tokens are all given."
        ),
    )
