"""The number that a text answers with, and what that makes of a run."""

from __future__ import annotations

import re
from decimal import Decimal

from core.decoding.reasoning.calculator import CALL, END_RESULT, RESULT
from core.decoding.trace import FinishReason
from core.evaluation.types import AttemptOutcome

MAX_DIGITS = 60
# ASCII digits: `\d` would take those of every script. Groups of three may be set off by commas.
_NUMBER = r"[-+−]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|[-+−]?\.[0-9]+"
_NUMBERS = re.compile(rf"(?<![\w.])(?:{_NUMBER})(?![0-9])")
# Read where every run of white space is one space: two long runs side by side would take time that
# grows with the square of their length. A number that goes on is part of a sum.
_BOXED = re.compile(rf"\\boxed\{{ ?\$?({_NUMBER}) ?\}}")
_WHOLE = r"(?![,.]?[0-9])(?! ?[-+*/×÷])"
_SAID = re.compile(rf"\banswer(?: is)? ?[:=]? ?\$?({_NUMBER}){_WHOLE}", re.IGNORECASE)
_ALONE = re.compile(rf" ?\$?({_NUMBER}) ?[.!]? ?")
_SPACES = re.compile(r"\s+")
# What a call asks is no answer, whether it came to its result or not.
_ASKED = re.compile(rf"{CALL}[^<]*(?:{RESULT}|\Z)|{RESULT}|{END_RESULT}")


def normal_number(text: str) -> str | None:
    """A number in one spelling (no commas, no leading zeros, no empty decimals); None for others.

    `1,234.50` gives `1234.5`, `-0` gives `0`.
    """
    bare = text.strip()
    if len(bare) > MAX_DIGITS or not re.fullmatch(_NUMBER, bare):
        return None
    plain = format(Decimal(bare.replace(",", "").replace("−", "-")), "f")
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def find_answer(text: str, *, cut: bool = False) -> str | None:
    """The number that a text answers with: in a box, else after "answer is", else the last one.

    Args:
        cut: the text was cut off. Its last number may be one of many on the way then, and its last
            digit not the number's last: a box counts, an "answer is" that something follows, and
            a number that is the whole text with its full stop.
    """
    said = _SPACES.sub(" ", _ASKED.sub(" ", text))
    if cut and said.rstrip(" ")[-1:] in tuple("0123456789,") and not text.endswith("\n"):
        return None
    for pattern in (_BOXED, _SAID):
        if found := pattern.findall(said):
            return normal_number(found[-1])
    if cut:
        alone = _ALONE.fullmatch(said)
        return normal_number(alone[1]) if alone else None
    numbers = _NUMBERS.findall(said)
    return normal_number(numbers[-1]) if numbers else None


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
    cut = finish_reason in ("length", "cancelled")
    answer = find_answer(answer_text, cut=cut)
    if answer is None:
        return None, "truncated" if cut else "unparsable"
    return answer, "correct" if answer == expected else "wrong"
