"""Metrics by name, and the verdict on a reply: right if one of the metrics accepts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...decoding.errors import ConfigError
from ...decoding.validation import brief
from ...language import N_, Message
from .answers import normal_number
from .text import (
    contains,
    contains_text,
    is_exact,
    is_last_number,
    is_number,
    token_f1,
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with the verdict right or wrong.

    Args:
        label: name in a sentence.
        words: short description of its criterion.
    """

    name: str
    label: str
    words: str
    is_right: Callable[[str, Sequence[str]], bool]


METRICS = {
    metric.name: metric
    for metric in (
        Metric("exact", N_("exact match"), N_("the reply is the answer"), is_exact),
        Metric(
            "number",
            N_("the same number"),
            N_("the number that the reply answers with is the answer"),
            is_number,
        ),
        Metric("contains", N_("contained words"), N_("the reply has the answer's words"), contains),
        Metric(
            "contains_text",
            N_("contained text"),
            N_("the reply has the answer's characters"),
            contains_text,
        ),
        Metric(
            "last_number",
            N_("the same last number"),
            N_("the reply's last number is the answer"),
            is_last_number,
        ),
    )
}
_OF_NUMBERS = {"number", "last_number"}
DEFAULT_METRICS = ("exact", "number", "contains")


@dataclass(frozen=True, slots=True)
class Score:
    """Verdict of the metrics on a reply.

    Args:
        counted: the first metric that accepted the reply; empty if none did.
        f1: F1 of the words; doesn't affect the verdict.
    """

    right: bool
    counted: str
    f1: float


def score(reply: str, answers: Sequence[str], metrics: Sequence[str] = DEFAULT_METRICS) -> Score:
    """Judge a reply.

    If number metrics are included, they alone judge answers that are numbers: the normalisation of
    other metrics drops sign and decimal point, and "14 + 29 is 12" contains 14.

    Raises:
        ConfigError: a metric doesn't exist.
    """
    require_metrics(metrics)
    texts = [answer for answer in answers if normal_number(answer) is None]
    no_numbers = _OF_NUMBERS.isdisjoint(metrics)
    judged = {name: answers if no_numbers or name in _OF_NUMBERS else texts for name in metrics}
    counted = next((name for name in metrics if METRICS[name].is_right(reply, judged[name])), "")
    return Score(bool(counted), counted, token_f1(reply, answers))


def require_metrics(names: Sequence[str]) -> None:
    """Raise ConfigError unless all names are in `METRICS`, and there is at least one."""
    wrong = next((name for name in names if name not in METRICS), None)
    if not names or wrong is not None:
        got = "none" if wrong is None else brief(wrong)
        raise ConfigError(
            Message("must be some of {metrics}, got {got}.", metrics=", ".join(METRICS), got=got),
            "metrics",
            "",
        )
