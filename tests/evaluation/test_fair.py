"""Rows of an unfinished sweep that may be compared across budgets."""

from __future__ import annotations

from core.evaluation.sweep.curves import curve
from core.evaluation.sweep.fair import fair_rows, whole_problems
from core.evaluation.sweep.types import BudgetSweep
from tests.figures.reasons import make_sweep


def part_of(*wanted: tuple[int, int]) -> BudgetSweep:
    """The sweep's rows of these problems (by place) at these budgets."""
    whole = make_sweep()
    keys = [problem.key for problem in whole.plan.problems.problems]
    chosen = {(keys[place], budget) for place, budget in wanted}
    return BudgetSweep(whole.plan, tuple(r for r in whole.rows if (r.problem, r.budget) in chosen))


def test_runs_that_merely_ended_early_make_no_curve() -> None:
    # All four at budget 0, and the easy one alone further on: 100 % at 32 and 64 if one counted it.
    early = part_of((0, 0), (1, 0), (2, 0), (3, 0), (0, 32), (0, 64))
    assert [problem.steps for problem in whole_problems(early)] == [1]
    assert [point.correct.total for point in curve(fair_rows(early))] == [1, 1, 1]
    assert whole_problems(part_of((0, 0), (0, 32), (1, 0))) == ()


def test_a_problem_that_was_quicker_than_one_before_it_waits_for_it() -> None:
    quick = part_of(*((place, budget) for place in (0, 2) for budget in (0, 32, 64)))
    assert len(whole_problems(quick)) == 1


def test_a_complete_sweep_is_drawn_whole() -> None:
    whole = make_sweep()
    assert fair_rows(whole) == whole.rows
    assert whole_problems(whole) == whole.plan.problems.problems
