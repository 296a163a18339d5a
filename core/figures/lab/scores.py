"""Draw of one step by noise: the score of each token, and the highest one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from ...decoding.lab.types import LabStep
from ...language import tr
from ..base.axes import axis, named_axis
from ..base.labels import nats, percent, show_token
from ..base.marks import numbers_behind, token_bars
from ..base.paper import Paper
from ..base.records import chosen_label
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import Theme
from ..decode.draw import Scored, scored

_FRAME = "<b>□</b>"


def noisy_scores(lab: LabStep, theme: Theme, paper: Paper) -> Sheet:
    """Draw the tokens with the highest scores, before and after the noise."""
    step, items, gumbel = lab.step, scored(lab.step), lab.draw == "gumbel"
    candidates = [step.candidates[item.candidate] for item in items]
    won = [candidate.token_id == step.token_id for candidate in candidates]
    names = [
        f"{chosen_label(show_token(candidate.text, 11), theme, first)} "
        for candidate, first in zip(candidates, won, strict=True)
    ]
    colors = [theme.token_color(candidate.rank) for candidate in candidates]
    words = ("ln p", tr("noise added")) if gumbel else ("p", tr("p ÷ exponential number"))
    sheet = Sheet(
        theme,
        paper,
        title=tr("Which noisy score is highest") if gumbel else tr("Which quotient is highest"),
        subtitle=tr("Every token gets Gumbel noise on its ln p; the highest sum is drawn.")
        if gumbel
        else tr("Every p is divided by an exponential number; the highest quotient is drawn."),
        plot_height=30 * max(len(items), 1),
        left=112,
        right=EDGE + 52,
        below=66,
        key=[
            [(theme.rest, words[0]), (theme.muted, words[1]), (theme.accent, tr("drawn"), _FRAME)]
        ],
        key_offset=46,
        layout={
            "yaxis": named_axis(theme, names, range=[len(items) - 0.5, -0.5], showline=False),
            "barmode": "overlay",
            "bargap": 0.35,
        },
    )
    (_add_sums if gumbel else _add_quotients)(sheet, items, partial(token_bars, theme), colors, won)
    return sheet


def _add_sums(
    sheet: Sheet,
    items: Sequence[Scored],
    bars: Callable[..., Properties],
    colors: Sequence[str],
    won: Sequence[bool],
) -> None:
    """Add grey bars from the axis' low end to ln p, and coloured bars from there to the score."""
    logs, sums = [item.log_prob for item in items], [item.score for item in items]
    noise = [total - value for total, value in zip(sums, logs, strict=True)]
    low, high = min([*logs, *sums], default=0.0), max([*logs, *sums], default=1.0)
    floor = low - 0.08 * max(high - low, 1.0)
    hovers = [
        tr("noise {added:+.3f}, score {total:.3f} nats", added=added, total=total)
        for added, total in zip(noise, sums, strict=True)
    ]
    sheet.traces += [
        bars(
            "ln p",
            [value - floor for value in logs],
            [tr("ln p {value} nats", value=nats(value)) for value in logs],
            sheet.theme.rest,
            base=[floor] * len(items),
        ),
        bars("noise", noise, hovers, colors, chosen=won, base=logs, width=0.34),
        _numbers(sheet, logs, sums, [nats(value, 2) for value in sums]),
    ]
    sheet.layout["xaxis"] = axis(
        sheet.theme, tr("ln p and score, nats"), range=[floor, high], nticks=6
    )


def _add_quotients(
    sheet: Sheet,
    items: Sequence[Scored],
    bars: Callable[..., Properties],
    colors: Sequence[str],
    won: Sequence[bool],
) -> None:
    """Add p in grey, and in colour p divided by the token's exponential random number."""
    probs = [math.exp(item.log_prob) for item in items]
    quotients = [math.exp(item.score) for item in items]
    hovers = [f"{p:.4f} ÷ {p / q:.4f} = {q:.4f}" for p, q in zip(probs, quotients, strict=True)]
    line = {"line": {"color": sheet.theme.paper, "width": 1}}
    texts = [f"p {percent(p)}" for p in probs]
    sheet.traces += [
        bars("quotient", quotients, hovers, colors, chosen=won),
        bars("p", probs, texts, sheet.theme.rest, marker=line, width=0.26),
        _numbers(sheet, probs, quotients, [f"{q:.3g}" for q in quotients]),
    ]
    sheet.layout["xaxis"] = axis(
        sheet.theme, tr("p, and p ÷ E"), range=[0, max([*quotients, *probs], default=1.0)], nticks=6
    )


def _numbers(
    sheet: Sheet, before: Sequence[float], after: Sequence[float], texts: Sequence[str]
) -> Properties:
    """Return the scores, to the right of the longer bar."""
    font = {"size": 11, "color": sheet.theme.ink, "family": sheet.theme.mono}
    return numbers_behind("scores", list(map(max, before, after)), texts, font)
