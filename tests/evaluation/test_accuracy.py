"""Accuracy by budget on the embedded model: real runs of the real evaluation at a fixed seed.

Margins are wide, so that another training of the same kind passes: with its whole thinking the
model is right nearly always, without any nearly never.
"""

from __future__ import annotations

import pytest

from core import Reasoning, Shaping, check, collect, load_model
from core.evaluation.questions.asking import prompt_ids_of
from core.evaluation.questions.problems import make_hard_sums, make_problems
from core.evaluation.scoring.verifier import check_arithmetic
from core.evaluation.sweep.curves import curve
from core.evaluation.sweep.run import run_sweep
from core.evaluation.sweep.types import SweepPlan
from core.evaluation.votes.compare import compare_rivals

STEPS = (2, 3, 4, 5, 6, 7, 8)
GREEDY = Reasoning(max_answer_tokens=24)


@pytest.fixture(scope="module")
def model():
    return load_model("embedded:target")


@pytest.fixture(scope="module")
def sweep(model):
    problems = make_problems(28, seed=3, steps=STEPS)
    return run_sweep(model, SweepPlan(model.model_id, problems, GREEDY, (0, 32, 128)))


def test_accuracy_grows_with_the_thinking_budget(sweep) -> None:
    none, some, whole = curve(sweep.rows)
    assert none.correct.value < 0.4
    assert whole.correct.value > 0.85
    assert none.correct.hits < some.correct.hits < whole.correct.hits
    # The intervals of no thinking and of all of it don't touch.
    assert none.correct.high < whole.correct.low


def test_a_row_of_a_batch_equals_its_own_run_and_passes_its_proof(model, sweep) -> None:
    problem = sweep.plan.problems.problems[3]
    config = Reasoning(max_answer_tokens=24, max_thinking_tokens=32)
    trace = collect(model, prompt_ids_of(model, problem), config, prompt_text=problem.question)
    assert [c for c in check(trace, model) if not c.passed] == []
    row = next(r for r in sweep.rows if (r.problem, r.budget) == (problem.key, 32))
    assert (row.tokens, row.finish_reason) == (len(trace.token_ids), trace.finish_reason)


def test_the_calculator_answers_sums_that_are_too_hard(model) -> None:
    problems = make_hard_sums(12, seed=1)
    called = Reasoning(think_start="", think_end="", calculator=True)
    with_tool = run_sweep(model, SweepPlan(model.model_id, problems, called, (0,)))
    without = run_sweep(model, SweepPlan(model.model_id, problems, GREEDY, (128,)))
    assert curve(with_tool.rows)[0].correct.value > 0.8
    assert curve(without.rows)[0].correct.value < 0.5
    assert all(row.forced_tokens for row in with_tool.rows if row.outcome == "correct")


def test_rivals_spend_at_most_the_same_total(model) -> None:
    problems = make_problems(3, seed=4, steps=(3,))
    config = Reasoning(do_sample=True, max_answer_tokens=16, shaping=Shaping(temperature=0.8))
    rivalry = compare_rivals(
        model, problems, config, total_tokens=320, samples=4, verifier=check_arithmetic
    )
    assert [(r.rule, r.samples, r.budget) for r in rivalry.rivals] == [
        ("greedy", 1, 320), ("single", 1, 320),
        ("majority", 4, 80), ("best_of_n", 4, 80), ("verifier", 4, 80),
    ]  # fmt: skip
    for rival in rivalry.rivals:
        assert 0 < rival.tokens <= 320 and rival.correct.total == 3
    for vote in rivalry.votes:
        assert len(vote.attempts) == 4 and all(a.tokens <= 80 for a in vote.attempts)
    rights = [sum(vote.is_right(r.rule) for vote in rivalry.votes) for r in rivalry.rivals[2:]]
    assert rights == [rival.correct.hits for rival in rivalry.rivals[2:]]


def test_a_stopped_comparison_names_the_problems_that_it_has(model) -> None:
    problems = make_problems(3, seed=4, steps=(1, 4, 8))
    config, count = Reasoning(do_sample=True, max_answer_tokens=16), [0]

    def enough(ended: int, _: int) -> None:
        count[0] = ended

    rivalry = compare_rivals(
        model, problems, config, total_tokens=320, samples=2, rows=4,
        on_attempt=enough, should_stop=lambda: count[0] >= 4,
    )  # fmt: skip
    assert len(rivalry.votes) == 1 == len(rivalry.problems.problems)
    assert rivalry.problems.name == f"stopped after 1 of 3, {problems.name}"
