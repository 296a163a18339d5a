"""Draw the times of the stages, the draft-length sweep, and the table of metrics."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import figures
from core.decoding.counting import sentences
from core.decoding.record.trace import Trace
from core.decoding.speculative.config import SWEPT_LENGTHS
from core.decoding.speculative.measurement.report import Comparison, LengthSweep
from core.figures.base.measure import text_width
from core.figures.speculative.metrics import latency_words, spec_latency_data, spec_metrics_data
from core.figures.speculative.sources.kinds import sources_words
from core.figures.speculative.time import verdict
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run.figures import figure
from pages.ui.speculative import measurement, parts, work
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import style, table
from pages.ui.widgets.controls.control import value

# px: on a phone a metric's definition is in view. A cell has 8 px of room on each side.
_COLUMNS = (N_("metric"), N_("value"), N_("definition"), N_("source"))
_WIDE = dict(zip(_COLUMNS, (233, 65, 403, 219), strict=True))
_PHONE = dict(zip(_COLUMNS, (100, 60, 200, 200), strict=True))
_TWO_LINES, _FOUR_LINES, _BESIDE, _TEXT_SIZE = 66, 90, 16, 14
_UNMEASURED = N_("Runs speculative and target-only decoding in turns on this machine.")


def draw(view: SpecView, trace: Trace) -> None:
    """The verdict, the stages of every round, latencies, and the sweep."""
    measurement.row(
        view,
        "comparison",
        N_("Measure against the target alone"),
        lambda: work.compare(trace, int(value("repeats"))),
        _UNMEASURED,
        options=("repeats",),
    )
    comparison = view.comparison
    if comparison is not None:
        with st.container(key=platform.key("time-verdict")):
            st.text(verdict(comparison))
    figure.chart(parts.TIME.part(view, trace), (view.number, comparison), across=True)
    if comparison is not None:
        st.caption(latency_words(comparison))
        numbers = {"speculative, ms": "%.1f", "target only, ms": "%.1f"}
        table.draw("latencies", spec_latency_data(comparison), numbers=numbers)
    _sources(view, trace)
    _sweep(view, trace)


def _sources(view: SpecView, trace: Trace) -> None:
    measurement.row(
        view,
        "sources",
        N_("Measure every source"),
        lambda: work.sources(trace),
        N_(
            "This prompt with every source as a chain and as trees, three runs each; it takes some "
            "minutes."
        ),
    )
    if view.sources is not None:
        st.text(sources_words(view.sources))
        ratios = ("tokens a round", "speed-up", "lowest speed-up", "highest speed-up")
        numbers = dict.fromkeys(ratios, "%.2f")
        table.draw(
            "sources-table",
            figures.spec_sources_data(view.sources),
            numbers=numbers | {"ms a token": "%.1f"},
            height="content",
        )


def _sweep(view: SpecView, trace: Trace) -> None:
    measurement.row(
        view,
        "sweep",
        tr("Measure {count} draft lengths", count=len(SWEPT_LENGTHS)),
        lambda: work.sweep(trace),
        tr(
            "Measured and predicted speed-up of the draft lengths {lengths} and {last}, three runs "
            "each.",
            lengths=tr(", ").join(map(str, SWEPT_LENGTHS[:-1])),
            last=SWEPT_LENGTHS[-1],
        ),
    )
    sweep = view.sweep
    if sweep is not None:
        figure.chart(parts.LENGTHS.part(view, trace), (view.number, sweep), across=True)


def metrics(view: SpecView, trace: Trace) -> None:
    """Acceptance by position and by draft length, and the table of metrics."""
    figure.chart(parts.POSITIONS.part(view, trace), (view.number,), across=True)
    if view.sweep is not None:
        figure.chart(parts.ACCEPTANCE.part(view, trace), (view.number, view.sweep), across=True)
    _exits(view, trace)
    narrow, rows = style.narrow(), spec_metrics_data(trace, view.comparison, view.sweep)
    table.draw(
        "metrics",
        rows,
        widths=_PHONE if narrow else _WIDE,
        height="content",
        row_height=_FOUR_LINES if narrow else _row_height(rows),
    )
    if view.comparison is not None:
        st.caption(
            tr(
                "Costs are of the median round; the verdict under “Time” takes the average one, "
                "which slow rounds make longer."
            )
        )
    if missing := unmeasured(view.comparison, view.sweep):
        st.caption(missing)


def _row_height(rows: pd.DataFrame) -> int | None:
    """Return the height of all rows if a cell's text needs two lines, else None."""
    fit = all(
        text_width(text, _TEXT_SIZE) <= _WIDE[column] - _BESIDE
        for column in _COLUMNS
        for text in rows[column]
    )
    return None if fit else _TWO_LINES


def _exits(view: SpecView, trace: Trace) -> None:
    measurement.row(
        view,
        "exits",
        N_("Measure the exit layers"),
        lambda: work.exits(trace),
        N_("Acceptance of drafts by the target’s first layers, with their likeliest tokens."),
    )
    if view.exits is not None:
        figure.chart(parts.EXITS.part(view, trace), (view.number, view.exits), across=True)


def unmeasured(comparison: Comparison | None, sweep: LengthSweep | None) -> str:
    """Name the missing metrics and the measurements that give them; empty if none is missing."""
    waits = []
    if comparison is None:
        waits.append(
            tr("Costs and the expected speed-up follow once the run was measured under “Time”.")
        )
    if sweep is None:
        waits.append(
            tr(
                "The acceptance at other draft lengths, the best and the break-even length follow "
                "once draft lengths were measured under “Time”."
            )
        )
    return tr(sentences(*waits))
