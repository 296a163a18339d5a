"""Margin between the two most frequent tokens of each fork, beside the measured rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...decoding.comparison.types import CAUSES
from ...decoding.counting import counted, nth
from ...decoding.many.types import ManyRuns, RunFork
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, lines, percentage, table_text
from ..base.marks import hover_texts, strokes
from ..base.measure import text_width
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .words import fork_name, many_caption

# Forks that are drawn, the first ones.
MOST_SHOWN = 16
NO_MARGIN = N_(
    "The runs part, but no fork has a known margin: a run ends there, or no "
    "probability of its tokens was recorded."
)
_ROW = 26
# The axis ends there if all numbers are 0, nats.
_LEAST = 1e-8


@table("step runs token share rival rival_share margin_nats rounding_nats cause", whole="runs")
def many_forks_data(many: ManyRuns) -> TableRows:
    """A row for each fork, with its two most frequent tokens; shares are of the fork's runs."""
    for fork in many.forks:
        one, other = fork.branches[:2]
        yield (
            nth(fork.at),
            len(fork.runs),
            table_text(one.text),
            one.share,
            table_text(other.text),
            other.share,
            fork.margin,
            fork.parting.rounding,
            fork.parting.cause,
        )


@figure(
    N_("Margin at each fork"),
    many_caption,
    many_forks_data,
    subtitle=lambda left_out: (
        tr(
            "The margin is the distance of the two tokens' log-probabilities, the "
            "smaller of the two runs' distances. The rounding is the largest "
            "difference of the runs while their tokens agree; to its left, it "
            "decides."
        ),
        *left_out,
    ),
    alt=lambda forks: (
        tr("Margins at {forks} beside the measured rounding.", forks=counted(len(forks), "fork")),
        tr("; ").join(
            tr(
                "step {step}, {tokens}: {margin}, rounding {rounding}",
                step=nth(fork.at),
                tokens=fork_name(fork),
                margin=_nats(fork.margin),
                rounding=_nats(fork.parting.rounding),
            )
            for fork in forks[:8]
        )
        + tr("."),
    ),
    key=lambda theme, forks: [
        [
            (theme.first, tr("margin of a fork"), "●"),
            any(fork.parting.cause == "rounding" for fork in forks)
            and (theme.accent, tr("margin of a tie"), "●"),
            (theme.muted, tr("measured rounding"), "┃"),
        ]
    ],
)
def many_forks(many: ManyRuns, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """A row for each fork: the margin and the measured rounding on a logarithmic axis.

    A click on a margin hands over `customdata = [place of a run]` of the less frequent token.
    """
    if not many.forks:
        return tr("The runs have no fork: all emitted the same tokens.")
    known = [fork for fork in many.forks if fork.margin is not None]
    if not known:
        return NO_MARGIN
    forks = known[:MOST_SHOWN]
    names = [f"{nth(fork.at)}{NBSP}{NBSP}{escaped(fork_name(fork, 8))}" for fork in forks]
    widest = max(text_width(f"{nth(fork.at)}  {fork_name(fork, 8)}", 12, "mono") for fork in forks)
    margins = [fork.margin or 0.0 for fork in forks]
    bounds = [fork.parting.rounding or 0.0 for fork in forks]
    zero = min([number for number in (*margins, *bounds) if number] or [_LEAST]) / 10
    margins, bounds = ([max(number, zero) for number in row] for row in (margins, bounds))
    ends = zero / 2, max(*margins, *bounds) * 3
    ticks = {tick: f"{tick:g}" for tick in _ticks(4 * zero, ends[1])}
    if zero in (*margins, *bounds):
        ticks = {zero: "0", **ticks}
    return Sheet(
        theme,
        paper,
        facts={"forks": forks, "left_out": list(_left_out(many, len(known)))},
        plot_height=_ROW * len(forks) + 10,
        left=round(widest) + 24,
        right=EDGE + 4,
        below=66,
        key_offset=44,
        traces=[
            {**strokes(_stems(margins, bounds)), "line": {"color": theme.grid, "width": 2}},
            _marks("rounding", bounds, forks, theme.muted, "line-ns", theme),
            _marks(
                "margin",
                margins,
                forks,
                [
                    theme.accent if fork.parting.cause == "rounding" else theme.first
                    for fork in forks
                ],
                "circle",
                theme,
            ),
        ],
        layout={
            "xaxis": axis(
                theme,
                tr("nats"),
                4,
                type="log",
                range=[math.log10(end) for end in ends],
                tickmode="array",
                tickvals=list(ticks),
                ticktext=list(ticks.values()),
            ),
            "yaxis": named_axis(theme, names, range=[len(forks) - 0.5, -0.5]),
        },
    )


def _left_out(many: ManyRuns, known: int) -> Iterator[str]:
    """Yield a sentence on the forks without a margin, and one on the forks after the last row."""
    if unknown := len(many.forks) - known:
        yield tr(
            "{forks} without a known margin (a run may end there) left out.",
            forks=counted(unknown, "fork"),
        )
    if known > MOST_SHOWN:
        yield tr("{forks} left out.", forks=counted(known - MOST_SHOWN, "later fork"))


def _nats(value: float | None) -> str:
    return tr("unknown") if value is None else tr("{value:.2g} nats", value=value)


def _ticks(low: float, high: float) -> list[float]:
    """Return powers of ten between two numbers, at most five of them."""
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    every = max(1, math.ceil(len(powers) / 5))
    return [10.0**power for power in powers if power % every == 0]


def _stems(
    margins: Sequence[float], bounds: Sequence[float]
) -> list[list[tuple[float, float | None]]]:
    return [
        [(bound, at), (margin, at)]
        for at, (margin, bound) in enumerate(zip(margins, bounds, strict=True))
    ]


def _marks(
    name: str,
    values: Sequence[float],
    forks: Sequence[RunFork],
    color: str | Sequence[str],
    symbol: str,
    theme: Theme,
) -> Properties:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": list(values),
        "y": list(range(len(forks))),
        "customdata": [[fork.branches[1].runs[0]] for fork in forks],
        "marker": {
            "symbol": symbol,
            "color": color,
            "size": 11 if symbol == "circle" else 14,
            "line": {"width": 0 if symbol == "circle" else 3, "color": color},
        },
        "cliponaxis": False,
        **hover_texts([_hover(fork) for fork in forks]),
    }


def _hover(fork: RunFork) -> str:
    return lines(
        f"<b>{escaped(fork_name(fork, 24))}</b>",
        tr("step {step} · {runs}", step=nth(fork.at), runs=counted(len(fork.runs), "run")),
        " | ".join(percentage(branch.share) for branch in fork.branches[:2]),
        tr("margin {margin}", margin=_nats(fork.margin)),
        tr("rounding {rounding}", rounding=_nats(fork.parting.rounding)),
        escaped(CAUSES[fork.parting.cause]),
    )
