"""Fork points along a run: how the ending changes with the second candidate of a step."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.counting import counted, nth
from ...decoding.record.forks import ForkPoint, by_effect
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis, token_sheet
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import lines, percent, settings_caption, show_token, table_text
from ..base.marks import add_frame, add_line, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.records import fork_words, together_words
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

_LEFT = 60
# Shares of the plotting area: of the shares above, of the differences below.
_ABOVE, _BELOW = (0.4, 1.0), (0.0, 0.3)
# Of the colour of an ending that comes together again with the run's own.
_PALE = 0.4


@table(
    "step token_id token other_id other other_rank other_prob tokens changed share "
    "logprob_change together_after"
)
def fork_points_data(trace: Trace, points: Sequence[ForkPoint]) -> TableRows:
    """Each fork point: the step counts from 1, `logprob_change` is in nats per token."""
    for point in points:
        yield (
            nth(point.at_step),
            point.step.token_id,
            table_text(point.step.chosen.text),
            point.other.token_id,
            table_text(point.other.text),
            point.other.rank,
            point.other.raw_prob,
            point.length,
            point.changed,
            point.share,
            point.logprob_change,
            point.together_after,
        )


@figure(
    N_("Fork points"),
    settings_caption,
    fork_points_data,
    subtitle=N_(
        "Each bar is the share of the ending's tokens that change if the step takes its most "
        "probable other candidate."
    ),
    alt=lambda points: (
        tr(
            "How the ending changes at {points} of a run.",
            points=counted(len(points), "fork point"),
        ),
        tr("; ").join(
            tr("step {number}: {words}", number=nth(point.at_step), words=fork_words(point))
            for point in by_effect(points)[:3]
        )
        + tr("."),
    ),
    key=lambda theme, points: [
        [
            (theme.first, tr("other ending")),
            any(point.together_after is not None for point in points)
            and (_pale(theme), tr("comes together again")),
        ]
    ],
)
def fork_points(
    trace: Trace,
    points: Sequence[ForkPoint],
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """A bar for each fork point: the share of the ending's tokens that differ; below, how much more
    or less probable the ending's tokens are on average.

    Args:
        selected: index of the selected step.

    A click on a bar hands over `customdata = [step index, place among the points]`.
    """
    if not points:
        return tr("No step of this run was forked yet.")
    limit = max(0.1, *(abs(point.logprob_change) for point in points)) * 1.15
    sheet = token_sheet(
        theme,
        paper,
        [(nth(step.index), step.chosen.text) for step in trace.token_steps],
        axis(theme, tr("tokens that differ"), 8, range=[0, 1.04], domain=_ABOVE, **PERCENT_TICKS),
        left=_LEFT,
        plot_height=260,
    )
    sheet.layout["xaxis"] |= {"anchor": "y2"}
    sheet.layout["yaxis2"] = axis(
        theme, tr("ln p a token"), 8, range=[-limit, limit], domain=_BELOW, nticks=5
    )
    _add_bars(sheet, points)
    add_line(sheet, "zero", (0, 1), 0, theme.muted, 1, xref="paper", yref="y2")
    if selected is not None and paper.selection:
        look: Properties = {"layer": "below", "yref": "paper", "fillcolor": theme.panel}
        add_frame(
            sheet, "selected", (selected + 0.5, selected + 1.5), (0, 1), theme.ink, 1.5, **look
        )
    return sheet


def _pale(theme: Theme) -> str:
    return blend(theme.paper, theme.first, _PALE)


def _add_bars(sheet: Sheet, points: Sequence[ForkPoint]) -> None:
    theme = sheet.theme
    shared: Properties = {
        "type": "bar",
        "x": [nth(point.step.index) for point in points],
        "width": 0.8,
        **hover_texts([_hover(point) for point in points]),
        "customdata": [[point.at_step, place] for place, point in enumerate(points)],
    }
    colors = [_pale(theme) if p.together_after is not None else theme.first for p in points]
    sheet.traces.append(
        {
            "name": "changed",
            "y": [point.share for point in points],
            "marker": {"color": colors, "line": {"width": 1, "color": theme.first}},
            **shared,
        }
    )
    sheet.traces.append(
        {
            "name": "logprob",
            "y": [point.logprob_change for point in points],
            "yaxis": "y2",
            "marker": {"color": theme.second, "line": {"width": 0}},
            **shared,
        }
    )


def _hover(point: ForkPoint) -> str:
    change = f"{point.logprob_change:+.3f}".replace("-", "−")
    return lines(
        f"<b>{show_token(point.other.text, 40)}</b>",
        tr(
            "in place of {token} at step {number}",
            token=show_token(point.step.chosen.text, 40),
            number=nth(point.at_step),
        ),
        tr(
            "model {probability} · rank {rank:,}",
            probability=percent(point.other.raw_prob),
            rank=point.other.rank,
        ),
        tr(
            "{changed} of {tokens} differ",
            changed=point.changed,
            tokens=counted(point.length, "token"),
        ),
        tr("{change} nats a token", change=change),
        together_words(point),
    )
