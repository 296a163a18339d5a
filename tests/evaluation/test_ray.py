"""Rows by a Ray cluster of two workers: those of one process, also where one of them dies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core import load_model
from core.cli.main import main
from core.decoding.errors import ConfigError, EvaluationError
from core.evaluation.plan.files import EVALUATIONS, read_evaluation
from core.evaluation.plan.run import evaluation_work, run_evaluation, with_revisions
from core.evaluation.runner import PlanWork
from core.evaluation.workers.ray import RayCluster
from core.evaluation.workers.work import rows_of
from tests.evaluation.test_workers import DRAFT, PLAN, require_same

HAS_RAY = find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is an extra: requirements-ray.txt")


@dataclass(frozen=True)
class Fragile:
    """An evaluation whose first process dies behind its second row."""

    work: PlanWork
    died: Path

    @property
    def plan(self) -> Any:
        return self.work.plan

    def key(self, row: Any) -> Any:
        return self.work.key(row)

    def units(self, done: Any) -> Any:
        return self.work.units(done)

    def begin(self) -> Callable[[Any, Any], Iterator[Any]]:
        rows, made = self.work.begin(), list[Any]()

        def fragile(unit: Any, should_stop: Any) -> Iterator[Any]:
            for row in rows(unit, should_stop):
                yield row
                made.append(row)
                if len(made) == 2 and not self.died.exists():
                    self.died.touch()
                    os._exit(9)

        return fragile


@dataclass(frozen=True)
class Failing:
    """Work that says why it can't be done."""

    def key(self, row: int) -> int:
        return row

    def units(self, _: Any) -> list[list[int]]:
        return [[1]]

    def begin(self) -> Any:
        raise EvaluationError("A model's weights were changed meanwhile; start again.")


@needs_ray
@pytest.mark.slow
def test_a_cluster_s_rows_are_those_of_one_process(tmp_path: Path) -> None:
    models, path = {DRAFT: load_model(DRAFT)}, tmp_path / "rows.jsonl"
    work = Fragile(evaluation_work(with_revisions(PLAN, models)), tmp_path / "died")
    rows = EVALUATIONS.extend(path, work, RayCluster("local", 2))  # type: ignore[arg-type]
    assert work.died.exists() and len(rows) == work.plan.total
    alone = run_evaluation(models, work.plan)
    require_same(rows, alone.rows)
    require_same(read_evaluation(path).rows, alone.rows)
    with pytest.raises(EvaluationError, match="changed meanwhile"):
        list(rows_of(Failing(), pool=RayCluster("local", 1)))


@needs_ray
def test_no_cluster_at_the_address_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"There is no Ray cluster at 127\.0\.0\.1:1"):
        list(rows_of(Failing(), pool=RayCluster("127.0.0.1:1", 1)))


def test_without_ray_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    arguments = ["sweep", "--model", DRAFT, "--problems", "1", "--budgets", "0", "--ray", "local"]
    assert main([*arguments, "--out", str(tmp_path / "rows.jsonl")]) == 2
    assert "pip install -r requirements-ray.txt" in capsys.readouterr().err
