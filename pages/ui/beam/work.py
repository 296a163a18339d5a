"""Greedy decoding and samples beside a search, run on demand by the worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.compare import Ran, ran
from core.decoding.beam.config import BeamSearch
from core.decoding.record.trace import Trace
from core.language import N_, Message
from pages.ui.run import jobs
from pages.ui.run.jobs import Job


@jobs.in_background
def compare(job: Job, trace: Trace, samples: int, seed: int) -> tuple[Ran, ...] | None:
    """Run greedy and `samples` samples of the model's own distribution, as long as the search.

    The result is a tuple of `Ran`s, greedy's first: what ranks them may change afterwards.
    """
    from core import collect

    model = jobs.load_for(job, trace)
    greedy, draws = rival_configs(trace, samples, seed)
    runs = []
    for at, config in enumerate((greedy, *draws)):
        stage = N_("Greedy decoding")
        if at:
            stage = Message("Sample {at} of {samples}", at=at, samples=samples)
        run = job.compute(stage, collect, model, trace.prompt_ids, config, on_step=job.steps.append)
        if job.should_stop():
            return None
        runs.append(ran(run))
    return tuple(runs)


def rival_configs(trace: Trace, samples: int, seed: int) -> tuple[Greedy, tuple[Sampling, ...]]:
    """Greedy under the search's own penalties, and samples of the model's own distribution."""
    search = trace.config
    assert isinstance(search, BeamSearch)
    shared: dict[str, Any] = {
        "max_new_tokens": search.max_new_tokens,
        "min_new_tokens": search.min_new_tokens,
        "stop_strings": search.stop_strings,
        "top_candidates": 1,
    }
    acting = search.shaping.penalties_only()
    draw = Sampling(shaping=acting, **shared)
    seeds = range(seed, seed + samples)
    return Greedy(shaping=acting, **shared), tuple(replace(draw, seed=s) for s in seeds)
