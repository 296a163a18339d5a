"""Variety of a way's replies: how different and how long they are, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

from ..grouping import grouped
from ..scoring.text import normalised
from .statistics import by_way
from .types import Evaluation, EvaluationRow

_Z = 1.959963984540054  # 97.5 % of a normal distribution lie below it


class Mean(NamedTuple):
    """A mean over questions with its 95 % interval, by the normal distribution; of one question the
    interval has no length.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WayVariety:
    """Variety over all rows of one way.

    Args:
        samples: runs of each question.
        replies: distinct replies of a question over its runs.
        distinct_1, distinct_2: distinct words, and pairs of neighbouring words, over all of them in
            a question's replies (Li et al. 2016).
        tokens: emitted tokens of a run.
    """

    way: str
    samples: int
    replies: Mean
    distinct_1: Mean
    distinct_2: Mean
    tokens: Mean


def varieties(evaluation: Evaluation) -> tuple[WayVariety, ...]:
    """Return the variety of each way that has rows, in the plan's order."""
    samples = {way.name: way.samples for way in evaluation.plan.ways}
    return tuple(
        _variety(name, samples[name], rows) for name, rows in by_way(evaluation).items() if rows
    )


def _variety(way: str, samples: int, rows: Sequence[EvaluationRow]) -> WayVariety:
    questions = grouped((row.question, row) for row in rows).values()
    texts = [[normalised(row.reply) for row in question] for question in questions]
    return WayVariety(
        way=way,
        samples=samples,
        replies=_mean([len({*replies}) / len(replies) for replies in texts]),
        distinct_1=_mean([_distinct(replies, 1) for replies in texts]),
        distinct_2=_mean([_distinct(replies, 2) for replies in texts]),
        tokens=_mean([fmean(row.tokens for row in question) for question in questions]),
    )


def _distinct(replies: Sequence[str], size: int) -> float:
    """Return the distinct n-grams of words over all of them; 1 without any."""
    grams = [
        tuple(words[at : at + size])
        for words in (reply.split() for reply in replies)
        for at in range(len(words) - size + 1)
    ]
    return len({*grams}) / len(grams) if grams else 1.0


def _mean(values: Sequence[float]) -> Mean:
    value = fmean(values)
    half = _Z * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(value, value - half, value + half)
