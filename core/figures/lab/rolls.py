"""Many draws of one step, counted against the exact distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.decoding.counting import nth
from core.decoding.lab.types import LabStep, RollBin, Rolls
from core.figures.base.axes import axis, key_entry, named_axis
from core.figures.base.labels import NBSP, escaped, percent, show_token, table_text, visible_token
from core.figures.base.marks import FRAME, hover_texts, numbers_behind
from core.figures.base.paper import SCREEN, Paper
from core.figures.base.records import widest
from core.figures.base.sheet import EDGE, Canvas, Properties
from core.figures.base.theme import LIGHT, Theme
from core.figures.lab.words import lab_caption

_ROW, _LABEL_LIMIT = 26, 14
_TITLE = "Rolled often, counted"


def lab_rolls(
    lab: LabStep, rolls: Rolls, *, rows: int = 14, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> go.Figure:
    """How often each token was drawn, beside how often it should be.

    Args:
        rows: so many tokens; the others are one bar.
    """
    if not rolls.total or not rolls.bins:
        sentence = "No roll was counted."
        return Canvas(theme, paper, _TITLE, lab_caption(lab, paper)).sentence(sentence)
    shown = _shown(rolls, rows)
    left = 34 + round(7.2 * widest((own.text for own in shown), _LABEL_LIMIT))
    expected = [own.prob * rolls.total for own in shown]
    spreads = [math.sqrt(rolls.total * own.prob * (1 - min(own.prob, 1))) for own in shown]
    reach = [mean + spread for mean, spread in zip(expected, spreads, strict=True)]
    ends = [max(own.rolls, far) for own, far in zip(shown, reach, strict=True)]
    counts, font = [f"{NBSP}{own.rolls:,}" for own in shown], {"size": 11, "color": theme.ink}
    names = [f"{_name(own, _LABEL_LIMIT)} " for own in shown]
    keys = [
        key_entry(theme.muted, f"rolled, in the token's {theme.hue}"),
        key_entry(theme.ink, "expected, with its standard deviation", "┃"),
    ]
    return Canvas(theme, paper, _TITLE, f"{lab_caption(lab, paper)}\n{_thrown(rolls)}").draw(
        subtitle=_subtitle(rolls),
        alt=_alt(lab, rolls),
        plot_height=_ROW * len(shown) + 8,
        left=left,
        right=EDGE + 60,
        below=60,
        traces=[
            _bars(lab, rolls, shown, theme),
            _marks(expected, spreads, theme),
            numbers_behind("counts", ends, counts, font),
        ],
        key=["".join(keys)],
        key_offset=42,
        layout={
            "bargap": 0.3,
            "xaxis": axis(theme, "rolls", range=[0, max(*ends, 1)], nticks=6, rangemode="tozero"),
            "yaxis": named_axis(theme, names, range=[len(shown) - 0.4, -0.6], showline=False),
        },
    )


def _bars(lab: LabStep, rolls: Rolls, shown: Sequence[RollBin], theme: Theme) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "name": "rolled",
        "x": [own.rolls for own in shown],
        "y": list(range(len(shown))),
        "marker": {
            "color": [_color(lab, own, theme) for own in shown],
            "line": {"color": theme.accent, "width": [_frame(lab, own) for own in shown]},
        },
        **hover_texts([_hover(own, rolls) for own in shown]),
    }


def _marks(expected: Sequence[float], spreads: Sequence[float], theme: Theme) -> Properties:
    """Where each count should be, and its standard deviation."""
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


def _thrown(rolls: Rolls) -> str:
    return f"the {rolls.total:,} throws from {nth(rolls.first_throw):,} on"


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
    ranks = {candidate.token_id: candidate.rank for candidate in lab.step.candidates}
    return theme.token_color(ranks.get(own.token_id, 0))


def _frame(lab: LabStep, own: RollBin) -> float:
    return FRAME if own.token_id == lab.step.token_id else 0


def _plain_name(own: RollBin) -> str:
    return own.text if own.token_id is None else visible_token(own.text, 24)


def _name(own: RollBin, limit: int) -> str:
    """Its token, or what stands for several (Plotly text)."""
    together = own.token_id is None
    return escaped(own.text).replace(" ", NBSP) if together else show_token(own.text, limit)


def _hover(own: RollBin, rolls: Rolls) -> str:
    return (
        f"<b>{_name(own, 40)}</b><br>rolled {own.rolls:,} of {rolls.total:,}<br>"
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
        f"{_plain_name(own)} {own.rolls} times, {own.prob * rolls.total:.1f} expected"
        for own in top
    )
    return (
        f"Counts of {rolls.total} rolls by {lab.draw} beside the expected ones. {words}. "
        f"{_subtitle(rolls)}"
    ).replace(NBSP, " ")


def lab_rolls_data(rolls: Rolls) -> pd.DataFrame:
    """Every bin of the test."""
    names = "token_id token tokens_in_bin probability expected rolled".split()
    records: list[tuple[object, ...]] = []
    for own in rolls.bins:
        who = (own.token_id, table_text(own.text), own.tokens)
        records.append((*who, own.prob, own.prob * rolls.total, own.rolls))
    return pd.DataFrame(records, columns=names).astype({"token_id": "Int64"})
