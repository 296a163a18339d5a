"""Draw the rejected tokens of a run, the drafts' calibration, and acceptance by class of token."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core import figures
from core.decoding.record.trace import Trace
from core.decoding.speculative.analysis.rejections import rejections
from core.decoding.speculative.config import Speculative
from core.figures.speculative.drafts.patterns import pattern_note
from core.language import N_, tr
from pages.ui.run.figures import figure
from pages.ui.speculative import parts
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import table

WITHOUT_CALIBRATION = N_(
    "This source gives its drafts no probabilities, so there is no calibration; each counts as "
    "100\u00a0%."
)
_ROWS = 8
_PROB, _SHARE = "%.3f", "rejection_prob"
_NUMBERS = ("draft_prob", "target_prob", "target_raw_prob", "preferred_prob", _SHARE)
_COLUMNS = ("round", "position", "token", *_NUMBERS[:3], N_("preferred"), *_NUMBERS[3:])


def draw(view: SpecView, trace: Trace, show: Callable[[SpecView, int, int], None]) -> None:
    """The pattern of the drafts, calibration and classes, and a row for each rejected token.

    Args:
        show: selects a token of a round by its place.
    """
    if note := pattern_note(trace):
        st.text(note)
    if trace.require(Speculative).config.source.draws:
        figure.chart(parts.CALIBRATION.part(view, trace), (view.number,), across=True)
    else:
        st.text(tr(WITHOUT_CALIBRATION))
    figure.chart(parts.CLASSES.part(view, trace), (view.number,), across=True)
    rejected = list(rejections(trace))
    if not rejected:
        st.caption(tr("No drafted token was rejected."))
        return
    st.caption(
        tr(
            "Rejected tokens, the token that the target prefers in each place, and the probability "
            "of the rejection. target_raw_prob is the target's unshaped probability, before "
            "temperature and filters; the others are final, as the verification reads them. Click "
            "a row to see its verification and its source in words."
        )
    )
    table.draw(
        "rejected",
        figures.spec_rejections_data(trace)[list(_COLUMNS)],
        numbers=dict.fromkeys(_NUMBERS, _PROB),
        most_rows=_ROWS,
        on_pick=lambda at: show(view, rejected[at].round, rejected[at].place),
    )
