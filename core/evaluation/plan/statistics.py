"""Statistics of an evaluation: accuracy by way, paired differences, agreement, costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ...decoding.counting import counted
from ...language import N_, Message
from ..grouping import grouped
from ..scoring.intervals import wilson_by_group
from ..types import Share
from .types import Evaluation, EvaluationRow, Way

if TYPE_CHECKING:
    import pandas as pd


class Failure(NamedTuple):
    """Failed runs of a way.

    Args:
        whole: True if all its runs failed; the way is excluded from every comparison.
        reason: reason of the first failure, a sentence.
    """

    way: str
    runs: int
    whole: bool
    reason: str

    @property
    def sentence(self) -> str:
        """Message with the way and the reason of its failure."""
        words = N_("Way {way} failed in {runs}: {reason}")
        if self.whole:
            words = N_("Way {way} failed: {reason}")
        runs = counted(self.runs, "run")
        return Message(words, way=self.way, runs=runs, reason=Message(self.reason))


def failures(evaluation: Evaluation) -> tuple[Failure, ...]:
    """Return the ways with failed runs, in the plan's order."""
    reasons = grouped((row.way, row.failure) for row in evaluation.rows if row.failure)
    done = {row.way for row in evaluation.rows if not row.failure}
    return tuple(
        Failure(way.name, len(sentences), way.name not in done, sentences[0])
        for way in evaluation.plan.ways
        if (sentences := reasons.get(way.name))
    )


def compared_ways(evaluation: Evaluation) -> tuple[Way, ...]:
    """Return the plan's ways, except those whose runs all failed."""
    lost = {failure.way for failure in failures(evaluation) if failure.whole}
    return tuple(way for way in evaluation.plan.ways if way.name not in lost)


def fair_rows(evaluation: Evaluation) -> tuple[EvaluationRow, ...]:
    """Return the rows of the questions for which every compared way has all its runs."""
    each = sum(way.samples for way in compared_ways(evaluation))
    rows = [row for row in evaluation.rows if not row.failure]
    by_question = Counter(row.question for row in rows)
    return tuple(row for row in rows if by_question[row.question] == each)


@dataclass(frozen=True, slots=True)
class WayResult:
    """Statistics over all rows of one way.

    Args:
        correct: accuracy; its interval is over questions, as one question's samples correlate.
        f1: mean over the rows.
        counted: for each metric, the number of rows that it judged right.
        tokens, forwards, draft_forwards, seconds: means per run.
        acceptance: accepted over drafted tokens; None if nothing was drafted.
        reference_logprob: mean log-probability per token of the reference answers, in nats; None
            if no reference fitted.
        leaks: number of rows with template text.
    """

    way: str
    correct: Share
    f1: float
    counted: dict[str, int]
    tokens: float
    forwards: float
    draft_forwards: float
    seconds: float
    acceptance: float | None
    reference_logprob: float | None
    leaks: int


def results(evaluation: Evaluation) -> tuple[WayResult, ...]:
    """Return a result for each way that has rows, in the plan's order."""
    rows = by_way(evaluation)
    return tuple(_result(name, way_rows) for name, way_rows in rows.items() if way_rows)


def by_way(evaluation: Evaluation) -> dict[str, list[EvaluationRow]]:
    """Return the comparable rows of each way, in the plan's order."""
    groups: dict[str, list[EvaluationRow]] = {way.name: [] for way in compared_ways(evaluation)}
    for row in fair_rows(evaluation):
        groups[row.way].append(row)
    return groups


def _result(way: str, rows: list[EvaluationRow]) -> WayResult:
    total = len(rows)
    drafted = sum(row.drafted for row in rows)
    references = [
        row.reference_logprob / row.reference_tokens
        for row in rows
        if row.reference_logprob is not None
    ]
    return WayResult(
        way=way,
        correct=wilson_by_group((row.question, row.right) for row in rows),
        f1=sum(row.f1 for row in rows) / total,
        counted=dict(Counter(row.counted for row in rows if row.counted)),
        tokens=sum(row.tokens for row in rows) / total,
        forwards=sum(row.forwards for row in rows) / total,
        draft_forwards=sum(row.draft_forwards for row in rows) / total,
        seconds=sum(row.seconds for row in rows) / total,
        acceptance=sum(row.accepted for row in rows) / drafted if drafted else None,
        reference_logprob=sum(references) / len(references) if references else None,
        leaks=sum(bool(row.leaks) for row in rows),
    )


class Paired(NamedTuple):
    """Two ways compared on the same questions.

    Args:
        both, first, second, neither: number of questions that both, only one, or none got right.
        p_value: two-sided p-value of McNemar's exact test.
    """

    one: str
    other: str
    both: int
    first: int
    second: int
    neither: int
    p_value: float


def paired(evaluation: Evaluation, one: str, other: str) -> Paired:
    """Compare two ways by question; with several samples, the majority decides (ties are wrong).

    Raises:
        KeyError: one of the ways is not compared.
    """
    rows = by_way(evaluation)
    left, right = _by_question(rows[one]), _by_question(rows[other])
    counts = {(a, b): 0 for a in (True, False) for b in (True, False)}
    for key in left.keys() & right.keys():
        counts[left[key], right[key]] += 1
    first, second = counts[True, False], counts[False, True]
    return Paired(
        one, other, counts[True, True], first, second, counts[False, False], mcnemar(first, second)
    )


def _by_question(rows: Sequence[EvaluationRow]) -> dict[str, bool]:
    groups = grouped((row.question, row.right) for row in rows)
    return {key: 2 * sum(verdicts) > len(verdicts) for key, verdicts in groups.items()}


def mcnemar(first: int, second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test (McNemar 1947): a binomial test at 1/2,
    with `first` and `second` questions that only one of the ways got right."""
    total = first + second
    tail = sum(math.comb(total, k) for k in range(min(first, second) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**total)))


def all_paired(evaluation: Evaluation) -> tuple[Paired, ...]:
    """Compare every way with the first one, among the compared ways."""
    names = [way.name for way in compared_ways(evaluation)]
    return tuple(paired(evaluation, names[0], name) for name in names[1:])


def agreement(evaluation: Evaluation) -> dict[tuple[str, str], Share]:
    """Return for each two ways the share of questions with equal replies (first samples)."""
    replies = {
        name: {row.question: row.reply for row in rows if row.sample == 0}
        for name, rows in by_way(evaluation).items()
    }
    return {
        (first, second): wilson_by_group(
            (key, replies[first][key] == replies[second][key]) for key in replies[first]
        )
        for first in replies
        for second in replies
    }


def frame_of(evaluation: Evaluation) -> pd.DataFrame:
    """Return a data frame with one row per run: fields of `EvaluationRow`, question, answers.

    Unused columns of the question file follow.
    """
    import pandas as pd

    questions = {question.key: question for question in evaluation.plan.questions.questions}
    columns = [field.name for field in fields(EvaluationRow)]
    frame = pd.DataFrame([asdict(row) for row in evaluation.rows], columns=columns)
    frame["leaks"] = [len(row.leaks) for row in evaluation.rows]
    frame.insert(2, "asked", [questions[row.question].question for row in evaluation.rows])
    frame.insert(
        3, "expected", [" | ".join(questions[r.question].answers) for r in evaluation.rows]
    )
    others = {name: None for question in questions.values() for name, _ in question.columns}
    for name in others:
        values = [dict(questions[row.question].columns).get(name, "") for row in evaluation.rows]
        frame[f"question.{name}" if name in frame else name] = values
    return frame
