"""Text metrics with SQuAD's normalisation that keeps numbers, and GSM8K's extraction of a number.

The formulas are those of the SQuAD 2.0 evaluation script (Rajpurkar et al. 2018), which
lm-evaluation-harness uses for `squadv2` and `coqa`, and those of its `squad_completion`
(`contains`) and `gsm8k` (filter `flexible-extract`, then `exact_match`). Unlike there, signs that
change a number stay, and a text of only articles and punctuation is compared unchanged.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence

from .answers import find_answer, normal_number
from .plain_text import CURRENCIES, folded

_SIGNS = re.escape(string.punctuation)
_THOUSANDS = re.compile(r"(?<![0-9.,])([0-9]{1,3})((?:,[0-9]{3})+)(?![0-9,])")
_CURRENCY = re.compile(
    rf"([{CURRENCIES}]) ?(-?[0-9][0-9.]*)|(?<![0-9.])(-?[0-9][0-9.]*) ?([{CURRENCIES}])"
)
_PERCENT = re.compile(r"(?<=[0-9]) (?:%|percent\b|per cent\b)")
# Punctuation between digits (1.5, 1/2, 3:15, 2-3), a number's sign, point or percent, or any other.
_PUNCTUATION = re.compile(
    rf"(?:(?<=[0-9])[{_SIGNS}](?=-?[0-9])|(?<=[0-9]e)-(?=[0-9])|(?<!\w)-(?=[${CURRENCIES}]?\.?[0-9])"
    rf"|(?<!\w)\.(?=[0-9])|(?<=[0-9])%)|([{_SIGNS}])"
)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_QUANTITY = re.compile(rf"(-?)([{CURRENCIES}]?)([0-9./e-]+)(%?)")
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


def normalised(text: str) -> str:
    """Return lower case text without articles and ASCII punctuation, except in numbers.

    Articles, or even punctuation, stay if nothing else is left: `A.` gives `a`, and only an empty
    text gives an empty result.
    """
    plain = " ".join(folded(text).lower().split())
    numbers = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), plain)
    numbers = _PERCENT.sub("%", _CURRENCY.sub(r"\1\4\2\3", numbers))
    bare = _PUNCTUATION.sub(lambda match: "" if match[1] else match[0], numbers)
    return _spaced(_ARTICLES.sub(" ", bare)) or _spaced(bare) or plain


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _pairs(reply: str, answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the normalised reply with each normalised answer.

    If the answer has no letter, numbers are compared by value: 5.5 is $5.50. If it has letters,
    they are compared as written: Python 3.1 is not Python 3.10.
    """
    normal = normalised(reply)
    by_value = " ".join(map(_valued, normal.split()))
    for answer in map(normalised, answers):
        if any(char.isalpha() for char in answer):
            yield normal, answer
        else:
            yield by_value, " ".join(map(_valued, answer.split()))


def _valued(word: str) -> str:
    match = _QUANTITY.fullmatch(word)
    number = normal_number(match[1] + match[3]) if match else None
    return word if match is None or number is None else f"{match[2]}{number}{match[4]}"


def is_exact(reply: str, answers: Sequence[str]) -> bool:
    """Return True if the normalised reply is one of the normalised answers (SQuAD's EM)."""
    return any(text == answer for text, answer in _pairs(reply, answers))


def contains(reply: str, answers: Sequence[str]) -> bool:
    """Return True if the reply contains an answer's words, both normalised."""
    return any(f" {answer} " in f" {text} " for text, answer in _pairs(reply, answers) if answer)


def contains_text(reply: str, answers: Sequence[str]) -> bool:
    """Return True if the reply contains an answer as written, ignoring case.

    As lm-evaluation-harness' `contains`; part of a word counts.
    """
    text = folded(reply)
    return any(re.search(re.escape(folded(answer)), text, re.IGNORECASE) for answer in answers)


def is_number(reply: str, answers: Sequence[str]) -> bool:
    """Return True if the reply's number (`find_answer`) is one of the answers."""
    number = find_answer(reply)
    return number is not None and number in map(normal_number, answers)


def is_last_number(reply: str, answers: Sequence[str]) -> bool:
    """Return True if the reply's last number is an answer (lm-evaluation-harness' GSM8K).

    Compares the filter's last match without commas, dollar signs, the text up to `#### ` and a
    final full stop.
    """
    matches = _FLEXIBLE.findall(folded(reply))
    last = next((group for group in matches[-1] if group), "") if matches else "[invalid]"
    return _bare(last) in map(_bare, answers)


def _bare(text: str) -> str:
    # Not the pattern `.*#### `: its time grows with the square of a reply's length.
    answer = text.replace(",", "").replace("$", "").rpartition("#### ")[2]
    return folded(re.sub(r"\.$", "", answer)).lower()


def token_f1(reply: str, answers: Sequence[str]) -> float:
    """Return the best F1 of words in reply and answer, both normalised (SQuAD's F1).

    If either has no words, return 1 if both have none, else 0.
    """
    return max(_f1(text.split(), answer.split()) for text, answer in _pairs(reply, answers))


def _f1(words: list[str], right: list[str]) -> float:
    if not words or not right:
        return float(words == right)
    common = sum((Counter(words) & Counter(right)).values())
    precision, recall = common / len(words), common / len(right)
    return 2 * precision * recall / (precision + recall) if common else 0.0
