"""A tree of runs without a model, for tests of what is drawn from it."""

from __future__ import annotations

import math
from dataclasses import replace

from core.decoding.record.forks import ForkPoint, fork_point, other_candidate
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree


def make_fork(trace: Trace, at: int) -> Trace:
    """The run with its second candidates from a step on, the first of them forced."""
    steps = list(trace.steps)
    for place in range(at + 1, len(steps)):
        step = trace.token_steps[place - 1]
        candidate = next(c for c in step.candidates if c.token_id != step.token_id)
        probs = tuple(float(c is candidate) for c in step.candidates)
        final = step.stages[-1]._replace(probs=probs, tail_mass=0.0, kept=1)
        forced = {
            "origin": "forced",
            "forced_as": "given",
            "instead_of": step.token_id,
            "stages": (*step.stages[:-1], final._replace(name="forced"), final),
        }
        steps[place] = replace(
            step,
            token_id=candidate.token_id,
            text=candidate.text,
            surprisal=-math.log(candidate.raw_prob),
            **(forced if place == at + 1 else {}),
        )
    ids = tuple(step.token_id for step in steps[1:])
    return replace(
        trace, steps=tuple(steps), token_ids=ids, text="".join(s.text for s in steps[1:])
    )


def make_tree(trace: Trace) -> RunTree:
    """A run, two that went on from it, and one that went on from the second."""
    second = make_fork(trace, 2)
    tree = RunTree.of(trace).grown(0, 2, second, "<b>boy</b>").grown(0, 5, make_fork(trace, 5))
    return tree.grown(1, 6, make_fork(second, 6))


def make_points(trace: Trace) -> tuple[ForkPoint, ...]:
    """The fork points of every third step."""
    points = []
    for at, step in enumerate(trace.token_steps):
        other = None if at % 3 else other_candidate(step)
        if other is not None:
            points.append(fork_point(trace, at, other, make_fork(trace, at)))
    return tuple(points)
