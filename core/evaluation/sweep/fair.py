"""The part of an unfinished sweep that may be compared across budgets."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

from core.evaluation.sweep.types import BudgetSweep, SweepRow
from core.evaluation.types import Problem


def whole_problems(sweep: BudgetSweep) -> tuple[Problem, ...]:
    """The problems that have all runs at every budget, up to the first one that has not.

    Runs that end early are there first: whatever else has ended would be the easy part of its
    budget. The order of the set was fixed before anything ran, so its beginning favours no budget
    and no short thinking.
    """
    runs = Counter(row.problem for row in sweep.rows)
    each = len(sweep.plan.budgets) * sweep.plan.samples
    return tuple(takewhile(lambda problem: runs[problem.key] == each, sweep.plan.problems.problems))


def fair_rows(sweep: BudgetSweep) -> tuple[SweepRow, ...]:
    """The rows of the whole problems; all rows of a complete sweep."""
    if sweep.complete:
        return sweep.rows
    keys = {problem.key for problem in whole_problems(sweep)}
    return tuple(row for row in sweep.rows if row.problem in keys)
