"""Text metrics after SQuAD's normalisation with its numbers kept, and GSM8K's reading of a number.

The formulas are those of the SQuAD 2.0 evaluation script (Rajpurkar et al. 2018), which
lm-evaluation-harness uses for its `squadv2` and `coqa`, of its `squad_completion` (`contains`)
and of its `gsm8k` (filter `flexible-extract`, then `exact_match`). Unlike there, signs that make a
number another one stay, and a text of nothing but articles and punctuation is compared as it is.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence

from core.evaluation.scoring.answers import find_answer, normal_number
from core.evaluation.scoring.plain_text import CURRENCIES, folded

_SIGNS = re.escape(string.punctuation)
_THOUSANDS = re.compile(r"(?<![0-9.,])([0-9]{1,3})((?:,[0-9]{3})+)(?![0-9,])")
_CURRENCY = re.compile(
    rf"([{CURRENCIES}]) ?(-?[0-9][0-9.]*)|(?<![0-9.])(-?[0-9][0-9.]*) ?([{CURRENCIES}])"
)
_PERCENT = re.compile(r"(?<=[0-9]) (?:%|percent\b|per cent\b)")
# Between digits (1.5, 1/2, 3:15, 2-3), a sign, a point or a percent sign of a number, or elsewhere.
_PUNCTUATION = re.compile(
    rf"(?:(?<=[0-9])[{_SIGNS}](?=-?[0-9])|(?<=[0-9]e)-(?=[0-9])|(?<!\w)-(?=[${CURRENCIES}]?\.?[0-9])"
    rf"|(?<!\w)\.(?=[0-9])|(?<=[0-9])%)|([{_SIGNS}])"
)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_QUANTITY = re.compile(rf"(-?)([{CURRENCIES}]?)([0-9./e-]+)(%?)")
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


def normalised(text: str) -> str:
    """Small letters, no ASCII punctuation but that of numbers, no articles, single spaces.

    Articles, then punctuation stay where nothing else is left: `A.` gives `a`, and only an empty
    text gives an empty one.
    """
    plain = " ".join(folded(text).lower().split())
    numbers = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), plain)
    numbers = _PERCENT.sub("%", _CURRENCY.sub(r"\1\4\2\3", numbers))
    bare = _PUNCTUATION.sub(lambda match: "" if match[1] else match[0], numbers)
    return _spaced(_ARTICLES.sub(" ", bare)) or _spaced(bare) or plain


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _pairs(reply: str, answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The normalised reply beside each normalised answer.

    Where the answer has no letter, numbers are compared by their value: 5.5 is $5.50. Beside one
    with letters they are compared as they are written: Python 3.1 is not Python 3.10.
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
    """Return whether the normalised reply is one of the normalised answers (SQuAD's EM)."""
    return any(text == answer for text, answer in _pairs(reply, answers))


def contains(reply: str, answers: Sequence[str]) -> bool:
    """Return whether the reply contains an answer's words, both normalised."""
    return any(f" {answer} " in f" {text} " for text, answer in _pairs(reply, answers) if answer)


def contains_text(reply: str, answers: Sequence[str]) -> bool:
    """Return whether the reply contains an answer as it is written, in any case.

    lm-evaluation-harness' `contains`; a part of a word counts.
    """
    text = folded(reply)
    return any(re.search(re.escape(folded(answer)), text, re.IGNORECASE) for answer in answers)


def is_number(reply: str, answers: Sequence[str]) -> bool:
    """Return whether the reply's number (`find_answer`) is one of the answers."""
    number = find_answer(reply)
    return number is not None and number in map(normal_number, answers)


def is_last_number(reply: str, answers: Sequence[str]) -> bool:
    """Return whether the reply's last number is an answer (lm-evaluation-harness' GSM8K).

    The filter's last match, then equality with commas, dollar signs, what stands up to `#### ` and
    a full stop at the end left out.
    """
    matches = _FLEXIBLE.findall(folded(reply))
    last = next((group for group in matches[-1] if group), "") if matches else "[invalid]"
    return _bare(last) in map(_bare, answers)


def _bare(text: str) -> str:
    # Not `.*#### ` as a pattern: it takes time that grows with the square of a reply's length.
    answer = text.replace(",", "").replace("$", "").rpartition("#### ")[2]
    return folded(re.sub(r"\.$", "", answer)).lower()


def token_f1(reply: str, answers: Sequence[str]) -> float:
    """The best F1 of the words that the reply shares with an answer, both normalised (SQuAD's F1).

    Where either has no word, 1 if neither has one.
    """
    return max(_f1(text.split(), answer.split()) for text, answer in _pairs(reply, answers))


def _f1(words: list[str], right: list[str]) -> float:
    if not words or not right:
        return float(words == right)
    common = sum((Counter(words) & Counter(right)).values())
    precision, recall = common / len(words), common / len(right)
    return 2 * precision * recall / (precision + recall) if common else 0.0
