"""The pages' jobs in a worker process: the same results, and the app's process computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

import core
from core.decoding.constraints.value import Constraint
from core.decoding.record.trace import Trace
from core.evaluation.types import Problem
from core.models.transformers_model import TransformersModel
from core.server.worker.workers import IN_PROCESS, Workers
from pages.ui.beam import work as beam
from pages.ui.decode import work as decode
from pages.ui.evaluate import work as evaluate
from pages.ui.evaluate.state import lesson
from pages.ui.inside import work as inside
from pages.ui.lab import controls as lab_controls
from pages.ui.lab import work as lab
from pages.ui.lab.state import StepRef
from pages.ui.platform import session
from pages.ui.reasoning import work as reasoning
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.figures import constraint
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.speculative import work as speculative
from pages.ui.widgets.controls.control import defaults
from tests.depth import mostly_slow

WHERE = "embedded:target"
PROMPT = "Once upon a time"
SAMPLED = core.Sampling(max_new_tokens=5, seed=3)
SEARCH = core.BeamSearch(max_new_tokens=5, num_beams=3)
DRAFTED = core.Speculative(max_new_tokens=6, draft_length=2, seed=3)
THINKS = core.Reasoning(max_new_tokens=24, max_thinking_tokens=8, max_answer_tokens=8)
DRAWS = replace(THINKS, do_sample=True)
SUM = Problem("7+5", "What is 7 + 5?", "12", 1)
STEP = StepRef(WHERE, PROMPT)


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    workers = Workers(1, models.find)
    yield workers
    workers._workers[0].close()


@cache
def made(config: Any) -> Trace:
    draft = "embedded:draft" if config.method in ("speculative", "contrastive_decoding") else ""
    return done(jobs.decode, Request(WHERE, PROMPT, config, draft=draft))


def done(work: Any, *args: Any, **named: Any) -> Any:
    """Do a job's work in this thread."""
    return work.__wrapped__(Job(), *args, **named)


def ids_of(*traces: Trace | None) -> list[Any]:
    return [trace and trace.token_ids for trace in traces]


def cache_runs() -> object:
    runs = done(decode.measure_cache, made(SAMPLED), 1)
    return [ids_of(*way) for way in runs]


def test_measurements_of_contrastive_decoding_have_its_draft() -> None:
    shaping = core.Shaping(contrastive_beta=0.5, constraint=Constraint.of_choices([" a big"]))
    run = made(core.ContrastiveDecoding(max_new_tokens=5, seed=3, shaping=shaping))
    assert ids_of(*done(decode.measure_cache, run, 1).off) == [run.token_ids]
    free = done(constraint.run_free, run)
    assert free.draft_id == run.draft_id and free.token_ids != run.token_ids


def speculation(measurement: str, **how: int) -> Any:
    return done(speculative._measure, made(DRAFTED), measurement, "Run", **how)


def comparison() -> object:
    measured = speculation("compare", repeats=1)
    return ids_of(measured.speculative), measured.target_only.token_ids


def lengths() -> object:
    return [(point.draft_length, point.runs) for point in speculation("sweep_lengths").points]


def both_scorings() -> object:
    return {
        way: ids_of(*runs)
        for way, runs in done(speculative.score_both_ways, made(DRAFTED), 1).items()
    }


def recording() -> object:
    recorded = inside._record(Job(), made(SAMPLED), None, True)
    assert all(check.passed for check in recorded.checks)
    return recorded.steps, recorded.model, [call.function for call in recorded.path.walk()]


def forward() -> object:
    looked_through = inside._look_through(Job(), made(SAMPLED), 2, True)
    assert all(check.passed for check in looked_through.checks)
    modules = [module.name for module in looked_through.prompt.modules]
    return (
        modules,
        looked_through.single and looked_through.single.after,
        [call.function for call in looked_through.path.walk()],
    )


def proof() -> object:
    checks = done(jobs.check_trace, made(DRAFTED), with_model=True)
    return [(check.name, check.passed) for check in checks]


def continuations() -> object:
    settings = lab_controls.settings(defaults().__getitem__)
    return done(lab.grow, STEP, settings, 2, 5)[1].rows


def questions() -> object:
    stored = lesson("leak")
    return done(evaluate.render, stored.plan, stored.plan.questions.questions[0])


def test_a_run_begins_in_a_worker_while_this_process_has_no_model(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = made(SAMPLED)
    models.MODELS.empty()
    monkeypatch.setattr(session, "has_server", lambda: True)
    monkeypatch.setattr(models, "workers", lambda: workers)
    request = Request(WHERE, PROMPT, SAMPLED)
    assert ids_of(done(jobs.decode, request)) == ids_of(here) and not models.MODELS.loaded()
    # Its ids come from the template, which this process reads.
    done(jobs.decode, replace(request, chat=True))
    assert models.MODELS.loaded() == [WHERE]


def test_a_page_says_that_a_worker_loads_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []

    def compute(job: Job, *_: object, **__: object) -> None:
        stages.append(job.stage)

    monkeypatch.setattr(session, "has_server", lambda: True)
    monkeypatch.setattr(models, "workers", lambda: SimpleNamespace(count=1, compute=compute))
    for _ in range(2):
        done(jobs.decode, Request(WHERE, PROMPT, SAMPLED))
        models.load(WHERE)
    assert stages == ["Loading the model", "Waiting for other sessions"]


JOBS: dict[str, Callable[[], object]] = {
    "a run": lambda: ids_of(done(jobs.decode, Request(WHERE, PROMPT, SAMPLED))),
    "a proof": proof,
    "a step's logits": lambda: decode._read_logits(Job(), made(SAMPLED), 2)[1].tolist(),
    "both caches": cache_runs,
    "a search's rivals": lambda: done(beam.compare, made(SEARCH), 2, 7),
    "the lab's logits": lambda: lab._read_logits(Job(), STEP).logits.tolist(),
    "the lab's continuations": continuations,
    "speculation compared": comparison,
    "draft lengths": lengths,
    "losslessness": lambda: speculation("losslessness", runs=20, tokens=2),
    "the target alone": lambda: ids_of(done(speculative.alone, made(DRAFTED))),
    "both scorings": both_scorings,
    "the calculator": lambda: [run.pieces for run in done(reasoning.tools, WHERE, SUM, THINKS)],
    "a vote": lambda: [a.answer for a in done(reasoning.vote, WHERE, SUM, DRAWS, 2).attempts],
    "a recording": recording,
    "modules": forward,
    "the lens": lambda: inside._read_layers(Job(), made(SAMPLED), 2),
    "attention": lambda: inside._look_back(Job(), made(SAMPLED), 2),
    "questions": questions,
}


@pytest.mark.parametrize("name", mostly_slow(JOBS, ("a run", "a proof", "a vote", "the lens")))
def test_a_job_in_a_worker_gives_the_same_and_this_process_computes_nothing(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work = JOBS[name]
    monkeypatch.setattr(models, "workers", lambda: IN_PROCESS)
    here = work()
    monkeypatch.setattr(session, "has_server", lambda: True)
    monkeypatch.setattr(models, "workers", lambda: workers)

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("The app's process computed with a model.")

    hf_model = models.load(WHERE).hf_model
    monkeypatch.setattr(TransformersModel, "start", refuse)
    monkeypatch.setattr(type(hf_model), "forward", refuse)
    assert work() == here
