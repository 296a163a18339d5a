"""Recompute the derived fields of a row whenever rows are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...decoding.errors import EvaluationError
from ...language import N_
from ..questions.types import Question
from ..scoring.metrics import score
from ..strict_json import rounded
from .leaks import find_leaks
from .types import EvaluationPlan, EvaluationRow, Way, failed_row

# Pattern of special tokens, which a text contains and a reply doesn't.
_SPECIAL = re.compile(r"(<[^<>\n]{1,80}>|\[/?[A-Za-z_]{2,30}\]|◁[^◁▷\n]{1,40}▷)")
# Characters to ignore: text and reply may replace invalid bytes differently, each or together.
_LOOSE = re.compile(r"[\s\ufffd]+")


def deriver(plan: EvaluationPlan) -> Callable[[EvaluationRow], EvaluationRow]:
    """Return a function that recomputes a stored row's verdict and leaks from its texts.

    The function raises EvaluationError if the text doesn't end with the reply.
    """
    ways = {way.name: way for way in plan.ways}
    questions = {question.key: question for question in plan.questions.questions}

    def derived(row: EvaluationRow) -> EvaluationRow:
        if row.failure:
            return failed_row(row.way, row.question, row.sample, row.failure)
        if not ends_with(row.text, row.reply):
            raise EvaluationError(N_("its reply is not what its text ends with"))
        return judged(row, ways[row.way], questions[row.question], plan.metrics)

    return derived


def judged(
    row: EvaluationRow, way: Way, question: Question, metrics: Sequence[str]
) -> EvaluationRow:
    """Return the row with its verdict and its leaks, numbers rounded as in files."""
    verdict = score(row.reply, question.answers, metrics)
    return replace(
        row,
        right=verdict.right,
        counted=verdict.counted,
        f1=rounded(verdict.f1),
        leaks=find_leaks(row.text, way.system),
    )


def ends_with(text: str, reply: str) -> bool:
    """Return True if the reply is the whole text, or all of the text after a special token.

    Special tokens and white space are removed from both. A reply may be empty only if the text has
    a special token, which may open a thinking.
    """
    end, length, borders = "".join(_pieces(reply)), 0, {0}
    pieces = _pieces(text)
    for piece in pieces:
        length += len(piece)
        borders.add(length)
    whole, at = "".join(pieces), length - len(end)
    if not end:
        return len(pieces) > 1 or not whole
    return at in borders and whole[at:] == end


def _pieces(text: str) -> list[str]:
    """Split a text at special tokens, without white space."""
    return [_LOOSE.sub("", piece) for piece in _SPECIAL.split(text)[::2]]
