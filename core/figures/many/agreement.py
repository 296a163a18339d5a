"""Share of the runs that still agree, along the steps."""

from __future__ import annotations

from ...decoding.counting import nth
from ...decoding.many.types import ManyRuns
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, lines
from ..base.marks import hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Sheet
from ..base.theme import LIGHT, Theme
from .words import many_caption, many_verdict


@table("step share")
def many_agreement_data(many: ManyRuns) -> TableRows:
    """For each step, the share of runs in the largest group with the same tokens up to it."""
    return [(nth(at), share) for at, share in enumerate(many.agreement)]


@figure(
    N_("How long the runs agree"),
    many_caption,
    many_agreement_data,
    subtitle=N_(
        "The line is the share of all runs in the largest group with the same tokens up to a step."
    ),
    alt=lambda many: tr(
        "Line of the share of runs that agree over {steps} steps, from "
        "{first:.0f} % to {last:.0f} %. {verdict}",
        steps=len(many.agreement),
        first=100 * many.agreement[0],
        last=100 * many.agreement[-1],
        verdict=many_verdict(many),
    ),
)
def many_agreement(many: ManyRuns, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """A step curve that begins at the first token and never rises."""
    if not many.agreement:
        return tr("No run has a token.")
    steps = [nth(at) for at in range(len(many.agreement))]
    return Sheet(
        theme,
        paper,
        plot_height=200,
        left=62,
        right=EDGE + 4,
        below=40,
        rows=tr("share of runs"),
        traces=[
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "agreement",
                "x": steps,
                "y": list(many.agreement),
                "line": {"color": theme.first, "width": 2.5, "shape": "hv"},
                "marker": {"size": 5, "color": theme.first},
                **hover_texts(
                    [
                        lines(
                            tr("<b>{share:.0f}{nbsp}%</b> agree", share=100 * share, nbsp=NBSP),
                            tr("up to step {step}", step=step),
                        )
                        for step, share in zip(steps, many.agreement, strict=True)
                    ]
                ),
            }
        ],
        layout={
            "xaxis": axis(theme, tr("step"), 4, range=[0.5, len(steps) + 0.5], nticks=9),
            "yaxis": axis(theme, range=[-0.02, 1.04], **PERCENT_TICKS),
        },
    )
