"""The worker process: runs equal those of this process, stop, and survive its death."""

from __future__ import annotations

import math
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import le
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import pytest

import core
from core.decoding.check import collect_checked
from core.decoding.decode import collect
from core.decoding.errors import ConfigError, DecodingError, ModelError
from core.decoding.lab.step import StepLogits, read_step_logits
from core.models.scripted import ScriptedModel
from core.server.api.request.plan import LogprobsOptions
from core.server.api.run.scored import ScoredRun, ScoreRequest, collect_scored
from core.server.api.service import Service
from core.server.api.submit import submit
from core.server.job import ModelJob
from core.server.queue import FairQueue
from core.server.worker.client import LostWorkerError, Worker
from core.server.worker.reference import ModelReference, share
from core.server.worker.workers import IN_PROCESS, Workers
from tests.server.api.served import eventually
from tests.server.worked import Fatal, hand_over, wait_for_stop

WHERE = "embedded:target"
FEW, FINAL = LogprobsOptions(2), LogprobsOptions(2, "final")
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


def pid_of(workers: Workers) -> int:
    process = process_of(workers)._process
    assert process
    return process.pid


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


def test_a_warm_up_waits_until_the_worker_has_the_model(workers) -> None:
    workers.warm_up(ModelReference(WHERE, WHERE))
    process = process_of(workers)._process
    assert process and process.poll() is None and not workers.sessions


def test_logits_come_back_with_this_process_s_tokens(workers, model) -> None:
    ids = model.encode("Once upon a")
    read = run(workers, read_step_logits, model, ids)
    assert isinstance(read, StepLogits) and read.model == model.vocabulary
    assert read.logits.equal(read_step_logits(model, ids).logits)


def test_a_model_whose_files_have_changed_is_not_taken_for_the_other_one(workers, model) -> None:
    changed_model = core.load_model(WHERE)
    share(changed_model, ModelReference(WHERE, changed_model.model_id, revision="another"))
    with pytest.raises(ModelError, match="have changed"):
        run(workers, collect, changed_model, "Once", core.Greedy(max_new_tokens=2))
    share(changed_model, ModelReference(WHERE, changed_model.model_id, revision=model.revision))
    assert run(workers, collect, changed_model, "Once", core.Greedy(max_new_tokens=2)).token_ids


def test_stop_ends_the_run_and_its_steps_stay(workers, model) -> None:
    job = Job(session="a")

    def on_step(step: Any) -> None:
        job.seen.append(step)
        if len(job.seen) == 3:
            job.stop()

    trace = run(workers, collect, model, "Once", LONG, job=job, on_step=on_step)
    assert trace.finish_reason == "cancelled" and 3 <= len(trace.steps) < 200


def test_every_step_arrives_in_its_order(workers, model) -> None:
    """Steps that come while a batch is sent must not be lost."""
    for seed in range(6):
        steps: list[Any] = []
        config = core.Sampling(max_new_tokens=200, seed=seed)
        trace = run(workers, core.collect, model, "Once upon a time", config, on_step=steps.append)
        assert [step.token_ids for step in steps] == [step.token_ids for step in trace.steps]


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
    assert trace.token_ids and process_of(workers)._process is None and job.state == "running"


def test_a_callback_that_cannot_be_sent_fails_with_a_sentence(workers, model) -> None:
    with pytest.raises(RuntimeError, match="on_value can't be called in the app's process"):
        run(workers, hand_over, model, on_value=lambda _: None)


def test_a_callback_that_fails_stops_the_run(workers, model) -> None:
    def on_step(_: Any) -> None:
        raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        run(workers, collect, model, "Once", LONG, on_step=on_step)
    assert eventually(lambda: not workers.sessions)


def test_the_length_of_the_queue_counts_what_waits_for_the_worker(workers, model) -> None:
    queue = FairQueue()
    service = Service(load=lambda *_: model, offered=lambda: (), queue=queue, workers=workers)

    def length() -> float:
        line = re.search(rb"queue_length ([0-9].*)", service.metrics.text())
        assert line
        return float(line[1])

    begun, jobs = Event(), [Job(session=name) for name in "abc"]

    def hold(job: Job) -> None:
        run(workers, wait_for_stop, job=job, on_begin=begun.set)

    with queue.turn():
        for job in jobs:
            job.start(hold)
        assert begun.wait(60) and eventually(lambda: length() == 4)
    for job in jobs:
        job.stop()
        assert job.done.wait(60)
    assert length() == 0


