"""Find a model's copying errors around correct calculator calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..decoding.reasoning.calculator import ERROR
from ..decoding.reasoning.types import CalculatorCall
from ..language import Message
from .scoring.answers import normal_number

_NUMBERS = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+")
_MOST = 3


def slips(question: str, calls: Sequence[CalculatorCall], answer: str | None) -> tuple[str, ...]:
    """Return sentences on unknown numbers in calls, and on an answer that no call returned.

    Args:
        answer: number as `normal_number` writes it; None if there is none.
    """
    known, strange = set(_numbers(question)), list[str]()
    for call in calls:
        strange += [n for n in _numbers(call.expression) if n not in (*known, *strange)]
        known |= set(_numbers(call.result))
    results = [normal_number(call.result) for call in calls if call.result not in ("", ERROR)]
    sentences = []
    if strange:
        names = ", ".join(_brief(n) for n in strange[:_MOST]) + ", …" * (len(strange) > _MOST)
        sentences.append(Message("Called with what is not in the question: {names}.", names=names))
    if results and answer is not None and answer not in results:
        sentences.append(
            Message("The answer, {answer}, is not what the calculator gave.", answer=_brief(answer))
        )
    return tuple(sentences)


def _numbers(text: str) -> list[str]:
    numbers = (normal_number(word.replace(",", "")) for word in _NUMBERS.findall(text))
    return [number for number in numbers if number is not None]


def _brief(number: str) -> str:
    return number if len(number) <= 24 else f"{number[:23]}…"
