"""Forwards spent against right answers, by order of filling."""

from __future__ import annotations

from itertools import groupby

from ...decoding.counting import counted
from ...decoding.diffusion.types import DiffusionBudget, ForwardsPoint
from ...evaluation.scoring.intervals import wilson
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, plain_name, set_name
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

# Marks of the orders, with their signs in the key.
ORDERS = {
    "confidence": (N_("most confident"), "circle", "●"),
    "margin": (N_("margin"), "square", "■"),
    "entropy": (N_("entropy bound"), "diamond", "◆"),
    "random": (N_("random"), "x", "✕"),
    "left_to_right": (N_("left to right"), "triangle-up", "▲"),
}


@table("order tokens_per_step entropy_bound forwards right asked wilson_low wilson_high")
def diffusion_budget_data(budget: DiffusionBudget) -> TableRows:
    """Return a row for each way of filling."""
    for point in budget.points:
        share = wilson(point.right, point.asked)
        yield (*point, share.low, share.high)


def _colors(theme: Theme) -> dict[str, str]:
    return dict(zip(ORDERS, (theme.first, theme.second, *theme.categories[2:]), strict=False))


@figure(
    N_("Forwards against right answers"),
    lambda budget: f"{plain_name(budget.model_id, 80)} · {set_name(budget.questions)}",
    diffusion_budget_data,
    subtitle=N_("Fewer forwards fill more tokens at once. Bars: 95 % Wilson intervals."),
    alt=lambda budget: (
        tr("Share of right answers by mean number of forwards for an answer:"),
        tr("; ").join(
            tr(
                "{order} {share:.0f} % with {forwards:.1f} forwards",
                order=tr(ORDERS[p.order][0]),
                share=100 * p.right / p.asked,
                forwards=p.forwards,
            )
            for p in budget.points
        )
        + tr("."),
    ),
    key=lambda budget, theme: [
        [
            (_colors(theme)[order], tr(ORDERS[order][0]), ORDERS[order][2])
            for order in dict.fromkeys(point.order for point in budget.points)
        ]
    ],
)
def diffusion_budget(
    budget: DiffusionBudget, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the share of right answers of each way of filling over its forwards for an answer."""
    if not budget.points:
        return tr("Nothing was measured.")
    most = max(point.forwards for point in budget.points)
    ordered = sorted(budget.points, key=lambda point: (list(ORDERS).index(point.order),
                                                       point.forwards))  # fmt: skip
    return Sheet(
        theme,
        paper,
        plot_height=280,
        left=62,
        right=22,
        below=66,
        key_offset=46,
        rows=tr("right answers"),
        traces=[
            _line(list(points), _colors(theme)[order], theme)
            for order, points in groupby(ordered, lambda point: point.order)
        ],
        layout={
            "xaxis": axis(theme, tr("forwards for an answer"), 6, range=[0, 1.05 * most], nticks=9),
            "yaxis": axis(theme, range=[-0.02, 1.04], **PERCENT_TICKS),
        },
    )


def _line(points: list[ForwardsPoint], color: str, theme: Theme) -> Properties:
    words, symbol, _ = ORDERS[points[0].order]
    name = tr(words)
    shares = [wilson(point.right, point.asked) for point in points]
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers",
        "x": [point.forwards for point in points],
        "y": [share.value for share in shares],
        "error_y": {
            "type": "data",
            "array": [share.high - share.value for share in shares],
            "arrayminus": [share.value - share.low for share in shares],
            "thickness": 1,
            "width": 3,
        },
        "line": {"color": color, "width": 2},
        "marker": {"color": color, "size": 9, "symbol": symbol,
                   "line": {"color": theme.paper, "width": 1}},
        "cliponaxis": False,
        **hover_texts(
            [
                lines(
                    f"<b>{name}</b>",
                    tr("{tokens} a step", tokens=counted(point.tokens_per_step, "token"))
                    if point.tokens_per_step
                    else tr("entropy bound {bound:g} nats", bound=point.entropy_bound),
                    tr(
                        "{right} of {asked} right, {forwards:.1f} forwards",
                        right=point.right,
                        asked=point.asked,
                        forwards=point.forwards,
                    ),
                )
                for point in points
            ]
        ),
    }  # fmt: skip
