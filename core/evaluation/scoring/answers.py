"""The number that a text answers with, and what that makes of a run."""

from __future__ import annotations

import re
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from core.decoding.reasoning.calculator import CALL, END_RESULT, RESULT
from core.decoding.record.steps import FinishReason
from core.evaluation.scoring.plain_text import CURRENCIES, UNSPACED, folded, without_markup
from core.evaluation.types import AttemptOutcome

MAX_DIGITS = 60
# ASCII digits: `\d` would take those of every script. Groups of three may be set off by commas.
_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_SIZE = rf"(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{{1,4}})?"
_CURRENCY = f"[${CURRENCIES}]"
_NUMBER = rf"[-+]?(?:{_CURRENCY} ?[-+]?)?(?:(?:[0-9]+ )?[0-9]+/[0-9]+|{_SIZE})"
_PARTS = re.compile(rf"([-+]?)(?:(?:([0-9]+) )?([0-9]+)/([0-9]+)|({_SIZE}))")
# No part of a word, a time, a ratio, a range, a date or a version: 3:15 names no 15.
_BEFORE = rf"(?<![^\W{UNSPACED}])(?<![.,^])(?<![0-9][-/:])"
_AFTER = r"(?![0-9])(?![-./:,^][0-9])"
_NUMBERS = re.compile(rf"{_BEFORE}{_NUMBER}{_AFTER}")
# Groups of three digits that spaces set off, as in 1 000 000.
_SPACED = re.compile(r"(?<![0-9.,/])(?:[1-9][0-9]{0,2})(?: [0-9]{3})+(?![0-9/])")
# Read where every run of white space is one space: two long runs side by side would take time that
# grows with the square of their length.
_BOXED = re.compile(r"\\boxed(?: ?\{([^{}]*)\}| ?([^ {}]+))")
_GSM8K = re.compile(rf"#### ?({_NUMBER}){_AFTER}")
# In English, Japanese, Chinese and Korean, before the number or the sum that it is the value of; a
# number that goes on is part of a sum.
_SAID = re.compile(
    r"(?:\banswer(?: is)?(?: (?:therefore|thus|then|exactly|equal to))?|答え?は|答案是|답은)"
    r" ?[:=]? ?"
    rf"(?:[-+*/×÷()0-9.,$ ]*[0-9)a-z] ?= ?)?({_NUMBER}){_AFTER}"
    r"(?! ?[-+*/×÷=] ?(?:[0-9($.]|\Z))",
    re.IGNORECASE,
)
_ALONE = re.compile(rf" ?({_NUMBER}) ?[.!]? ?")
_SPACES = re.compile(r"\s+")
# What a call asks is no answer, whether it came to its result or not.
_ASKED = re.compile(rf"{CALL}[^<]*(?:{RESULT}|\Z)|{RESULT}|{END_RESULT}")


def normal_number(text: str) -> str | None:
    """A number in one spelling (no commas, no leading zeros, no empty decimals); None for others.

    `1,234.50` gives `1234.5`, `-0` gives `0`, `1.5e3` gives `1500`; a fraction is a decimal where
    that is exact (`2/4` gives `0.5`), else it is reduced (`2/6` gives `1/3`).
    """
    bare = _unspaced(without_markup(folded(text))).strip()
    match = _PARTS.fullmatch(bare)
    if len(bare) > MAX_DIGITS or match is None:
        return None
    sign, whole, above, below, decimal = match.groups(default="")
    if decimal:
        value = Decimal(decimal.replace(",", ""))
    elif int(below):
        exact = int(whole or 0) + Fraction(int(above), int(below))
        context = Context(prec=MAX_DIGITS)
        value = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
        if context.flags[Inexact]:
            return sign.strip("+") + str(exact)
    else:
        return None
    if not value:
        return "0"
    if abs(value.adjusted()) >= MAX_DIGITS:
        return None
    plain = format(value, "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return sign.strip("+") + plain


def find_answer(text: str, *, cut: bool = False) -> str | None:
    r"""The number that a text answers with: in a box, after GSM8K's `####`, after "answer is", else
    the last one.

    Signs of currency and percent are left out. A box that holds no number, or several, answers
    with none.

    Args:
        cut: the text was cut off. Its last number may be one of many on the way then, and its last
            digit not the number's last: a box counts, an "answer is" that something follows, and
            a number that is the whole text with its full stop.
    """
    written = folded(_ASKED.sub(" ", text)).rstrip(" ")
    if cut and written[-1:] in tuple("0123456789,:/"):
        return None
    plain = _unspaced(_SPACES.sub(" ", without_markup(written)))
    if boxes := [box for pair in _BOXED.findall(plain) if (box := "".join(pair).strip())]:
        numbers = _NUMBERS.findall(boxes[-1].rpartition("=")[2])
        return _plain(numbers[0]) if len(numbers) == 1 else None
    for pattern in (_GSM8K, _SAID):
        if matches := pattern.findall(plain):
            return _plain(matches[-1])
    if cut:
        alone = _ALONE.fullmatch(plain)
        return _plain(alone[1]) if alone else None
    numbers = _NUMBERS.findall(plain)
    return _plain(numbers[-1]) if numbers else None


def _unspaced(text: str) -> str:
    return _SPACED.sub(lambda number: number[0].replace(" ", ""), text)


def _plain(number: str) -> str | None:
    return normal_number(re.sub(rf"{_CURRENCY} ?", "", number))


def judge(
    answer_text: str, expected: str, finish_reason: FinishReason
) -> tuple[str | None, AttemptOutcome]:
    """The answer that a run gave and its outcome.

    `truncated` is a run that a bound or Stop ended before it had answered; `unparsable` one that
    ended by itself and named no number.

    Args:
        answer_text: what came after the thinking; empty if it never ended.
        expected: as `normal_number` writes it.
    """
    answer = find_answer(answer_text, cut=finish_reason in ("length", "cancelled"))
    return answer, outcome_of(answer, expected, finish_reason)


def outcome_of(answer: str | None, expected: str, finish_reason: FinishReason) -> AttemptOutcome:
    """The outcome of a run by its answer, a number as `find_answer` gives it."""
    if answer is None:
        return "truncated" if finish_reason in ("length", "cancelled") else "unparsable"
    return "correct" if answer == expected else "wrong"
