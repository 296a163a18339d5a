"""The part of an unfinished sweep that can be compared across budgets."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

from ..types import Problem
from .types import BudgetSweep, SweepRow


def whole_problems(sweep: BudgetSweep) -> tuple[Problem, ...]:
    """Return the first problems with all runs at every budget, up to the first incomplete problem.

    Short runs end first, so the other finished runs would be the easy part of their budget. The
    order of the set was fixed before any run, so its beginning favours no budget and no short
    thinking.
    """
    runs = Counter(row.problem for row in sweep.rows)
    each = len(sweep.plan.budgets) * sweep.plan.samples
    return tuple(takewhile(lambda problem: runs[problem.key] == each, sweep.plan.problems.problems))


def fair_rows(sweep: BudgetSweep) -> tuple[SweepRow, ...]:
    """Return the rows of the complete problems; all rows of a complete sweep."""
    if sweep.complete:
        return sweep.rows
    keys = {problem.key for problem in whole_problems(sweep)}
    return tuple(row for row in sweep.rows if row.problem in keys)
