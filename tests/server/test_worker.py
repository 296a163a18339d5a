"""The worker process: runs equal those of this process, stop, and survive its death."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import pytest

import core
from core.decoding.check import collect_checked
from core.decoding.decode import collect
from core.decoding.errors import ConfigError, DecodingError, ModelError
from core.decoding.lab.step import StepLogits, read_step_logits
from core.models.scripted import ScriptedModel
from core.server.job import ModelJob
from core.server.queue import FairQueue
from core.server.worker.client import LostWorkerError, Worker
from core.server.worker.reference import ModelReference, share
from core.server.worker.workers import Workers

WHERE = "embedded:target"
UNIFORM = [1 / 8] * 8
LONG = core.Sampling(max_new_tokens=400, min_new_tokens=400, seed=7)


@dataclass(eq=False, kw_only=True)
class Job(ModelJob):
    seen: list[Any] = field(default_factory=list)

    def explain(self, error: Exception) -> str:
        return str(error)


@pytest.fixture(scope="module")
def model() -> Any:
    model = core.load_model(WHERE)
    share(model, ModelReference(WHERE, model.model_id))
    return model


@pytest.fixture(scope="module")
def workers(model) -> Iterator[Workers]:
    workers = Workers(1, lambda _: model)
    yield workers
    process_of(workers).close()


def process_of(workers: Workers) -> Worker:
    return workers._workers[0]


def run(workers: Workers, function: Any, *args: Any, job: Job | None = None, **named: Any) -> Any:
    return workers.compute(job or Job(session="a"), FairQueue(), function, *args, **named)


def numbers(trace: core.Trace) -> list[Any]:
    return [(s.candidates, s.stages, s.draw, s.token_id) for s in trace.token_steps]


@pytest.mark.parametrize(
    "config",
    [
        core.Greedy(max_new_tokens=12),
        core.Sampling(max_new_tokens=12, seed=3, shaping=core.Shaping(top_p=0.9)),
        core.Speculative(max_new_tokens=12, drafter="prompt_lookup", seed=3),
        core.BeamSearch(max_new_tokens=8, num_beams=3),
    ],
    ids=lambda config: config.method,
)
def test_a_run_of_the_worker_is_the_run_of_this_process(workers, model, config) -> None:
    steps: list[Any] = []
    trace = run(workers, collect_checked, model, "Once upon a time", config, on_step=steps.append)
    here = collect(model, "Once upon a time", config)
    assert (trace.token_ids, trace.text, trace.hypotheses) == (
        here.token_ids,
        here.text,
        here.hypotheses,
    )
    assert numbers(trace) == numbers(here)
    assert tuple(steps) == trace.steps and all(check.passed for check in trace.checks)


def test_logits_come_back_with_this_process_s_tokens(workers, model) -> None:
    ids = model.encode("Once upon a")
    read = run(workers, read_step_logits, model, ids)
    assert isinstance(read, StepLogits) and read.model == model.vocabulary
    assert read.logits.equal(read_step_logits(model, ids).logits)


def test_a_model_whose_files_have_changed_is_not_taken_for_the_other_one(workers, model) -> None:
    other = core.load_model(WHERE)
    share(other, ModelReference(WHERE, other.model_id, revision="another"))
    with pytest.raises(ModelError, match="have changed"):
        run(workers, collect, other, "Once", core.Greedy(max_new_tokens=2))
    share(other, ModelReference(WHERE, other.model_id, revision=model.revision))
    assert run(workers, collect, other, "Once", core.Greedy(max_new_tokens=2)).token_ids


def test_stop_ends_the_run_and_its_steps_stay(workers, model) -> None:
    job = Job(session="a")

    def on_step(step: Any) -> None:
        job.seen.append(step)
        if len(job.seen) == 3:
            job.stop()

    trace = run(workers, collect, model, "Once", LONG, job=job, on_step=on_step)
    assert trace.finish_reason == "cancelled" and 3 <= len(trace.steps) < 200


def test_an_error_of_the_function_is_raised_here(workers, model) -> None:
    with pytest.raises(DecodingError, match="The prompt is empty"):
        run(workers, collect, model, [], core.Greedy())
    with pytest.raises(ConfigError):
        run(workers, collect, model, "Once", core.Speculative())


def test_two_sessions_share_the_worker(workers, model) -> None:
    jobs = [Job(session=name) for name in "ab"]
    orders: list[str] = []

    def go(job: Job) -> None:
        config = core.Sampling(max_new_tokens=60, min_new_tokens=60, seed=1)
        job.result = run(
            workers,
            collect,
            model,
            "Once",
            config,
            job=job,
            on_step=lambda _: orders.append(str(job.session)),
        )

    threads = [Thread(target=go, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert jobs[0].result.token_ids == jobs[1].result.token_ids
    assert {*orders} == {"a", "b"} and len(orders) == 122


def test_a_model_that_only_this_process_has_runs_here() -> None:
    workers = Workers(1, lambda _: None)
    job = Job(session="a")
    trace = run(workers, collect, ScriptedModel({(): UNIFORM}), [1], core.Greedy(), job=job)
    assert trace.token_ids and process_of(workers).pid is None and job.state == "running"


def test_a_worker_that_is_killed_costs_its_run_and_is_started_again(workers, model) -> None:
    def on_step(_: Any) -> None:
        pid = process_of(workers).pid
        assert pid
        os.kill(pid, signal.SIGKILL)

    with pytest.raises(LostWorkerError, match="has ended"):
        run(workers, collect, model, "Once", LONG, on_step=on_step)
    assert run(workers, collect, model, "Once", core.Greedy(max_new_tokens=3)).token_ids
