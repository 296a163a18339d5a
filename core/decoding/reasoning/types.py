"""Marks of a model's thinking, and calculator calls."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

MarksSource: TypeAlias = Literal["tokens", "template", "prompt"]


class ThinkMarks(NamedTuple):
    """Marks of a model's thinking: the settings `think_start` and `think_end` of a run.

    `source` says how they are known. `tokens`: the tokenizer has them as tokens. `template`: the
    chat template writes them as ordinary text. `prompt`: the model has no marks; the system prompt
    `instruction` tells it to write `end` before its answer, and `start` is empty.
    """

    start: str
    end: str
    source: MarksSource
    instruction: str = ""


class CalculatorCall(NamedTuple):
    """A calculator call in a run.

    `expression` is the model's text between the marks; `result` is the inserted text (`error` if
    the expression has no value; empty if the run ended before it); `first` and `last` are the
    indices of the steps from the call's opening mark to the result's closing mark.
    """

    expression: str
    result: str
    first: int
    last: int
