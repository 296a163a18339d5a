"""Many rolls of one step's dice, against the exact distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.lab.types import LabStep, RollBin, Rolls
from core.figures.base.axes import add_key, axis, key_entry
from core.figures.base.labels import (
    NBSP,
    percent,
    show_token,
    table_text,
    text_columns,
    visible_token,
)
from core.figures.base.sheet import EDGE, Properties, Sheet, lay_out, plain_sentence
from core.figures.base.theme import LIGHT, Theme
from core.figures.lab.words import lab_caption

_ROW, _LABEL_LIMIT = 26, 14
_TITLE = "Rolled often, counted"


def lab_rolls(lab: LabStep, rolls: Rolls, *, rows: int = 14, theme: Theme = LIGHT) -> go.Figure:
    """How often each token was drawn, beside how often it should be.

    Args:
        rows: so many tokens; the others are one bar.
    """
    if not rolls.total or not rolls.bins:
        sentence = "No roll was counted."
        return plain_sentence(theme, sentence, title=_TITLE, caption=lab_caption(lab))
    shown = _shown(rolls, rows)
    sheet = Sheet(theme)
    columns = max(text_columns(visible_token(own.text, _LABEL_LIMIT)) for own in shown)
    left = 34 + round(7.2 * columns)
    lay_out(
        sheet,
        title=_TITLE,
        subtitle=_subtitle(rolls),
        caption=f"{lab_caption(lab)}\nthe {rolls.total:,} throws from {rolls.first_throw:,} on",
        alt=_alt(lab, rolls),
        plot_height=_ROW * len(shown) + 8,
        left=left,
        right=EDGE + 60,
        below=60,
    )
    ends = [_expected(rolls, own) + _spread(rolls, own) for own in shown]
    sheet.traces = [_bars(lab, rolls, shown, theme), _marks(rolls, shown, theme)]
    sheet.traces.append(_counts(shown, ends, theme))
    sheet.layout |= _axes(shown, ends, theme)
    keys = [
        key_entry(theme.first, "rolled"),
        key_entry(theme.ink, "expected, with its standard deviation", "┃"),
    ]
    add_key(sheet, ["".join(keys)], left, offset=42)
    return sheet.figure()


def _expected(rolls: Rolls, own: RollBin) -> float:
    return own.prob * rolls.total


def _spread(rolls: Rolls, own: RollBin) -> float:
    """The standard deviation of the count."""
    return math.sqrt(rolls.total * own.prob * (1 - min(own.prob, 1)))


def _bars(lab: LabStep, rolls: Rolls, shown: Sequence[RollBin], theme: Theme) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "name": "rolled",
        "x": [own.rolls for own in shown],
        "y": list(range(len(shown))),
        "marker": {"color": [_color(lab, own, theme) for own in shown]},
        "hovertext": [_hover(own, rolls) for own in shown],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _marks(rolls: Rolls, shown: Sequence[RollBin], theme: Theme) -> Properties:
    """Where each count should be, and how far off is usual."""
    return {
        "type": "scatter",
        "name": "expected",
        "mode": "markers",
        "x": [_expected(rolls, own) for own in shown],
        "y": list(range(len(shown))),
        "marker": {"symbol": "line-ns", "size": 17, "line": {"width": 2.5, "color": theme.ink}},
        "error_x": {
            "array": [_spread(rolls, own) for own in shown],
            "color": theme.ink,
            "thickness": 1.2,
            "width": 4,
        },
        "hoverinfo": "skip",
        "cliponaxis": False,
    }


def _counts(shown: Sequence[RollBin], ends: Sequence[float], theme: Theme) -> Properties:
    """The numbers, right of whatever reaches farther."""
    return {
        "type": "scatter",
        "name": "counts",
        "mode": "text",
        "x": [max(own.rolls, end) for own, end in zip(shown, ends, strict=True)],
        "y": list(range(len(shown))),
        "text": [f"{NBSP}{NBSP}{own.rolls:,}" for own in shown],
        "textposition": "middle right",
        "textfont": {"size": 11, "color": theme.ink},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _axes(shown: Sequence[RollBin], ends: Sequence[float], theme: Theme) -> Properties:
    top = max(*(own.rolls for own in shown), *ends, 1)
    return {
        "bargap": 0.3,
        "xaxis": axis(theme, "rolls", range=[0, top], nticks=6, rangemode="tozero"),
        "yaxis": axis(
            theme,
            range=[len(shown) - 0.4, -0.6],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=list(range(len(shown))),
            ticktext=[f"{show_token(own.text, _LABEL_LIMIT)} " for own in shown],
            tickfont={"family": theme.mono, "size": 12, "color": theme.ink},
        ),
    }


def _shown(rolls: Rolls, rows: int) -> list[RollBin]:
    """The first bins, and one for all the others."""
    if len(rolls.bins) <= rows + 1:
        return list(rolls.bins)
    rest = rolls.bins[rows:]
    others = RollBin(
        None,
        f"{sum(own.tokens for own in rest):,} others",
        sum(own.prob for own in rest),
        sum(own.rolls for own in rest),
        sum(own.tokens for own in rest),
    )
    return [*rolls.bins[:rows], others]


def _color(lab: LabStep, own: RollBin, theme: Theme) -> str:
    if own.token_id is None:
        return theme.rest
    return theme.accent if own.token_id == lab.step.token_id else theme.first


def _hover(own: RollBin, rolls: Rolls) -> str:
    return (
        f"<b>{show_token(own.text, 40)}</b><br>rolled {own.rolls:,} of {rolls.total:,}<br>"
        f"expected {own.prob * rolls.total:.1f}, {percent(own.prob)}"
    )


def _subtitle(rolls: Rolls) -> str:
    if rolls.p_value is None:
        return f"All of {rolls.total:,} rolls fall into one bin: there is nothing to test."
    return (
        f"χ² = {rolls.chi_square:.1f} over {rolls.degrees + 1} bins: fair dice lie this far off, "
        f"or farther, in {percent(rolls.p_value)} of all series."
    )


def _alt(lab: LabStep, rolls: Rolls) -> str:
    top: Sequence[RollBin] = rolls.bins[:3]
    words = "; ".join(
        f"{visible_token(own.text, 24)} {own.rolls} times, {own.prob * rolls.total:.1f} expected"
        for own in top
    )
    return (
        f"Counts of {rolls.total} rolls by {lab.draw} beside the expected ones. {words}. "
        f"{_subtitle(rolls)}"
    ).replace(NBSP, " ")


def lab_rolls_data(rolls: Rolls) -> pd.DataFrame:
    """Every bin of the test."""
    names = "token_id token tokens_in_bin probability expected rolled".split()
    records: list[tuple[object, ...]] = [
        (
            own.token_id,
            table_text(own.text),
            own.tokens,
            own.prob,
            own.prob * rolls.total,
            own.rolls,
        )
        for own in rolls.bins
    ]
    return pd.DataFrame(records, columns=names).astype({"token_id": "Int64"})
