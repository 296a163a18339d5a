"""The number that a text answers with, and what that makes of a run."""

from __future__ import annotations

import re
from decimal import Decimal

from core.decoding.types import FinishReason
from core.reasoning.types import Outcome

MAX_DIGITS = 60
# ASCII digits: `\d` would take those of every script. Groups of three may be set off by commas.
_NUMBER = r"[-−]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|[-−]?\.[0-9]+"
_NUMBERS = re.compile(rf"(?<![\w.])(?:{_NUMBER})(?![0-9])")
_BOXED = re.compile(rf"\\boxed\{{\s*\$?({_NUMBER})\s*\}}")
_SAID = re.compile(rf"\banswer(?:\s+is)?\s*[:=]?\s*\$?({_NUMBER})(?![0-9])", re.IGNORECASE)


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


def find_answer(text: str) -> str | None:
    """The number that a text answers with: in a box, else after "answer is", else the last one."""
    for pattern in (_BOXED, _SAID):
        if found := pattern.findall(text):
            return normal_number(found[-1])
    numbers = _NUMBERS.findall(text)
    return normal_number(numbers[-1]) if numbers else None


def judge(
    answer_text: str, expected: str, finish_reason: FinishReason
) -> tuple[str | None, Outcome]:
    """The answer that a run gave and its outcome.

    A run that a bound ended has answered only if something follows its number: the last digit may
    not be the number's last. `unparsable` is a run that ended by itself and named no number.

    Args:
        answer_text: what came after the thinking; empty if it never ended.
        expected: as `normal_number` writes it.
    """
    answer = find_answer(answer_text)
    cut = finish_reason in ("length", "cancelled")
    if cut and (answer is None or answer_text[-1] in "0123456789,"):
        return None, "truncated"
    if answer is None:
        return None, "unparsable"
    return answer, "correct" if answer == expected else "wrong"