def test_latency_between_tokens_is_measured_where_the_model_computes(workers, model) -> None:
    """Steps arrive in batches: between their arrivals lie 30 ms or nothing."""
    service = Service(
        load=lambda *_: model, offered=lambda: (WHERE,), queue=FairQueue(), workers=workers
    )
    body = {"model": WHERE, "prompt": "Once", "max_tokens": 40, "ignore_eos": True}
    submission = submit(service, "completions", body, "")
    submission.start(service, lambda _: None)
    record = submission.record
    assert record.done.wait(60) and record.state == "finished", record.error
    steps = record.traces[0].token_steps
    assert len(record.gaps) == len(steps) - 1 == 39
    assert all(gap > step.duration for gap, step in zip(record.gaps, steps[1:], strict=True))


@pytest.mark.parametrize(
    ("config", "scoring"),
    [
        (core.Sampling(max_new_tokens=6, seed=3), ScoreRequest(FEW, FEW, FINAL)),
        (
            core.Sampling(max_new_tokens=6, seed=3, shaping=core.Shaping(top_p=0.9)),
            ScoreRequest(FINAL),
        ),
        (
            core.Speculative(max_new_tokens=6, drafter="prompt_lookup", seed=3),
            ScoreRequest(FINAL),
        ),
        (core.BeamSearch(max_new_tokens=5, num_beams=3), ScoreRequest(FEW)),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
@pytest.mark.parametrize("only_prompt", [False, True])
def test_log_probabilities_are_read_where_the_model_computes(
    workers, model, config, scoring, only_prompt
) -> None:
    seen: dict[str, list[Any]] = {"worker": [], "here": []}

    def scored(workers: Workers, where: str) -> ScoredRun:
        return run(
            workers,
            collect_scored,
            model,
            tuple(model.encode("Once upon a time")),
            config,
            scoring,
            draft=None,
            prompt_text=None,
            only_prompt=only_prompt,
            on_step=lambda _, scores, _made: seen[where].append(scores),
        )

    ours, here = scored(workers, "worker"), scored(IN_PROCESS, "here")
    assert ours.trace.token_ids == here.trace.token_ids
    assert bool(ours.trace.token_ids) != only_prompt
    assert (ours.hypotheses, seen["worker"]) == (here.hypotheses, seen["here"])
    assert only_prompt or ours.hypotheses or any(scores.tokens for scores in seen["worker"])


def test_log_probabilities_of_a_guided_run_are_those_of_its_own_prompt(model) -> None:
    shaping = core.Shaping(guidance_scale=3.0, negative_prompt="A list of colors: red,")
    config, prompt = core.Greedy(max_new_tokens=6, shaping=shaping), model.encode("Once upon")
    for mode in ("raw", "final"):
        trace, read, echo = _scored(model, config, prompt, LogprobsOptions(2, mode))
        for step, token in zip(trace.token_steps, read, strict=True):
            expected = -step.surprisal if mode == "raw" else 0.0
            assert token.logprob == pytest.approx(expected, abs=1e-5)
        assert len(echo) == len(prompt) - 1


def test_final_log_probabilities_of_contrastive_decoding_are_those_of_its_draw(model) -> None:
    config = core.ContrastiveDecoding(
        max_new_tokens=6, seed=3, shaping=core.Shaping(contrastive_beta=0.5)
    )
    draft = core.load_model("embedded:draft")
    trace, read, _ = _scored(model, config, model.encode("Once upon"), FINAL, draft)
    for step, token in zip(trace.token_steps, read, strict=True):
        assert token.logprob == pytest.approx(math.log(step.chosen.prob), abs=1e-5)
    assert any(token.logprob < -0.1 for token in read)


def _scored(model, config, prompt, options, draft=None):
    """The trace of a run, its log-probabilities and those of its prompt."""
    seen: list[Any] = []
    scored = collect_scored(
        model,
        prompt,
        config,
        ScoreRequest(options, FEW),
        draft=draft,
        prompt_text=None,
        only_prompt=False,
        on_step=lambda _, scores, _made: seen.append(scores),
        should_stop=lambda: False,
    )
    return scored.trace, [token for scores in seen for token in scores.tokens], seen[0].echo


def test_a_worker_that_is_killed_costs_its_run_and_is_started_again(workers, model) -> None:
    def on_step(_: Any) -> None:
        os.kill(pid_of(workers), signal.SIGKILL)

    with pytest.raises(LostWorkerError, match="has ended"):
        run(workers, collect, model, "Once", LONG, on_step=on_step)
    assert run(workers, collect, model, "Once", core.Greedy(max_new_tokens=3)).token_ids


@pytest.mark.slow
def test_a_call_that_ends_every_process_is_sent_twice_at_most(workers, tmp_path) -> None:
    deaths = tmp_path / "deaths"
    with pytest.raises(LostWorkerError):
        run(workers, repr, Fatal(deaths))
    assert deaths.read_text() == "xx"


def test_of_twenty_runs_those_that_had_begun_are_lost_and_the_others_finish(workers, model) -> None:
    config = core.Sampling(max_new_tokens=12, min_new_tokens=12, seed=1)
    alone = run(workers, collect, model, "Once", config)
    jobs = [Job(session=at) for at in range(20)]
    killing, killed = Lock(), Event()

    def go(job: Job) -> None:
        def on_step(step: Any) -> None:
            job.seen.append(step)
            with killing:
                if not killed.is_set():
                    killed.set()
                    os.kill(pid_of(workers), signal.SIGKILL)

        job.run(lambda _: run(workers, collect, model, "Once", config, job=job, on_step=on_step))

    threads = [Thread(target=go, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    lost = [job for job in jobs if job.error]
    assert lost and {job.error for job in lost} == {str(LostWorkerError())}
    finished = [job.result for job in jobs if not job.error]
    assert finished and {trace.token_ids for trace in finished} == {alone.token_ids}
    assert len(lost) + len(finished) == 20


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="Linux tells of threads and files")
def test_a_hundred_stops_leave_nothing_behind(workers, model) -> None:
    def stopped() -> None:
        job = Job(session="a")
        trace = run(workers, collect, model, "Once", LONG, job=job, on_step=lambda _: job.stop())
        assert trace.finish_reason == "cancelled" and len(trace.token_ids) < 100

    def held(of: int) -> tuple[int, ...]:
        """Return numbers of threads and of open files."""
        return tuple(len(os.listdir(f"/proc/{of}/{name}")) for name in ("task", "fd"))

    def megabytes(of: int) -> float:
        pages = int(Path(f"/proc/{of}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 2**20

    for _ in range(10):
        stopped()
    processes = os.getpid(), pid_of(workers)
    before, memory = [held(of) for of in processes], [megabytes(of) for of in processes]
    for _ in range(100):
        stopped()
    assert eventually(lambda: all(map(le, [held(of) for of in processes], before)))
    for of, least in zip(processes, memory, strict=True):
        assert megabytes(of) < least + 16


def test_a_started_worker_is_taken_before_one_that_is_not(model) -> None:
    several = Workers(3, lambda _: model)
    last = several._workers[2]
    try:
        last.call(le, [1, 2], {}, {"on_turn": lambda: None}, stops=False, session=None,
                  should_stop=lambda: False)  # fmt: skip
        assert run(several, le, 2, 1) is False
        assert [worker.started for worker in several._workers] == [False, False, True]
    finally:
        last.close()


@pytest.mark.slow
def test_a_model_on_a_server_needs_no_turn() -> None:
    """The server may be this process, whose endpoint then waits for the turn."""
    model, queue = ScriptedModel({(): UNIFORM}), FairQueue()
    model.on_server = True  # type: ignore[attr-defined]
    with queue.turn() as turn:
        assert turn.held
        trace = Workers(0, lambda _: model).compute(
            Job(session="a"), queue, collect, model, [1], core.Greedy(max_new_tokens=2)
        )
    assert trace.token_ids == (0,) and trace.finish_reason == "eos"
