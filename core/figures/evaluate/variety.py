"""Variety of each way's replies: distinct replies and word pairs, and length, with intervals."""

from __future__ import annotations

from ...evaluation.plan.types import Evaluation
from ...evaluation.plan.variety import Mean, WayVariety, varieties
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, percentage, plain_name, table_text
from ..base.marks import hover_texts, label_bar
from ..base.measure import fitted
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .words import NOTHING_YET, caption, so_far

_NAME, _SHARE, _ROW, _COST_SIZE = 50, 60, 74, 11
# Distances from the middle of a row in px, as in the figure of accuracy.
_NAMED, _BELOW, _BAR, _THICK = -9.0, 32.5, 4.5, 19.0


@table(
    "way samples replies replies_low replies_high distinct_1 distinct_1_low distinct_1_high "
    "distinct_2 distinct_2_low distinct_2_high tokens tokens_low tokens_high"
)
def evaluate_variety_data(evaluation: Evaluation) -> TableRows:
    """Return one row for each way; every mean is over questions and has its 95 % interval."""
    return [
        (table_text(w.way), w.samples, *w.replies, *w.distinct_1, *w.distinct_2, *w.tokens)
        for w in varieties(evaluation)
    ]


@figure(
    N_("Variety by way of decoding"),
    caption,
    evaluate_variety_data,
    subtitle=lambda evaluation: (
        tr(
            "Each bar is the share of distinct replies among a question's runs; the "
            "line is its mean's 95{nbsp}% interval over questions.",
            nbsp=NBSP,
        ),
        tr("Below it are the distinct pairs of words (distinct-2) and the length."),
        so_far(evaluation),
    ),
    alt=lambda ways: (
        tr("Distinct replies of a question by way of decoding:"),
        tr("; ").join(f"{plain_name(w.way, _NAME)} {percentage(w.replies.value)}" for w in ways)
        + tr("."),
    ),
)
def evaluate_variety(
    evaluation: Evaluation, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw for each way the mean share of distinct replies, with its interval; distinct-2 and
    tokens below.
    """
    ways = varieties(evaluation)
    if not ways:
        return NOTHING_YET
    replies, room = [way.replies for way in ways], paper.width - 2 * EDGE
    bars = {
        "type": "bar",
        "name": "ways",
        "orientation": "h",
        "x": [mean.value for mean in replies],
        "y": [at + _BAR / _ROW for at in range(len(ways))],
        "width": _THICK / _ROW,
        "marker": {"color": blend(theme.first, theme.paper, 0.45), "line": {"width": 0}},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [min(mean.high, 1.0) - mean.value for mean in replies],
            "arrayminus": [mean.value - max(mean.low, 0.0) for mean in replies],
            "color": theme.ink,
            "thickness": 1.5,
            "width": 4,
        },
        **hover_texts([f"<b>{escaped(plain_name(w.way, _NAME))}</b><br>{_words(w)}" for w in ways]),
    }
    sheet = Sheet(
        theme,
        paper,
        facts={"ways": ways},
        plot_height=_ROW * len(ways) + 6,
        left=EDGE,
        right=EDGE,
        below=44,
        traces=[bars],
        layout={
            "xaxis": axis(theme, tr("distinct replies"), 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(theme, range=[len(ways) - 0.42, -0.5], visible=False),
        },
    )
    for at, way in enumerate(ways):
        name = fitted(plain_name(way.way, 2 * _NAME), room - _SHARE, 12, "sans bold")
        share = f"<b>{percentage(way.replies.value)}</b>"
        label_bar(sheet, at + _NAMED / _ROW, f"<b>{escaped(name)}</b>")
        label_bar(sheet, at + _NAMED / _ROW, share, right=True)
        label_bar(sheet, at + _BELOW / _ROW, _words(way), size=_COST_SIZE)
    return sheet


def _words(way: WayVariety) -> str:
    """Return distinct-2 and length with half their intervals."""
    return tr(
        "distinct-2 {distinct} · {tokens} tokens",
        distinct=_mean(way.distinct_2, 2),
        tokens=_mean(way.tokens, 1),
    )


def _mean(mean: Mean, digits: int) -> str:
    half = mean.high - mean.value
    return f"{mean.value:.{digits}f}{NBSP}±{NBSP}{half:.{digits}f}"
