"""Acceptance rate and tokens a round by draft length, measured over the rounds of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted
from ...decoding.record.trace import Trace
from ...decoding.speculative.measurement.report import LengthSweep, SweepPoint
from ...language import N_, tr
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, percent, percent_ticks, settings_caption
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from .rates import draft_length_line

_PANEL, _GAP = 150, 24
_HEIGHT = 2 * _PANEL + _GAP


@table(
    "draft_length rounds acceptance_rate acceptance_low acceptance_high tokens_per_round "
    "tokens_low tokens_high predicted_rate predicted_tokens"
)
def spec_acceptance_data(sweep: LengthSweep) -> TableRows:
    """Return a row for each draft length, with 95 % intervals over its rounds."""
    for point in sweep.points:
        yield (
            point.draft_length,
            point.rounds,
            point.acceptance_rate,
            *(point.acceptance_interval or (None, None)),
            point.tokens_per_round,
            *(point.tokens_interval or (None, None)),
            *_predicted(sweep.alpha, point.draft_length),
        )


def _predicted(alpha: float | None, length: int) -> tuple[float | None, float | None]:
    """Return the rate and the tokens a round if each token were accepted with the same
    probability: `(alpha + ... + alpha^k) / k`, and `1 + alpha + ... + alpha^k` (Leviathan 2023).
    """
    if alpha is None:
        return None, None
    accepted = sum(alpha**at for at in range(1, length + 1))
    return accepted / length, 1 + accepted


def _verdict(sweep: LengthSweep) -> str:
    """Return what a longer draft costs and gains, by the shortest and the longest length."""
    short, long = sweep.points[0], sweep.points[-1]
    return tr(
        "From {short} to {long} drafted tokens the accepted share goes from {low} to {high}, the "
        "tokens a round from {few:.2f} to {many:.2f}.",
        short=short.draft_length,
        long=long.draft_length,
        low=percent(short.acceptance_rate),
        high=percent(long.acceptance_rate),
        few=short.tokens_per_round,
        many=long.tokens_per_round,
    )


@figure(
    N_("Acceptance by draft length"),
    lambda sweep, trace, paper: (
        settings_caption(trace, paper) + f" · {_rounds(sweep)}" * bool(sweep.points)
    ),
    spec_acceptance_data,
    subtitle=lambda sweep: (_verdict(sweep), tr("Whiskers: 95 % intervals over the rounds.")),
    alt=lambda sweep: (
        tr("Share of drafted tokens that are accepted, and tokens a round, by draft length."),
        tr("; ").join(
            tr(
                "length {length}: {rate}, {tokens:.2f} tokens a round",
                length=p.draft_length,
                rate=_rate(p),
                tokens=p.tokens_per_round,
            )
            for p in sweep.points
        )
        + tr("."),
    ),
    key=lambda theme, sweep: [
        [
            (theme.first, tr("accepted share"), "●"),
            (theme.second, tr("tokens a round"), "◆"),
            sweep.alpha is not None and (theme.muted, tr("if each passed with alpha"), "┄"),
        ]
    ],
)
def spec_acceptance(
    sweep: LengthSweep, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accepted share of drafted tokens over the tokens a round, by draft length."""
    if not sweep.points:
        return tr("No draft length was measured.")
    points, lengths = sweep.points, [point.draft_length for point in sweep.points]
    most = max(
        *(max(p.tokens_per_round, *(p.tokens_interval or ())) for p in points),
        *(_predicted(sweep.alpha, length)[1] or 0.0 for length in lengths),
    )
    across = {
        "range": [lengths[0] - 0.5, lengths[-1] + 0.5],
        "showgrid": False,
        "tickmode": "array",
        "tickvals": lengths,
    }
    lower, upper = [0, _PANEL / _HEIGHT], [1 - _PANEL / _HEIGHT, 1]
    rate = axis(theme, tr("accepted"), range=[0, 1.05], domain=upper, **percent_ticks(1.0, 2))
    sheet = Sheet(
        theme,
        paper,
        plot_height=_HEIGHT,
        left=56,
        right=24,
        below=66,
        key_offset=44,
        layout={
            "xaxis": axis(theme, tr("draft length"), anchor="y2", **across),
            "yaxis": rate,
            "yaxis2": axis(
                theme, tr("tokens a round"), range=[0, most * 1.1], nticks=5, domain=lower
            ),
        },
    )
    rates = [p.acceptance_rate for p in points]
    tokens = [p.tokens_per_round for p in points]
    sheet.traces = [
        *_predictions(sweep, lengths, theme),
        _marks("accepted share", points, rates, theme.first, "circle")
        | _whiskers([p.acceptance_interval for p in points], rates, theme.first),
        _marks("tokens a round", points, tokens, theme.second, "diamond")
        | _whiskers([p.tokens_interval for p in points], tokens, theme.second)
        | {"yaxis": "y2"},
    ]
    return sheet


def _rounds(sweep: LengthSweep) -> str:
    return tr("{count:,} rounds measured", count=sum(point.rounds for point in sweep.points))


def _rate(point: SweepPoint) -> str:
    rate = percent(point.acceptance_rate)
    if point.acceptance_interval is None:
        return rate
    low, high = map(percent, point.acceptance_interval)
    return tr("{rate} ({low} to {high})", rate=rate, low=low, high=high)


def _predictions(sweep: LengthSweep, lengths: Sequence[int], theme: Theme) -> list[Properties]:
    """Return both dashed lines of equal acceptance; none if nothing was drafted."""
    if sweep.alpha is None:
        return []
    return [
        {
            "type": "scatter",
            "name": "predicted",
            "mode": "lines",
            "x": list(lengths),
            "y": [_predicted(sweep.alpha, length)[at] for length in lengths],
            "yaxis": name,
            "line": {"color": theme.muted, "width": 1.5, "dash": "dot"},
            "hoverinfo": "skip",
        }
        for at, name in enumerate(("y", "y2"))
    ]


def _marks(
    name: str, points: Sequence[SweepPoint], values: Sequence[float], color: str, symbol: str
) -> Properties:
    texts = [
        lines(
            tr("draft length {length}", length=p.draft_length),
            tr("{rate} of drafted accepted", rate=_rate(p)),
            tr("{tokens:.2f} tokens a round", tokens=p.tokens_per_round),
            tr(counted(p.rounds, "round")),
        )
        for p in points
    ]
    return draft_length_line(name, points, values, color, symbol, texts)


def _whiskers(
    intervals: Sequence[tuple[float, float] | None], values: Sequence[float], color: str
) -> Properties:
    ends = [interval or (value, value) for interval, value in zip(intervals, values, strict=True)]
    return {
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [high - value for (_, high), value in zip(ends, values, strict=True)],
            "arrayminus": [value - low for (low, _), value in zip(ends, values, strict=True)],
            "color": color,
            "thickness": 1.5,
            "width": 4,
        }
    }
