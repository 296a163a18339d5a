"""Rows by several processes: those of one process; a killed one loses and repeats nothing."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
from dataclasses import replace

import pytest

from core import Greedy, Sampling, Shaping, load_model
from core.decoding.errors import ConfigError, EvaluationError
from core.decoding.reasoning.config import Reasoning
from core.evaluation.plan.files import EVALUATIONS, read_evaluation
from core.evaluation.plan.plan_file import take
from core.evaluation.plan.run import (
    evaluate_to_file,
    evaluation_work,
    run_evaluation,
    with_revisions,
)
from core.evaluation.plan.types import EvaluationPlan, Way
from core.evaluation.questions.own import own_questions
from core.evaluation.questions.problems import make_problems
from core.evaluation.sweep.run import run_sweep, sweep_work
from core.evaluation.sweep.types import SweepPlan
from core.evaluation.workers import work as loop
from core.evaluation.workers.processes import Processes
from core.evaluation.workers.work import rows_of
from core.models.stopping import never

DRAFT = "embedded:draft"
HOT = Sampling(max_new_tokens=6, shaping=Shaping(temperature=1.0))
PLAN = EvaluationPlan(
    take(own_questions("facts"), 6),
    (Way("greedy", Greedy(max_new_tokens=8), DRAFT), Way("drawn", HOT, DRAFT, samples=3)),
)


def require_same(rows, others) -> None:
    """All fields equal but the seconds; sums of logarithms up to the rounding of a process."""
    names = {"seconds": 0.0, "reference_logprob": None, "mean_logprob": 0.0}
    first, second = (sorted(r, key=lambda x: (x.question, x.way, x.sample)) for r in (rows, others))
    assert [bare(row, names) for row in first] == [bare(row, names) for row in second]
    for name in ("reference_logprob", "mean_logprob"):
        sums = [getattr(row, name) for row in first], [getattr(row, name) for row in second]
        assert sums[0] == pytest.approx(sums[1], abs=1e-5)


def outcomes(rows):
    """Return the fields of a sweep's rows that the tests compare."""
    return sorted((r.problem, r.budget, r.outcome, r.answer, r.tokens) for r in rows)


def bare(row, names):
    return replace(EVALUATIONS.row_from_json(EVALUATIONS.row_to_json(row)), **names)


@pytest.fixture(scope="module")
def work():
    return evaluation_work(with_revisions(PLAN, {DRAFT: load_model(DRAFT)}))


@pytest.fixture(scope="module")
def alone(work):
    return run_evaluation({DRAFT: load_model(DRAFT)}, work.plan)


@pytest.mark.slow
def test_they_go_on_from_a_file_and_a_killed_one_loses_and_repeats_nothing(
    work, alone, tmp_path
) -> None:
    path, seen, killed = tmp_path / "rows.jsonl", [], []
    models = {DRAFT: load_model(DRAFT)}
    evaluate_to_file(
        models, PLAN, path, on_row=lambda *_: seen.append(1), should_stop=lambda: len(seen) >= 6
    )
    begun = path.read_bytes()

    def kill(_: object, count: int) -> None:
        if count == 9:
            victims = multiprocessing.active_children()
            os.kill(victims[0].pid, signal.SIGKILL)
            killed.append(victims[0].pid)

    rows = EVALUATIONS.extend(path, work, Processes(2), kill)
    assert killed and len(rows) == work.plan.total
    assert path.read_bytes().startswith(begun)
    require_same(rows, alone.rows)
    require_same(read_evaluation(path).rows, alone.rows)


def test_a_sweep_s_work_is_begun_by_whoever_it_is_sent_to() -> None:
    model = load_model(DRAFT)
    config = Reasoning(max_answer_tokens=4)
    plan = SweepPlan(DRAFT, make_problems(4), config, (0, 4, 8), model_revision=model.revision)
    swept = run_sweep(model, plan, batch=3, marks=model.think_marks)
    work = pickle.loads(pickle.dumps(sweep_work(plan, DRAFT, batch=3)))
    rows_of_unit = work.begin()
    two = [row for unit in work.units(()) for row in rows_of_unit(unit, never)]

    assert outcomes(two) == outcomes(swept.rows) and len(two) == plan.total
    assert {work.key(row) for row in two} == {key for unit in work.units(()) for key in unit}


class Deadly:
    """Work that ends every process it is handed to, as it is unpickled."""

    def __reduce__(self):
        return os._exit, (9,)

    def key(self, row: int) -> int:
        return row

    def units(self, _) -> list[list[int]]:
        return [[1]]


def test_work_that_kills_every_process_is_given_up_in_a_sentence(monkeypatch) -> None:
    begun, begin = [], Processes._begin
    monkeypatch.setattr(Processes, "_begin", lambda pool: begun.append(1) or begin(pool))
    monkeypatch.setattr(loop, "_DEATHS", 2)
    with pytest.raises(EvaluationError, match="2 processes ended one after another"):
        list(rows_of(Deadly(), pool=Processes(4)))
    assert len(begun) == 2  # One unit needs one process at a time.
    assert not multiprocessing.active_children()
    with pytest.raises(ConfigError, match="workers must lie in"):
        list(rows_of(Deadly(), pool=Processes(0)))
