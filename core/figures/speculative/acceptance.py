"""Acceptance rate and tokens a round by draft length, measured over the rounds of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.record.trace import Trace
from ...decoding.speculative.measurement.report import LengthSweep, SweepPoint
from ..base.axes import axis
from ..base.figure import TableRows, figure, table
from ..base.labels import percent, percent_ticks, settings_caption
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
    return (
        f"From {short.draft_length} to {long.draft_length} drafted tokens the accepted share goes "
        f"from {percent(short.acceptance_rate)} to {percent(long.acceptance_rate)}, the tokens a "
        f"round from {short.tokens_per_round:.2f} to {long.tokens_per_round:.2f}."
    )


@figure(
    "Acceptance by draft length",
    lambda sweep, trace, paper: (
        settings_caption(trace, paper)
        + f" · {sum(point.rounds for point in sweep.points):,} rounds measured" * bool(sweep.points)
    ),
    spec_acceptance_data,
    subtitle=lambda sweep: (_verdict(sweep), "Whiskers: 95 % intervals over the rounds."),
    alt=lambda sweep: (
        "Share of drafted tokens that are accepted, and tokens a round, by draft length.",
        "; ".join(
            f"length {p.draft_length}: {percent(p.acceptance_rate)}{_between(p)}, "
            f"{p.tokens_per_round:.2f} tokens a round"
            for p in sweep.points
        )
        + ".",
    ),
    key=lambda theme, sweep: [
        [
            (theme.first, "accepted share", "●"),
            (theme.second, "tokens a round", "◆"),
            sweep.alpha is not None and (theme.muted, "if each passed with alpha", "┄"),
        ]
    ],
)
def spec_acceptance(
    sweep: LengthSweep, trace: Trace, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accepted share of drafted tokens over the tokens a round, by draft length."""
    if not sweep.points:
        return "No draft length was measured."
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
    rate = axis(theme, "accepted", range=[0, 1.05], domain=upper, **percent_ticks(1.0, 2))
    sheet = Sheet(
        theme,
        paper,
        plot_height=_HEIGHT,
        left=56,
        right=24,
        below=66,
        key_offset=44,
        layout={
            "xaxis": axis(theme, "draft length", anchor="y2", **across),
            "yaxis": rate,
            "yaxis2": axis(theme, "tokens a round", range=[0, most * 1.1], nticks=5, domain=lower),
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


def _between(point: SweepPoint) -> str:
    if point.acceptance_interval is None:
        return ""
    low, high = point.acceptance_interval
    return f" ({percent(low)} to {percent(high)})"


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
        f"draft length {p.draft_length}<br>{percent(p.acceptance_rate)}{_between(p)} of drafted "
        f"accepted<br>{p.tokens_per_round:.2f} tokens a round<br>{p.rounds:,} rounds"
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
