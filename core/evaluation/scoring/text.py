"""Text metrics after SQuAD's normalisation, and GSM8K's reading of a number.

The formulas are those of the SQuAD 2.0 evaluation script (Rajpurkar et al. 2018), which
lm-evaluation-harness uses for its `squadv2` and `coqa`, of its `squad_completion` (`contains`)
and of its `gsm8k` (filter `flexible-extract`, then `exact_match`).
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from core.evaluation.answers import find_answer, normal_number

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


def normalised(text: str) -> str:
    """Small letters, no ASCII punctuation, no articles, single spaces; in this order."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def is_exact(reply: str, answers: Sequence[str]) -> bool:
    """Whether the normalised reply is one of the normalised answers (SQuAD's EM)."""
    return normalised(reply) in map(normalised, answers)


def contains(reply: str, answers: Sequence[str]) -> bool:
    """Whether the words of an answer stand in the reply, both normalised.

    An answer that normalises to nothing is contained in nothing.
    """
    said = f" {normalised(reply)} "
    return any(f" {own} " in said for own in map(normalised, answers) if own)


def contains_text(reply: str, answers: Sequence[str]) -> bool:
    """Whether an answer stands in the reply as it is written, in letters of any size.

    lm-evaluation-harness' `contains`; a part of a word counts.
    """
    return any(re.search(re.escape(own), reply, re.IGNORECASE) for own in answers)


def is_number(reply: str, answers: Sequence[str]) -> bool:
    """Whether the number that the reply answers with (`find_answer`) is one of the answers."""
    found = find_answer(reply)
    return found is not None and found in map(normal_number, answers)


def is_last_number(reply: str, answers: Sequence[str]) -> bool:
    """Whether the last number of the reply is an answer, as lm-evaluation-harness reads GSM8K.

    The filter's last match, then equality with commas, dollar signs, what stands up to `#### ` and
    a full stop at the end left out.
    """
    found = _FLEXIBLE.findall(reply)
    last = next((group for group in found[-1] if group), "") if found else "[invalid]"
    return _bare(last) in map(_bare, answers)


def _bare(text: str) -> str:
    # Not `.*#### ` as a pattern: it takes time that grows with the square of a reply's length.
    kept = text.replace(",", "").replace("$", "").rpartition("#### ")[2]
    return re.sub(r"\.$", "", kept).lower()


def token_f1(reply: str, answers: Sequence[str]) -> float:
    """The best F1 of the words that the reply shares with an answer, both normalised (SQuAD's F1).

    Where either has no word, 1 if neither has one.
    """
    return max(_f1(normalised(reply).split(), normalised(own).split()) for own in answers)


def _f1(said: list[str], right: list[str]) -> float:
    if not said or not right:
        return float(said == right)
    common = sum((Counter(said) & Counter(right)).values())
    precision, recall = common / len(said), common / len(right)
    return 2 * precision * recall / (precision + recall) if common else 0.0
