"""Calibration of the drafts: draft probability against the accepted share."""

from __future__ import annotations

from ....decoding.record.trace import Trace
from ....decoding.speculative.analysis.calibration import CalibrationBin, calibration
from ....evaluation.types import Share
from ....language import N_, tr
from ...base.axes import axis
from ...base.figure import TableRows, figure, table
from ...base.labels import NBSP, lines, percent_ticks, percentage, settings_caption
from ...base.marks import hover_texts
from ...base.paper import SCREEN, SMALL, Paper
from ...base.sheet import Sheet
from ...base.theme import LIGHT, Theme
from ...reasoning.words import share_errors
from .shares import FEW, counts_words, interval_words, is_few, share_of


def _share(bin_: CalibrationBin) -> Share:
    return share_of((trial.round, trial.accepted) for trial in bin_.trials)


@table("low high mean_draft_prob verified accepted share interval_low interval_high few")
def spec_calibration_data(trace: Trace) -> TableRows:
    """Return a row for each interval of the draft's unshaped probability."""
    for bin_ in calibration(trace):
        share, mean = _share(bin_), bin_.mean if bin_.trials else None
        counts = (share.total, share.hits, share.value if share.total else None)
        yield (bin_.low, bin_.high, mean, *counts, share.low, share.high, is_few(share))


@figure(
    N_("Calibration of the drafts"),
    settings_caption,
    spec_calibration_data,
    subtitle=lambda shares: (
        tr(
            "The draft's unshaped probability of its tokens, before temperature and filters, and "
            "the share that the target accepts."
        ),
        tr("On the dotted line both are equal; above it the draft is less sure than it could be."),
        any(is_few(share) for _, share in shares)
        and tr("Hollow marks stand for fewer than {few} tokens.", few=FEW),
    ),
    alt=lambda shares: (
        tr("Accepted share of drafted tokens by the draft's unshaped probability."),
        tr("; ").join(
            f"{_span(bin_)}: {counts_words(share)}, {interval_words(share)}"
            for bin_, share in shares
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.first, tr("accepted, with the 95{nbsp}% interval", nbsp=NBSP), "●"),
            (theme.muted, tr("equal"), "┄"),
        ]
    ],
)
def spec_calibration(trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the accepted share of drafted tokens by their draft probability."""
    bins = [bin_ for bin_ in calibration(trace) if bin_.trials]
    if not bins:
        return tr("The drafts of this run have no probabilities.")
    shares, across = [(bin_, _share(bin_)) for bin_ in bins], tr("unshaped draft probability")
    sheet = Sheet(
        theme,
        paper,
        facts={"shares": shares},
        plot_height=240,
        left=56,
        right=24,
        below=66,
        key_offset=44,
        layout={
            "xaxis": axis(theme, across, range=[0, 1], **percent_ticks(1.0, 5)),
            "yaxis": axis(theme, tr("accepted"), range=[-0.04, 1.12], **percent_ticks(1.0, 2)),
        },
    )
    values = [share.value for _, share in shares]
    sheet.traces = [
        {
            "type": "scatter",
            "name": "equal",
            "mode": "lines",
            "x": [0, 1],
            "y": [0, 1],
            "line": {"color": theme.muted, "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "name": "accepted",
            "mode": "markers+text",
            "x": [bin_.mean for bin_ in bins],
            "y": values,
            "text": [f"{NBSP}{NBSP}{share.total:,}{NBSP}{NBSP}" for _, share in shares],
            "textposition": ["middle left" if bin_.mean > 0.9 else "middle right" for bin_ in bins],
            "textfont": {"size": SMALL, "color": theme.ink},
            "marker": {
                "size": 10,
                "color": [theme.paper if is_few(share) else theme.first for _, share in shares],
                "line": {"color": theme.first, "width": 2},
            },
            "error_y": share_errors([share for _, share in shares], theme.first),
            "cliponaxis": False,
            **hover_texts(
                [
                    lines(
                        tr("unshaped draft probability {span}", span=_span(bin_)),
                        counts_words(share),
                        interval_words(share),
                    )
                    for bin_, share in shares
                ]
            ),
        },
    ]
    return sheet


def _span(bin_: CalibrationBin) -> str:
    return f"{100 * bin_.low:.0f}–{percentage(bin_.high)}"
