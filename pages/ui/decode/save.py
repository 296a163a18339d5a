"""A run's figures on their way out: the saved page, the archive."""

from __future__ import annotations

from core.decoding.record.trace import Trace
from core.export.part import Part
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from core.language import tr
from pages.ui.decode.branches import TREE
from pages.ui.decode.forks import FORKS
from pages.ui.decode.methods.strategies import strategy_of
from pages.ui.decode.parts import CONSTRAINT, HEATMAP, RUN, STEP
from pages.ui.decode.state import DecodeView
from pages.ui.run.figures.pins import PINS
from pages.ui.run.files import save
from pages.ui.run.files.archive import Tables
from pages.ui.run.parts import saved_parts


def parts(view: DecodeView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The whole run in windows, the selected step, and what its tabs show."""
    of_strategy = strategy_of(trace.config).parts.values()
    rows = (HEATMAP, *STEP, *of_strategy, CONSTRAINT, *RUN, FORKS, PINS, TREE)
    figures = saved_parts(rows, view, trace, paper)
    if view.compared is None:
        figures.append(
            Part(
                "time-of-the-cache",
                needs=tr("press “Measure the time with and without the cache” under Time first"),
            )
        )
    return figures


def tables(view: DecodeView, trace: Trace) -> Tables:  # noqa: ARG001
    """The run in numbers, and its tokens."""
    return tables_of(trace)


def web_page(view: DecodeView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The run and its figures as one page that needs no server and no network."""
    return save.web_page(trace, parts(view, trace, PAPER), theme)
