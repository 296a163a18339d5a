"""Statistics of an evaluation: accuracy by way, paired differences, agreement, costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from core.decoding.counting import counted
from core.evaluation.grouping import grouped
from core.evaluation.plan.types import Evaluation, EvaluationRow, Way
from core.evaluation.scoring.intervals import wilson_by_group
from core.evaluation.types import Share

if TYPE_CHECKING:
    import pandas as pd


class Failure(NamedTuple):
    """Runs of a way that could not be done.

    Args:
        whole: it has no other runs, and is left out of every comparison.
        reason: of the first one, a sentence.
    """

    way: str
    runs: int
    whole: bool
    reason: str

    @property
    def sentence(self) -> str:
        """The way and the reason of its failure."""
        what = "failed" if self.whole else f"failed in {counted(self.runs, 'run')}"
        return f"Way {self.way} {what}: {self.reason}"


def failures(evaluation: Evaluation) -> tuple[Failure, ...]:
    """The ways that failed, in the plan's order."""
    reasons = grouped((row.way, row.failure) for row in evaluation.rows if row.failure)
    done = {row.way for row in evaluation.rows if not row.failure}
    return tuple(
        Failure(way.name, len(sentences), way.name not in done, sentences[0])
        for way in evaluation.plan.ways
        if (sentences := reasons.get(way.name))
    )


def compared_ways(evaluation: Evaluation) -> tuple[Way, ...]:
    """The plan's ways but those that failed in all their runs."""
    lost = {failure.way for failure in failures(evaluation) if failure.whole}
    return tuple(way for way in evaluation.plan.ways if way.name not in lost)


def fair_rows(evaluation: Evaluation) -> tuple[EvaluationRow, ...]:
    """The rows of the questions that have all their runs in every way that is compared."""
    each = sum(way.samples for way in compared_ways(evaluation))
    rows = [row for row in evaluation.rows if not row.failure]
    by_question = Counter(row.question for row in rows)
    return tuple(row for row in rows if by_question[row.question] == each)


@dataclass(frozen=True, slots=True)
class WayResult:
    """All rows of one way.

    Args:
        correct: with an interval over questions: samples of one question don't count as so many.
        f1: mean over the rows.
        counted: how many rows each metric made right.
        tokens, forwards, draft_forwards, seconds: means a run.
        acceptance: accepted over drafted tokens; None where nothing was drafted.
        reference_logprob: mean of a reference answer's log-probability a token, in nats; None
            where no reference fitted.
        leaks: rows with template text.
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
    """A result for each way that has a row, in the plan's order."""
    rows = by_way(evaluation)
    return tuple(_result(name, way_rows) for name, way_rows in rows.items() if way_rows)


def by_way(evaluation: Evaluation) -> dict[str, list[EvaluationRow]]:
    """The comparable rows of each way, in the plan's order."""
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
    """Two ways on the same questions.

    Args:
        both, first, second, neither: questions that both, only one, or none got right.
        p_value: McNemar's exact test, two-sided.
    """

    one: str
    other: str
    both: int
    first: int
    second: int
    neither: int
    p_value: float


def paired(evaluation: Evaluation, one: str, other: str) -> Paired:
    """Compare two ways question by question; of several samples the majority counts (ties: wrong).

    Raises:
        KeyError: no such way is compared.
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
    """The two-sided p-value of McNemar's exact test: of the questions that only one way got right,
    `first` and `second`, a fair coin decides which (McNemar 1947; the binomial test at 1/2)."""
    total = first + second
    tail = sum(math.comb(total, k) for k in range(min(first, second) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**total)))


def all_paired(evaluation: Evaluation) -> tuple[Paired, ...]:
    """Every way that is compared against the first one of them."""
    names = [way.name for way in compared_ways(evaluation)]
    return tuple(paired(evaluation, names[0], name) for name in names[1:])


def agreement(evaluation: Evaluation) -> dict[tuple[str, str], Share]:
    """For each two ways, how many questions they answer with the same reply (first samples)."""
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
    """A data frame with one row a run: the fields of `EvaluationRow`, the question, its answers.

    Columns of the file of questions that have no meaning here follow.
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
