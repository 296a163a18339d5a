"""Colours of the generated text, token by token, for a strip that the page draws."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.figures.base.theme import LIGHT, Theme

By: TypeAlias = Literal["probability", "entropy", "rank", "surprisal"]

# Fixed upper ends, so that a colour has the same meaning in every run.
_TOP_ENTROPY = 5.0


class Legend(NamedTuple):
    """Legend of a strip's colours: names of both ends, and the colours between them.

    A stronger colour marks a less expected token.
    """

    title: str
    low: str
    high: str
    stops: tuple[str, ...]


def token_share(step: TokenStep, by: By) -> float:
    """Return a step's position on the scale of `by`, in [0, 1]; 1 is the least expected.

    The scales are: probability of the chosen token from 1 down to 0, entropy up to 5 nats,
    surprisal up to 8 nats, logarithm of the rank up to rank 1,000; all from the raw distribution.
    """
    if by == "probability":
        value = 1 - step.chosen.raw_prob
    elif by == "entropy":
        value = step.entropy / _TOP_ENTROPY
    elif by == "surprisal":
        value = step.surprisal / 8.0
    else:
        value = math.log(step.chosen.rank) / math.log(1000)
    return min(max(value, 0.0), 1.0)


def token_colors(
    trace: Trace, by: By = "probability", theme: Theme = LIGHT
) -> list[tuple[str, str]]:
    """Return background and text colour of every generated token; their contrast is 4.5 or more."""
    grounds = [theme.uncertainty_color(token_share(step, by)) for step in trace.token_steps]
    return [(ground, theme.text_on(ground)) for ground in grounds]


def legend(by: By = "probability", theme: Theme = LIGHT) -> Legend:
    """Return the legend of `token_colors`, for a gradient with two labels."""
    titles = {
        "probability": (
            "probability of the chosen token, before shaping",
            "100\u00a0%",
            "0\u00a0%",
        ),
        "entropy": ("entropy before the draw", "0 nats", "5 nats or more"),
        "surprisal": ("surprisal of the chosen token", "0 nats", "8 nats or more"),
        "rank": ("rank of the chosen token", "rank 1", "rank 1,000 or lower"),
    }
    return Legend(*titles[by], theme.uncertainty)
