"""Outcomes and costs of the runs by budget: tokens and seconds."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ...evaluation.sweep.curves import BudgetPoint, curve, frame_of
from ...evaluation.sweep.fair import fair_rows
from ...evaluation.sweep.types import BudgetSweep
from ...evaluation.types import OUTCOMES
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, lines, table_text
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import (
    BUDGET_WORDS,
    NOTHING_YET,
    OUTCOME_WORDS,
    budget_head,
    outcome_color,
    quiet_color,
    so_far,
    sweep_caption,
)

_LEFT = 62
_PANEL, _GAP = 130, 34
_HEIGHT = 2 * _PANEL + _GAP


@table(f"budget runs {' '.join(OUTCOMES)} mean_tokens mean_thinking_tokens mean_seconds")
def reason_spent_data(sweep: BudgetSweep) -> TableRows:
    """Return a row for each drawn budget: outcomes and mean costs."""
    for point in curve(fair_rows(sweep)):
        yield (
            point.budget,
            point.correct.total,
            *[point.outcomes[outcome] for outcome in OUTCOMES],
            point.tokens,
            point.thinking_tokens,
            point.seconds,
        )


@figure(
    N_("Outcomes of the runs"),
    sweep_caption,
    reason_spent_data,
    subtitle=lambda sweep: (tr("Outcomes of the runs at each budget."), so_far(sweep)),
    alt=lambda points: (
        tr("Outcomes of the runs by budget:"),
        tr("; ").join(
            tr("at {budget} tokens {outcomes}", budget=p.budget, outcomes=_outcomes(p))
            for p in points
        )
        + tr("."),
    ),
    key=lambda theme: [
        [(outcome_color(o, theme), tr(OUTCOME_WORDS[o])) for o in line]
        for line in (OUTCOMES[:2], OUTCOMES[2:])
    ],
    blank=_HEIGHT + 98,
)
def reason_outcomes(
    sweep: BudgetSweep, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the four outcomes as shares of the runs at each budget, stacked to 100 %."""
    points = curve(fair_rows(sweep))
    if not points:
        return NOTHING_YET
    bars = [
        _budget_bars(
            outcome,
            [point.outcomes[outcome] / point.correct.total for point in points],
            outcome_color(outcome, theme),
            [
                lines(
                    budget_head(point.budget),
                    tr(
                        "{outcome}: {count} of {total}",
                        outcome=tr(OUTCOME_WORDS[outcome]),
                        count=point.outcomes[outcome],
                        total=point.correct.total,
                    ),
                )
                for point in points
            ],
        )
        for outcome in OUTCOMES
    ]
    return Sheet(
        theme,
        paper,
        facts={"points": points},
        plot_height=_HEIGHT,
        left=_LEFT,
        above=8,  # Room for half of the highest tick's label.
        below=82,
        traces=bars,
        rows=tr("share of the runs"),
        key_offset=46,
        layout={
            "barmode": "stack",
            "bargap": 0.15,
            "xaxis": _budgets(points, sweep, theme),
            "yaxis": axis(theme, range=[0, 1.001], **PERCENT_TICKS),
        },
    )


def _outcomes(point: BudgetPoint) -> str:
    """Return the outcomes at a budget with their numbers."""
    counts = ((point.outcomes[outcome], tr(OUTCOME_WORDS[outcome])) for outcome in OUTCOMES)
    return tr(", ").join(f"{count} {words}" for count, words in counts if count)


def _budgets(
    points: Sequence[BudgetPoint], sweep: BudgetSweep, theme: Theme, **properties: object
) -> Properties:
    """Return an axis with a position for each budget."""
    named = range(0, len(points), -(-len(points) // 9))
    return axis(
        theme,
        tr(BUDGET_WORDS[sweep.plan.budget_field]),
        6,
        range=[-0.6, len(points) - 0.4],
        showgrid=False,
        tickmode="array",
        tickvals=list(named),
        ticktext=[str(points[at].budget) for at in named],
        **properties,
    )


@figure(
    N_("Tokens and time by budget"),
    sweep_caption,
    reason_spent_data,
    subtitle=lambda sweep: (
        tr("The values are means of a run; its seconds are its share of the batch that it ran in."),
        so_far(sweep),
    ),
    alt=lambda points: (
        tr("Mean tokens and seconds of a run by budget:"),
        tr("; ").join(
            tr(
                "at {budget} tokens of budget a run spends {tokens:.1f} tokens, {thinking:.1f} of "
                "them thinking, in {seconds:.3f} s",
                budget=point.budget,
                tokens=point.tokens,
                thinking=point.thinking_tokens,
                seconds=point.seconds,
            )
            for point in (points[0], *points[1:][-1:])
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.first, tr("thinking")),
            (quiet_color(theme), tr("marks and answer")),
            (theme.second, tr("seconds")),
        ]
    ],
    blank=_HEIGHT + 98,
)
def reason_spent(sweep: BudgetSweep, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw mean tokens (thinking and others) and mean seconds of a run at each budget."""
    points = curve(fair_rows(sweep))
    if not points:
        return NOTHING_YET
    split = _PANEL / _HEIGHT
    upright = {"nticks": 4, "rangemode": "tozero"}
    return Sheet(
        theme,
        paper,
        facts={"points": points},
        plot_height=_HEIGHT,
        left=_LEFT,
        right=EDGE,
        below=66,
        traces=_spent_traces(points, theme),
        key_offset=46,
        layout={
            "barmode": "stack",
            "bargap": 0.15,
            "xaxis": _budgets(points, sweep, theme, anchor="y2"),
            "yaxis": axis(theme, tr("tokens"), 6, domain=[1 - split, 1], **upright),
            "yaxis2": axis(theme, tr("seconds"), 6, domain=[0, split], anchor="x", **upright),
        },
    )


def _spent_traces(points: Sequence[BudgetPoint], theme: Theme) -> list[Properties]:
    """Return stacked bars of thinking and other tokens, and the seconds in a separate panel."""
    thinking = [point.thinking_tokens for point in points]
    answering = [point.tokens - thought for point, thought in zip(points, thinking, strict=True)]
    seconds = [point.seconds for point in points]
    hovers = [
        lines(
            budget_head(point.budget),
            tr(
                "{tokens:.1f} tokens, {thinking:.1f} of them thinking",
                tokens=point.tokens,
                thinking=point.thinking_tokens,
            ),
            f"{point.seconds:.3f}{NBSP}s",
        )
        for point in points
    ]
    return [
        _budget_bars("thinking", thinking, theme.first, hovers),
        _budget_bars("answer", answering, quiet_color(theme), hovers),
        {**_budget_bars("seconds", seconds, theme.second, hovers), "yaxis": "y2"},
    ]


def _budget_bars(name: str, values: list[float], color: str, hovers: list[str]) -> Properties:
    return {
        "type": "bar",
        "name": name,
        "x": list(range(len(values))),
        "y": values,
        "marker": {"color": color, "line": {"width": 0}},
        **hover_texts(hovers),
    }


def reason_rows_data(sweep: BudgetSweep) -> pd.DataFrame:
    """Return one row per run, as the sweep recorded it."""
    return (
        frame_of(sweep.rows)
        .astype({"steps": "Int64"})
        .assign(problem=[table_text(row.problem) for row in sweep.rows])
    )
