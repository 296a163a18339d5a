"""Extract the number that a text gives as its answer, and judge a run by it."""

from __future__ import annotations

import re
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from ...decoding.reasoning.calculator import CALL, END_RESULT, RESULT
from ...decoding.record.steps import FinishReason
from ..types import AttemptOutcome
from .plain_text import CURRENCIES, UNSPACED, folded, without_markup

MAX_DIGITS = 60
# ASCII digits only: `\d` matches those of every script. Commas may separate groups of three.
_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"
_SIZE = rf"(?:{_WHOLE}(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{{1,4}})?"
_CURRENCY = f"[${CURRENCIES}]"
_NUMBER = rf"[-+]?(?:{_CURRENCY} ?[-+]?)?(?:(?:[0-9]+ )?[0-9]+/[0-9]+|{_SIZE})"
_PARTS = re.compile(rf"([-+]?)(?:(?:([0-9]+) )?([0-9]+)/([0-9]+)|({_SIZE}))")
# Not part of a word, a time, a ratio, a range, a date or a version: 3:15 contains no 15.
_BEFORE = rf"(?<![^\W{UNSPACED}])(?<![.,^])(?<![0-9][-/:])"
_AFTER = r"(?![0-9])(?![-./:,^][0-9])"
_NUMBERS = re.compile(rf"{_BEFORE}{_NUMBER}{_AFTER}")
# Groups of three digits separated by spaces, as in 1 000 000.
_SPACED = re.compile(r"(?<![0-9.,/])(?:[1-9][0-9]{0,2})(?: [0-9]{3})+(?![0-9/])")
# White space must be collapsed first: two long runs of it side by side would take time that grows
# with the square of their length.
_BOXED = re.compile(r"\\boxed(?: ?\{([^{}]*)\}| ?([^ {}]+))")
_GSM8K = re.compile(rf"#### ?({_NUMBER}){_AFTER}")
# Phrases in English, Japanese, Chinese and Korean before the number, or before the sum with this
# value; a number followed by an operator is part of a sum.
_SAID = re.compile(
    r"(?:\banswer(?: is)?(?: (?:therefore|thus|then|exactly|equal to))?|答え?は|答案是|답은)"
    r" ?[:=]? ?"
    rf"(?:[-+*/×÷()0-9.,$ ]*[0-9)a-z] ?= ?)?({_NUMBER}){_AFTER}"
    r"(?! ?[-+*/×÷=] ?(?:[0-9($.]|\Z))",
    re.IGNORECASE,
)
_ALONE = re.compile(rf" ?({_NUMBER}) ?[.!]? ?")
_SPACES = re.compile(r"\s+")
# The expression in a calculator call is no answer, with or without its result.
_ASKED = re.compile(rf"{CALL}[^<]*(?:{RESULT}|\Z)|{RESULT}|{END_RESULT}")


def normal_number(text: str) -> str | None:
    """Return a number in normal form, without commas, leading zeros, empty decimals; else None.

    `1,234.50` gives `1234.5`, `-0` gives `0`, `1.5e3` gives `1500`; a fraction becomes a decimal if
    this is exact (`2/4` gives `0.5`), else it is reduced (`2/6` gives `1/3`).
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
    r"""Return the number that a text answers with: in a box, after GSM8K's `####`, after "answer
    is", else the last one.

    Currency and percent signs are removed. A box that holds no number, or several, gives no answer.

    Args:
        cut: True if the text is truncated. Its last number may then be an intermediate result or
            incomplete. Then only these numbers count: one in a box; one after "answer is" with
            more text behind it; one that is the whole text, with or without a full stop.
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
    """Return the answer of a run and its outcome.

    `truncated`: a limit or Stop ended the run before its answer; `unparsable`: the run ended by
    itself without a number.

    Args:
        answer_text: text after the thinking; empty if the thinking never ended.
        expected: the right number, as `normal_number` writes it.
    """
    answer = find_answer(answer_text, cut=finish_reason in ("length", "cancelled"))
    return answer, outcome_of(answer, expected, finish_reason)


def outcome_of(answer: str | None, expected: str, finish_reason: FinishReason) -> AttemptOutcome:
    """Return the outcome of a run by its answer, a number from `find_answer`."""
    if answer is None:
        return "truncated" if finish_reason in ("length", "cancelled") else "unparsable"
    return "correct" if answer == expected else "wrong"
