"""Fields of a row that follow from its others, computed anew whenever rows are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.decoding.errors import EvaluationError
from core.evaluation.plan.leaks import find_leaks
from core.evaluation.plan.types import EvaluationPlan, EvaluationRow, Way, failed_row
from core.evaluation.questions.types import Question
from core.evaluation.scoring.metrics import score
from core.evaluation.strict_json import rounded

# What special tokens look like: a text writes them out and a reply leaves them out.
_SPECIAL = re.compile(r"(<[^<>\n]{1,80}>|\[/?[A-Za-z_]{2,30}\]|◁[^◁▷\n]{1,40}▷)")
# Bytes that are no text are written in one of the two as they come, in the other as a whole.
_LOOSE = re.compile(r"[\s\ufffd]+")


def deriver(plan: EvaluationPlan) -> Callable[[EvaluationRow], EvaluationRow]:
    """Return a function that computes a stored row's verdict and leaks anew from its texts.

    It raises EvaluationError where the reply is not what the text ends with.
    """
    ways = {way.name: way for way in plan.ways}
    questions = {question.key: question for question in plan.questions.questions}

    def derived(row: EvaluationRow) -> EvaluationRow:
        if row.failure:
            return failed_row(row.way, row.question, row.sample, row.failure)
        if not ends_with(row.text, row.reply):
            raise EvaluationError("its reply is not what its text ends with")
        return judged(row, ways[row.way], questions[row.question], plan.metrics)

    return derived


def judged(
    row: EvaluationRow, way: Way, question: Question, metrics: Sequence[str]
) -> EvaluationRow:
    """Return a row with its verdict and its leaks, numbers as files hold them."""
    verdict = score(row.reply, question.answers, metrics)
    return replace(
        row,
        right=verdict.right,
        counted=verdict.counted,
        f1=rounded(verdict.f1),
        leaks=find_leaks(row.text, way.system),
    )


def ends_with(text: str, reply: str) -> bool:
    """Return whether a reply is a whole text, or all of it behind one of its special tokens.

    Special tokens and white space are left out of both. Only a text with a special token, which may
    open a thinking, may have an empty reply.
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
