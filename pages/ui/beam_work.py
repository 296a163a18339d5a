"""Greedy decoding and samples beside a search, run on demand by the worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.decoding.beam_autopsy import Rival, beam_rival, token_rival
from core.decoding.configs import BeamSearch, Greedy, MethodConfig, Sampling, Shaping
from core.decoding.types import Step, Trace
from pages.ui import running
from pages.ui.compute import QUEUE
from pages.ui.running import Job


def compare(trace: Trace, samples: int, length_penalty: float, seed: int) -> Job:
    """Run greedy and `samples` samples of the model's own distribution, as long as the search.

    The result is a tuple of three `Rival`s, each scored by the model without any penalty.
    """
    return running.start(lambda job: _compare(job, trace, samples, length_penalty, seed))


def _compare(
    job: Job, trace: Trace, samples: int, length_penalty: float, seed: int
) -> tuple[Rival, ...] | None:
    model = running.load_for(job, trace)
    greedy, draws = rival_configs(trace, samples, seed)
    with QUEUE.turn(job.should_stop) as turn:
        if not turn.held:
            return None

        def on_step(step: Step) -> None:
            job.steps.append(step)
            turn.pass_on()

        job.stage = "Greedy decoding"
        runs = [_run(model, trace, greedy, job, on_step)]
        for at, config in enumerate(draws):
            if job.should_stop():
                return None
            job.stage = f"Sample {at + 1} of {samples}"
            runs.append(_run(model, trace, config, job, on_step))
    if job.should_stop():
        return None
    best = beam_rival(trace, trace.hypotheses[0], length_penalty)
    return (
        token_rival("Greedy", runs[:1], length_penalty),
        best,
        token_rival(f"Best of {samples} samples", runs[1:], length_penalty),
    )


def _run(model: Any, trace: Trace, config: MethodConfig, job: Job, on_step: Any) -> Trace:
    from core import collect

    return collect(model, trace.prompt_ids, config, on_step=on_step, should_stop=job.should_stop)


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
    penalties = Shaping(
        repetition_penalty=search.shaping.repetition_penalty,
        no_repeat_ngram_size=search.shaping.no_repeat_ngram_size,
    )
    draw = Sampling(shaping=replace(penalties, temperature=1.0), **shared)
    seeds = range(seed, seed + samples)
    return Greedy(shaping=penalties, **shared), tuple(replace(draw, seed=s) for s in seeds)
