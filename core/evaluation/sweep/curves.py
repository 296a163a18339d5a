"""Statistics of a sweep: accuracy by budget with intervals, outcomes, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from ..grouping import grouped
from ..scoring.intervals import wilson_by_group
from ..types import OUTCOMES, AttemptOutcome, Share
from .types import SweepRow

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """Statistics over all rows of one budget.

    Args:
        correct: accuracy with an interval over problems: one problem's samples are not independent.
        outcomes: number of rows with each outcome, in the order of `OUTCOMES`.
        tokens, thinking_tokens, seconds: means over the rows.
    """

    budget: int
    correct: Share
    outcomes: dict[AttemptOutcome, int]
    tokens: float
    thinking_tokens: float
    seconds: float


def curve(rows: Sequence[SweepRow]) -> tuple[BudgetPoint, ...]:
    """Return a point for every budget that has a row, by rising budget."""
    groups = grouped((row.budget, row) for row in rows)
    return tuple(_point(budget, groups[budget]) for budget in sorted(groups))


def _point(budget: int, rows: list[SweepRow]) -> BudgetPoint:
    counted, total = Counter(row.outcome for row in rows), len(rows)
    return BudgetPoint(
        budget=budget,
        correct=wilson_by_group((row.problem, row.outcome == "correct") for row in rows),
        outcomes={outcome: counted[outcome] for outcome in OUTCOMES},
        tokens=sum(row.tokens for row in rows) / total,
        thinking_tokens=sum(row.thinking_tokens for row in rows) / total,
        seconds=sum(row.seconds for row in rows) / total,
    )


def curves_by_steps(rows: Sequence[SweepRow]) -> dict[int | None, tuple[BudgetPoint, ...]]:
    """Return a curve for each difficulty, easy ones first; None for problems without one."""
    groups = grouped((row.steps, row) for row in rows)
    return {steps: curve(groups[steps]) for steps in sorted(groups, key=lambda s: (s is None, s))}


def frame_of(rows: Sequence[SweepRow]) -> pd.DataFrame:
    """Return a data frame with one row per run; the columns are the fields of `SweepRow`."""
    import pandas as pd

    columns = [field.name for field in fields(SweepRow)]
    return pd.DataFrame([asdict(row) for row in rows], columns=columns)
