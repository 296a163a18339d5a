"""Counts of many draws of one step, compared with the exact distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.lab.types import LabStep, RollBin, Rolls
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, percent, show_token, table_text, visible_token
from ..base.marks import numbers_behind, token_bars
from ..base.paper import SCREEN, Paper
from ..base.records import widest
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import lab_caption

_LABEL_LIMIT = 14


@table("token_id token tokens_in_bin probability expected rolled", whole="token_id")
def lab_rolls_data(rolls: Rolls) -> TableRows:
    """Return every bin of the test."""
    for drawn in rolls.bins:
        yield (
            drawn.token_id,
            table_text(drawn.text),
            drawn.tokens,
            drawn.prob,
            drawn.prob * rolls.total,
            drawn.rolls,
        )


def _test(rolls: Rolls) -> str:
    """Return the result of the test of the draws."""
    if rolls.p_value is None:
        return f"All of {rolls.total:,} rolls fall into one bin: there is nothing to test."
    return (
        f"χ² = {rolls.chi_square:.1f} over {rolls.degrees + 1} bins: with fair dice "
        f"{percent(rolls.p_value)} of all series deviate as much or more."
    )


@figure(
    "Counts of repeated draws",
    lambda lab, rolls, paper: (
        lab_caption(lab, paper)
        + (
            f"\nthe {rolls.total:,} rolls from {nth(rolls.first_throw):,} on"
            if rolls.total and rolls.bins
            else ""
        )
    ),
    lab_rolls_data,
    subtitle=_test,
    alt=lambda lab, rolls: (
        f"Counts of {rolls.total} rolls by {lab.draw} beside the expected ones.",
        "; ".join(
            f"{drawn.text if drawn.token_id is None else visible_token(drawn.text, 24)} "
            f"{drawn.rolls} times, {drawn.prob * rolls.total:.1f} expected"
            for drawn in rolls.bins[:3]
        )
        + ".",
        _test(rolls),
    ),
    key=lambda theme: [
        [
            (theme.muted, f"rolled, in the token's {theme.hue}"),
            (theme.ink, "expected, with its standard deviation", "┃"),
        ]
    ],
)
def lab_rolls(
    lab: LabStep, rolls: Rolls, *, rows: int = 14, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the counts of the tokens beside the expected counts.

    Args:
        rows: number of tokens; all others share one bar.
    """
    if not rolls.total or not rolls.bins:
        return "No roll was counted."
    shown = _shown(rolls, rows)
    left = 34 + round(7.2 * widest((drawn.text for drawn in shown), _LABEL_LIMIT))
    expected = [drawn.prob * rolls.total for drawn in shown]
    spreads = [math.sqrt(rolls.total * drawn.prob * (1 - min(drawn.prob, 1))) for drawn in shown]
    reach = [mean + spread for mean, spread in zip(expected, spreads, strict=True)]
    ends = [max(drawn.rolls, far) for drawn, far in zip(shown, reach, strict=True)]
    counts = [f"{NBSP}{drawn.rolls:,}" for drawn in shown]
    return Sheet(
        theme,
        paper,
        plot_height=26 * len(shown) + 8,
        left=left,
        right=EDGE + 60,
        below=60,
        traces=[
            _bars(lab, rolls, shown, theme),
            _marks(expected, spreads, theme),
            numbers_behind("counts", ends, counts, {"size": 11, "color": theme.ink}),
        ],
        key_offset=42,
        layout={
            "bargap": 0.3,
            "xaxis": axis(theme, "rolls", range=[0, max(*ends, 1)], nticks=6, rangemode="tozero"),
            "yaxis": named_axis(
                theme,
                [f"{_name(drawn, _LABEL_LIMIT)} " for drawn in shown],
                range=[len(shown) - 0.4, -0.6],
                showline=False,
            ),
        },
    )


def _bars(lab: LabStep, rolls: Rolls, shown: Sequence[RollBin], theme: Theme) -> Properties:
    ranks = {candidate.token_id: candidate.rank for candidate in lab.step.candidates}
    return token_bars(
        theme,
        "rolled",
        [drawn.rolls for drawn in shown],
        [
            f"<b>{_name(drawn, 40)}</b><br>rolled {drawn.rolls:,} of {rolls.total:,}<br>"
            f"expected {drawn.prob * rolls.total:.1f}, {percent(drawn.prob)}"
            for drawn in shown
        ],
        [
            theme.rest if d.token_id is None else theme.token_color(ranks.get(d.token_id, 0))
            for d in shown
        ],
        chosen=[drawn.token_id == lab.step.token_id for drawn in shown],
    )


def _marks(expected: Sequence[float], spreads: Sequence[float], theme: Theme) -> Properties:
    """Return the expected counts and their standard deviations."""
    return {
        "type": "scatter",
        "name": "expected",
        "mode": "markers",
        "x": expected,
        "y": list(range(len(expected))),
        "marker": {"symbol": "line-ns", "size": 17, "line": {"width": 2.5, "color": theme.ink}},
        "error_x": {"array": spreads, "color": theme.ink, "thickness": 1.2, "width": 4},
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _shown(rolls: Rolls, rows: int) -> list[RollBin]:
    """Return the first bins, and one for all others."""
    if len(rolls.bins) <= rows + 1:
        return list(rolls.bins)
    others_bins = rolls.bins[rows:]
    others = RollBin(
        None,
        f"{sum(drawn.tokens for drawn in others_bins):,} others",
        sum(drawn.prob for drawn in others_bins),
        sum(drawn.rolls for drawn in others_bins),
        sum(drawn.tokens for drawn in others_bins),
    )
    return [*rolls.bins[:rows], others]


def _name(own: RollBin, limit: int) -> str:
    """Return the bin's token, or the name of several tokens (Plotly text)."""
    return (
        escaped(own.text).replace(" ", NBSP)
        if (own.token_id is None)
        else show_token(own.text, limit)
    )
