"""Counts of many draws of one step, compared with the exact distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.lab.types import LabStep, RollBin, Rolls
from ...decoding.methods import choice_words
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    lines,
    percent,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from ..base.marks import numbers_behind, token_bars
from ..base.measure import plain_of, text_width
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
        return tr(
            "All of {rolls:,} rolls fall into one bin: there is nothing to test.",
            rolls=rolls.total,
        )
    return tr(
        "χ² = {chi_square:.1f} over {bins} bins: with fair dice {share} of all series deviate as "
        "much or more.",
        chi_square=rolls.chi_square,
        bins=rolls.degrees + 1,
        share=percent(rolls.p_value),
    )


def _caption(lab: LabStep, rolls: Rolls, paper: Paper) -> str:
    caption = lab_caption(lab, paper)
    if not rolls.total or not rolls.bins:
        return caption
    first = nth(rolls.first_throw)
    words = tr("the {rolls:,} rolls from {first:,} on", rolls=rolls.total, first=first)
    return f"{caption}\n{words}"


def _bin_words(rolls: Rolls, drawn: RollBin) -> str:
    """Return a bin's count and its expected count; plain text."""
    return tr(
        "{token} {count} times, {expected:.1f} expected",
        token=tr(drawn.text) if drawn.token_id is None else visible_token(drawn.text, 24),
        count=drawn.rolls,
        expected=drawn.prob * rolls.total,
    )


@figure(
    N_("Counts of repeated draws"),
    _caption,
    lab_rolls_data,
    subtitle=_test,
    alt=lambda lab, rolls: (
        tr(
            "Counts of {rolls} rolls by {method} beside the expected ones.",
            rolls=rolls.total,
            method=choice_words("draw", lab.draw),
        ),
        tr("; ").join(_bin_words(rolls, drawn) for drawn in rolls.bins[:3]) + tr("."),
        _test(rolls),
    ),
    key=lambda theme: [
        [
            (theme.muted, tr("rolled, in the token's {hue}", hue=tr(theme.hue))),
            (theme.ink, tr("expected, with its standard deviation"), "┃"),
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
        return tr("No roll was counted.")
    shown = _shown(rolls, rows)
    left = 34 + round(7.2 * widest((drawn.text for drawn in shown), _LABEL_LIMIT))
    # The bin of all others has no token's text.
    names = [plain_of(_name(drawn, _LABEL_LIMIT)) for drawn in shown]
    left = max(left, EDGE + round(text_width(max(names, key=text_columns), 12, "mono")))
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
            "xaxis": axis(
                theme, tr("rolls"), range=[0, max(*ends, 1)], nticks=6, rangemode="tozero"
            ),
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
            lines(
                f"<b>{_name(drawn, 40)}</b>",
                tr("rolled {count:,} of {rolls:,}", count=drawn.rolls, rolls=rolls.total),
                tr(
                    "expected {expected:.1f}, {share}",
                    expected=drawn.prob * rolls.total,
                    share=percent(drawn.prob),
                ),
            )
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
        tr("{count:,} others", count=sum(drawn.tokens for drawn in others_bins)),
        sum(drawn.prob for drawn in others_bins),
        sum(drawn.rolls for drawn in others_bins),
        sum(drawn.tokens for drawn in others_bins),
    )
    return [*rolls.bins[:rows], others]


def _name(own: RollBin, limit: int) -> str:
    """Return the bin's token, or the name of several tokens (Plotly text)."""
    return (
        escaped(tr(own.text)).replace(" ", NBSP)
        if (own.token_id is None)
        else show_token(own.text, limit)
    )
