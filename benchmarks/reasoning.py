"""Sixteen samples in one batch against sixteen runs of their own, on the embedded model.

The runs are compared twice: with full traces (`collect`), and as lean as the batch's own rows
(batches of one). A sweep's rows a second are measured beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter

SAMPLES = 16
_BUDGETS = (0, 32, 64, 96, 128)


def run(repeats: int = 5) -> None:
    """Print a table of seconds, medians."""
    from core import Reasoning, Shaping, collect, load_model
    from core.decoding.reasoning.batch import BatchRun, reason_in_batch
    from core.evaluation.questions.asking import prompt_ids_of
    from core.evaluation.questions.problems import make_problems
    from core.evaluation.sweep.run import run_sweep
    from core.evaluation.sweep.types import SweepPlan
    from core.evaluation.votes.sampling import seeded

    model, problems = load_model("embedded:target"), make_problems(16, seed=1)
    problem = next(one for one in problems.problems if one.steps == 5)
    ids = prompt_ids_of(model, problem)
    config = Reasoning(do_sample=True, shaping=Shaping(temperature=0.8))
    runs = [BatchRun(ids, own) for own in seeded(config, SAMPLES)]
    ways: dict[str, Callable[[], object]] = {
        f"{SAMPLES} in one batch": lambda: list(reason_in_batch(model, runs)),
        f"{SAMPLES} batches of one": lambda: [list(reason_in_batch(model, [one])) for one in runs],
        f"{SAMPLES} runs with traces": lambda: [collect(model, ids, one.config) for one in runs],
    }
    print(f"\nReasoning, {SAMPLES} samples of one problem, medians of {repeats}")
    print("| way | seconds | times the batch's |")
    print("|---|---|---|")
    medians = {way: _median(act, repeats) for way, act in ways.items()}
    batch = medians[f"{SAMPLES} in one batch"]
    for way, seconds in medians.items():
        print(f"| {way} | {seconds:.3f} | {seconds / batch:.1f} |")
    plan = SweepPlan(model.model_id, problems, Reasoning(), _BUDGETS)
    seconds = _median(lambda: run_sweep(model, plan), max(1, repeats // 2))
    print(f"\nA greedy sweep of {plan.total} runs: {seconds:.2f} s, {plan.total / seconds:.0f} a s")


def _median(act: Callable[[], object], repeats: int) -> float:
    act()
    times = []
    for _ in range(repeats):
        started = perf_counter()
        act()
        times.append(perf_counter() - started)
    return statistics.median(times)
