"""Acceptance by draft position, and speed-up by draft length."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...decoding.speculative.measurement.metrics import PositionRate, acceptance_by_position
from ...decoding.speculative.measurement.report import LengthSweep, SweepPoint
from ...language import N_, tr, trn
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, lines, percent, percent_ticks, percentage, settings_caption
from ..base.marks import OUTSIDE, add_line, hover_texts
from ..base.measure import text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import bar_color, rule_of

_LEFT = 56
# Fields of a measured length that its table leaves to other columns, or to another figure.
_OF_OTHERS = ("spread", "rounds", "acceptance_interval", "tokens_interval")


@table("position drafted reached accepted rate rate_when_reached")
def spec_positions_data(trace: Trace) -> TableRows:
    """Return counts and rates, one row for each position."""
    return [
        (nth(rate.position), *rate[1:], rate.rate, rate.rate_when_reached)
        for rate in acceptance_by_position(trace.rounds)
    ]


@figure(
    N_("Acceptance by position"),
    settings_caption,
    spec_positions_data,
    subtitle=N_(
        "The share of all drafted tokens falls, as nothing is accepted after a rejection. "
        "The share of reached tokens shows how hard the position itself is."
    ),
    alt=lambda rates: (
        tr("Bars of accepted tokens for each draft position."),
        tr("; ").join(
            tr(
                "position {position}: {accepted} of {drafted} drafted, {reached} reached",
                position=nth(r.position),
                accepted=r.accepted,
                drafted=r.drafted,
                reached=r.reached,
            )
            for r in rates[:12]
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (bar_color("accepted", theme), tr("of drafted")),
            (bar_color("bonus", theme), tr("of reached")),
        ]
    ],
)
def spec_positions(trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw, for each draft position, the share accepted of all drafted tokens and of the reached
    ones.
    """
    rates = acceptance_by_position(trace.rounds)
    if not rates:
        return tr("Nothing was drafted in this run.")
    drafted, reached = bar_color("accepted", theme), bar_color("bonus", theme)
    slot = (paper.width - _LEFT - 20) / max(len(rates), 4)
    sheet = Sheet(
        theme,
        paper,
        facts={"rates": rates},
        plot_height=220,
        left=_LEFT,
        right=20,
        below=66,
        traces=[
            _bars("of drafted", rates, [rate.rate for rate in rates], drafted, -0.2),
            _bars("of reached", rates, [rate.rate_when_reached for rate in rates], reached, 0.2),
        ],
        key_offset=44,
        layout={
            "barmode": "overlay",
            "xaxis": axis(
                theme,
                tr("draft position"),
                range=[0.5, max(len(rates), 4) + 0.5],
                showgrid=False,
                tickmode="array",
                tickvals=list(range(1, len(rates) + 1, 1 + len(rates) // 20)),
            ),
            "yaxis": axis(theme, tr("accepted"), range=[0, 1.12], **percent_ticks(1.0, 2)),
        },
    )
    if 0.4 * slot < text_width(f"100{NBSP}%", SMALL) + 2:
        sheet.traces = [{**trace, "text": None} for trace in sheet.traces]
    return sheet


def _bars(
    name: str,
    rates: Sequence[PositionRate],
    values: Sequence[float | None],
    color: str,
    shift: float,
) -> Properties:
    texts = [
        lines(
            tr("position {position}", position=nth(r.position)),
            tr(
                "accepted {accepted} of {drafted} drafted, {reached} reached",
                accepted=r.accepted,
                drafted=r.drafted,
                reached=r.reached,
            ),
        )
        for r in rates
    ]
    return {
        "type": "bar",
        "name": name,
        "x": [nth(rate.position) + shift for rate in rates],
        "y": list(values),
        "width": 0.38,
        "marker": {"color": color, "line": {"width": 0}},
        "text": ["" if v is None else percentage(v) for v in values],
        "textfont": {"size": SMALL},
        **OUTSIDE,
        **hover_texts(texts),
    }


def spec_sweep_data(sweep: LengthSweep) -> pd.DataFrame:
    """Return a row for each draft length, with the spread of its runs' measured speed-ups."""
    names = [name for name in SweepPoint._fields if name not in _OF_OTHERS]
    frame = pd.DataFrame(list(sweep.points), columns=list(SweepPoint._fields))[names]
    spans = [point.spread or (None, None) for point in sweep.points]
    return frame.assign(
        measured_low=[span[0] for span in spans], measured_high=[span[1] for span in spans]
    )


@figure(
    N_("Speed-up by draft length"),
    lambda sweep, trace, paper: (
        settings_caption(trace, paper)
        + f" · {tr('every length measured with seeds of its own')}" * bool(sweep.points)
    ),
    spec_sweep_data,
    subtitle=lambda sweep, trace: _verdict(sweep, trace),
    alt=lambda sweep, trace: (
        tr("Speed-up over target-only decoding by draft length."),
        tr("; ").join(
            tr(
                "length {length}: measured {measured:.2f}, predicted {predicted:.2f}",
                length=p.draft_length,
                measured=p.measured,
                predicted=p.predicted,
            )
            for p in sweep.points
        )
        + tr("."),
        *_verdict(sweep, trace),
    ),
    key=lambda theme: [
        [
            (theme.first, tr("measured"), "●"),
            (theme.second, tr("predicted"), "◆"),
            (theme.muted, tr("target only"), "┄"),
        ]
    ],
)
def spec_sweep(
    sweep: LengthSweep, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw measured and predicted speed-up over target-only decoding, by draft length."""
    if not sweep.points:
        return tr("No draft length was measured.")
    points = sweep.points
    below = {"dash": "dot", "xref": "paper", "layer": "below"}
    lengths = [point.draft_length for point in points]
    top = max(1.0, *(max(p.measured, p.predicted, *(p.spread or ())) for p in points))
    sheet = Sheet(
        theme,
        paper,
        plot_height=240,
        left=_LEFT,
        right=24,
        below=66,
        traces=[
            _line("measured", points, [p.measured for p in points], theme.first, "circle", "solid")
            | _whiskers(points, theme.first),
            _line(
                "predicted", points, [p.predicted for p in points], theme.second, "diamond", "dash"
            ),
        ],
        key_offset=44,
        layout={
            "xaxis": axis(
                theme,
                tr("draft length"),
                range=[lengths[0] - 0.5, lengths[-1] + 0.5],
                showgrid=False,
                tickmode="array",
                tickvals=lengths,
            ),
            "yaxis": axis(theme, tr("times as fast"), range=[0, top * 1.12], nticks=6),
        },
    )
    add_line(sheet, "even", (0, 1), 1, theme.muted, 1.5, **below)
    return sheet


def draft_length_line(
    name: str,
    points: Sequence[SweepPoint],
    values: Sequence[float],
    color: str,
    symbol: str,
    texts: Sequence[str],
) -> Properties:
    """Return a line with a mark for each draft length.

    Args:
        texts: the text that each mark shows where it is pointed at.
    """
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers",
        "x": [point.draft_length for point in points],
        "y": list(values),
        "line": {"color": color, "width": 2.5},
        "marker": {"symbol": symbol, "size": 9, "color": color},
        **hover_texts(texts),
        "cliponaxis": False,
    }


def _line(
    name: str,
    points: Sequence[SweepPoint],
    values: Sequence[float],
    color: str,
    symbol: str,
    dash: str,
) -> Properties:
    texts = [
        lines(
            tr("draft length {length}", length=p.draft_length),
            tr("measured {measured:.2f}", measured=p.measured),
            tr("predicted {predicted:.2f}", predicted=p.predicted),
            tr("{tokens:.2f} tokens a round", tokens=p.tokens_per_round),
            tr("{rate} of drafted accepted", rate=percent(p.acceptance_rate)),
        )
        for p in points
    ]
    return {
        **draft_length_line(name, points, values, color, symbol, texts),
        "line": {"color": color, "width": 2.5, "dash": dash},
    }


def _whiskers(points: Sequence[SweepPoint], color: str) -> Properties:
    """Return lines from the slowest to the fastest run of each length."""
    ends = [(p.measured, *(p.spread or (p.measured, p.measured))) for p in points]
    return {
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, high - middle) for middle, _, high in ends],
            "arrayminus": [max(0.0, middle - low) for middle, low, _ in ends],
            "color": color,
            "thickness": 1.5,
            "width": 4,
        }
    }


def _verdict(sweep: LengthSweep, trace: Trace) -> Sequence[str | bool]:
    """Return sentences on the measurement, the prediction, and their difference."""
    if sweep.alpha is None:
        return [tr("Nothing was drafted, so there is nothing to predict.")]
    fastest, apart = sweep.fastest, [point for point in sweep.points if point.disagrees]
    worst = max(apart, key=lambda point: abs(point.predicted / point.measured - 1), default=fastest)
    predicted = {"alpha": sweep.alpha}
    return [
        trn(
            "Fastest as measured: {length} ({speed:.2f} times).",
            "Fastest as measured: {length} ({speed:.2f} times, median of {count} runs).",
            fastest.runs,
            length=fastest.draft_length,
            speed=fastest.measured,
        ),
        sweep.best is not None
        and sweep.best != fastest.draft_length
        and tr("By the prediction it would be {length}.", length=sweep.best),
        bool(apart)
        and tr(
            "Prediction and measurement disagree at {count} of {total} lengths, most at {length}: "
            "{predicted:.2f} against {measured:.2f}.",
            count=len(apart),
            total=len(sweep.points),
            length=worst.draft_length,
            predicted=worst.predicted,
            measured=worst.measured,
        ),
        tr("Predicted from alpha {alpha:.2f} and the costs measured here.", **predicted)
        if rule_of(trace) == "speculative"
        else tr(
            "Predicted from the mean accept_prob {alpha:.2f} and the costs measured here.",
            **predicted,
        ),
        _pays(sweep),
    ]


def _pays(sweep: LengthSweep) -> str:
    if sweep.break_even is None:
        return tr("No measured length is predicted to pay.")
    if sweep.pays_to_the_end:
        return tr(
            "Predicted to pay up to {length}, the longest measured, or above.",
            length=sweep.break_even,
        )
    return tr("Predicted to pay up to {length}.", length=sweep.break_even)
