"""Draw the target's input in both ways of scoring, and their times."""

from __future__ import annotations

import streamlit as st

from core.decoding.record.trace import Trace
from core.figures.speculative.feed import feed_words
from core.figures.speculative.metrics import scoring_words, spec_scoring_data
from core.language import N_, tr
from pages.ui.run.figures import figure
from pages.ui.speculative import measurement, parts, work
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import table
from pages.ui.widgets.controls.control import value


def draw(view: SpecView, trace: Trace) -> None:
    """The drawing of the selected round, and both ways timed side by side."""
    at = parts.selected_round(view)
    if any(step.parents for step in trace.rounds):
        for part in (parts.TREE, parts.MASK):
            figure.chart(part.part(view, trace), (view.number, at, part.name), across=True)
    if any(step.window for step in trace.rounds):
        figure.chart(parts.WINDOW.part(view, trace), (view.number, at, "window"), across=True)
    figure.chart(parts.FEED.part(view, trace), (view.number, at), across=True)
    st.caption(
        tr(
            "Multi-query reads every position of one sequence; batch expansion makes a sequence "
            "for every position and reads its last token. Both give the same probabilities."
        )
        + f" {feed_words(trace, at)}"
    )
    measurement.row(
        view,
        "scored",
        N_("Time both methods"),
        lambda: work.score_both_ways(trace, int(value("repeats"))),
        N_("Runs this run with both scoring methods in turns."),
    )
    if view.scored is not None:
        st.text(scoring_words(view.scored))
        timed = ("score, ms a round", "fastest run", "slowest run")
        numbers = dict.fromkeys(timed, "%.2f")
        table.draw("scored-table", spec_scoring_data(view.scored), numbers=numbers)
