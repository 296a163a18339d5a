"""Accuracy of each way with its confidence interval, cost and draft acceptance."""

from __future__ import annotations

from ...evaluation.plan.statistics import WayResult, results
from ...evaluation.plan.types import Evaluation
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, plain_name, table_text, unspaced
from ..base.marks import label_bar
from ..base.measure import caption_lines, fitted
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..reasoning.words import share_bars, share_record, share_words, strong_words
from .words import NOTHING_YET, caption, so_far

_NAME, _SHARE = 50, 60
# Distances from the middle of a row in px: lower edges of its name and costs, position of the bar;
# then the bar's height.
_NAMED, _COSTS, _BAR, _THICK = -9.0, 32.5, 4.5, 19.0
_ROW, _LINE, _COST_SIZE = 74, 14, 11


@table(
    "way right rows accuracy wilson_low wilson_high f1 tokens target_forwards draft_forwards "
    "seconds acceptance reference_logprob_per_token leaks"
)
def evaluate_accuracy_data(evaluation: Evaluation) -> TableRows:
    """Return one row for each way; tokens, forwards and seconds are means per run."""
    return [
        (
            table_text(way.way),
            *share_record(way.correct),
            way.f1,
            way.tokens,
            way.forwards,
            way.draft_forwards,
            way.seconds,
            way.acceptance,
            way.reference_logprob,
            way.leaks,
        )
        for way in results(evaluation)
    ]


@figure(
    N_("Accuracy by way of decoding"),
    caption,
    evaluate_accuracy_data,
    subtitle=lambda evaluation, ways: (
        tr("The line is the 95{nbsp}% interval.", nbsp=NBSP),
        strong_words([way.correct for way in ways]),
        tr("Below each bar are the mean costs of a run and the accepted share of its draft."),
        so_far(evaluation),
    ),
    alt=lambda ways: (
        tr("Right answers by way of decoding:"),
        tr("; ").join(
            tr(
                "{way} {share:g} % ({hits} of {total})",
                way=plain_name(way.way, _NAME),
                share=way.correct.percent,
                hits=way.correct.hits,
                total=way.correct.total,
            )
            for way in ways
        )
        + tr("."),
    ),
)
def evaluate_accuracy(
    evaluation: Evaluation, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the accuracy of each way with Wilson's 95 % interval; forwards, seconds and acceptance
    below.
    """
    ways = results(evaluation)
    if not ways:
        return NOTHING_YET
    room = paper.width - 2 * EDGE
    costs = [caption_lines(cost_words(way), room, _COST_SIZE) for way in ways]
    row = _ROW + (_LINE * (max(map(len, costs)) - 1))
    hovers = [
        f"<b>{escaped(plain_name(way.way, _NAME))}</b><br>{share_words(way.correct)}"
        f"<br>{cost_words(way)}"
        for way in ways
    ]
    look: Properties = {"name": "ways", "below": _BAR / row, "width": _THICK / row}
    sheet = Sheet(
        theme,
        paper,
        facts={"ways": ways},
        plot_height=row * len(ways) + 6,
        left=EDGE,
        right=EDGE,
        below=44,
        traces=[share_bars([way.correct for way in ways], hovers, theme, **look)],
        layout={
            "xaxis": axis(theme, tr("right answers"), 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(
                theme,
                range=[len(ways) - 1 + (row - _ROW / 2 + 6) / row, -_ROW / 2 / row],
                visible=False,
            ),
        },
    )
    for at, (way, lines) in enumerate(zip(ways, costs, strict=True)):
        name = fitted(plain_name(way.way, 2 * _NAME), room - _SHARE, 12, "sans bold")
        label_bar(sheet, at + _NAMED / row, f"<b>{escaped(name)}</b>")
        label_bar(
            sheet, at + _NAMED / row, unspaced(f"<b>{way.correct.percent:g}{NBSP}%</b>"), right=True
        )
        label_bar(
            sheet,
            at + (_COSTS + _LINE * (len(lines) - 1)) / row,
            "<br>".join(lines),
            size=_COST_SIZE,
        )
    return sheet


def cost_words(one: WayResult) -> str:
    """Return the cost of a run, its acceptance and its leaks."""
    parts = [tr("{number:.1f}{nbsp}target{nbsp}forwards", number=one.forwards, nbsp=NBSP)]
    if one.draft_forwards:
        parts.append(tr("{number:.1f} of the draft", number=one.draft_forwards))
    parts.append(f"{one.seconds:.2f}{NBSP}s")
    if one.acceptance is not None:
        parts.append(tr("{share:.0f}{nbsp}% accepted", share=100 * one.acceptance, nbsp=NBSP))
    if one.leaks:
        parts.append(tr("{number} with template text", number=one.leaks))
    return " · ".join(parts)
