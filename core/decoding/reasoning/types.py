"""Marks of a model's thinking, and calculator calls."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

MarksSource: TypeAlias = Literal["tokens", "template", "prompt"]


class ThinkMarks(NamedTuple):
    """Marks of a model's thinking: the settings `think_start` and `think_end` of a run.

    `source` says where this is known from: `tokens`, the tokenizer has them as tokens of its own;
    `template`, the chat template writes them as ordinary text; `prompt`, the model knows no marks
    and is told by `instruction`, a system prompt, to write `end` before its answer (`start` is
    empty then).
    """

    start: str
    end: str
    source: MarksSource
    instruction: str = ""


class CalculatorCall(NamedTuple):
    """A calculator call in a run.

    `expression` is what the model wrote between the marks, `result` what was put in (`error` where
    the expression has no value; empty where the run ended before it), `first` and `last` the
    indices of the steps from the call's opening mark to the result's closing one.
    """

    expression: str
    result: str
    first: int
    last: int
