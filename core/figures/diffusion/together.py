"""Tokens filled in one step: parallel against sequential probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.diffusion.types import TogetherToken
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import axis, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    percent,
    settings_caption,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_line, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme

_LEAST = 1e-30


def _gain(token: TogetherToken) -> float:
    """Return ln(sequential / parallel) of a token, nats: negative where it fits the others less."""
    return math.log(max(token.prob_after, _LEAST)) - math.log(max(token.prob, _LEAST))


@table("step position token_id token parallel_probability sequential_probability difference_nats")
def filled_together_data(tokens: Sequence[TogetherToken]) -> TableRows:
    """Return a row for each token of a step that filled several."""
    return [
        (
            nth(one.step),
            nth(one.position),
            one.token_id,
            table_text(one.text),
            one.prob,
            one.prob_after,
            _gain(one),
        )
        for one in tokens
    ]


@figure(
    N_("Tokens filled together"),
    settings_caption,
    filled_together_data,
    subtitle=lambda gains: (
        tr("ln(sequential / parallel probability) of each token."),
        tr("All together: {sum} nats.", sum=f"{sum(gains):+.2f}".replace("-", "−")),
    ),
    alt=lambda ordered, gains: (
        tr(
            "Difference of sequential and parallel log-probability of {count} tokens that were "
            "filled with others in one step; number that fits the others less: {less}. The worst:",
            count=len(ordered),
            less=sum(gain < -0.1 for gain in gains),
        ),
        tr("; ").join(
            tr("{token} {gain:+.2f} nats", token=visible_token(one.text, 16), gain=gain)
            for gain, one in sorted(zip(gains, ordered, strict=True))[:5]
        )
        + tr("."),
    ),
    key=lambda theme: [
        [
            (theme.first, tr("fits the step's other tokens better")),
            (theme.wrong, tr("fits them less")),
        ]
    ],
)
def filled_together(
    tokens: Sequence[TogetherToken],
    trace: Trace,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw, for each token of a step that filled several, how its probability changes once the
    step's earlier tokens stand on the canvas.

    A click on a bar hands over `customdata = [step, position]`.
    """
    if not tokens:
        return tr("Every step filled one token, so no two were filled together.")
    ordered = sorted(tokens, key=lambda one: one.position)
    gains = [_gain(one) for one in ordered]
    low, high = min(*gains, -0.5), max(*gains, 0.5)
    numbers = [nth(one.position) for one in ordered]
    sheet = token_sheet(
        theme,
        paper,
        [(number, one.text) for number, one in zip(numbers, ordered, strict=True)],
        axis(theme, tr("difference, nats"), 6, range=[1.08 * low, 1.08 * high], nticks=7),
        title=N_("token and its position"),
        facts={"ordered": ordered, "gains": gains},
    )
    sheet.traces = [
        {
            "type": "bar",
            "name": "difference",
            "x": numbers,
            "y": gains,
            "width": 0.8,
            "marker": {"color": [theme.wrong if gain < 0 else theme.first for gain in gains]},
            "customdata": [[one.step, one.position] for one in ordered],
            **hover_texts(
                [
                    lines(
                        f"<b>{show_token(one.text, 40)}</b>",
                        tr(
                            "position {position} · step {step}",
                            position=nth(one.position),
                            step=nth(one.step),
                        ),
                        tr("parallel {probability}", probability=percent(one.prob)),
                        tr("sequential {probability}", probability=percent(one.prob_after)),
                    )
                    for one in ordered
                ]
            ),
        }
    ]
    add_line(sheet, "zero", (0, 1), 0, theme.muted, 1, xref="paper")
    return sheet
