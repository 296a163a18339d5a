"""Runs from several steps of one run: its fork points, and growth by a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...language import N_, Message
from ..counting import nth
from ..errors import ConfigError
from ..protocol import LanguageModel
from ..record.forks import (
    MOST_DEPTH,
    MOST_FORKS,
    ForkPoint,
    candidates_above,
    fork_point,
    other_candidate,
)
from ..record.steps import Candidate
from ..record.trace import Trace
from .branches import branch_each


def fork_points(
    model: LanguageModel,
    trace: Trace,
    steps: Sequence[int],
    *,
    on_fork: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[ForkPoint, ...]:
    """Return the fork points at some steps of a run, in their order.

    Each step's run goes on with the settings and the dice of the run itself. After a stop the
    steps whose runs have ended are there.

    Args:
        steps: indices, counted from 0.
        on_fork: called with the number of steps whose runs have ended.
        should_stop: as of `collect`.

    Raises:
        ConfigError: too many steps, or a step without another candidate.
        DecodingError: as `branch`.
    """
    if not 1 <= len(steps) <= MOST_FORKS:
        raise ConfigError(
            Message(
                "A run has 1 to {most_forks} fork points, got {steps}.",
                most_forks=MOST_FORKS,
                steps=len(steps),
            )
        )
    points: list[ForkPoint] = []
    for count, at in enumerate(steps, start=1):
        other = other_candidate(trace.token_steps[at])
        if other is None:
            raise ConfigError(
                Message("Step {at} holds no candidate but its own token.", at=nth(at))
            )
        (made,) = branch_each(model, trace, at, [[other.token_id]], should_stop=should_stop)
        if made.finish_reason == "cancelled":
            break
        points.append(fork_point(trace, at, other, made))
        if on_fork is not None:
            on_fork(count)
    return tuple(points)


class Grown(NamedTuple):
    """A run of a growth.

    Args:
        parent: place of the run that it went on from among those of the growth; None for the run
            that the growth began with.
    """

    parent: int | None
    at_step: int
    token_id: int
    trace: Trace


def grow_above(
    model: LanguageModel,
    trace: Trace,
    at_step: int,
    least: float,
    *,
    depth: int = 1,
    most: int,
    known: Sequence[Sequence[int]] = (),
    on_runs: Callable[[int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Grown, ...]:
    """Return the runs that go on with each candidate of at least a probability.

    With a depth, the runs and the first one fork at the next steps in the same way. A step's runs
    go on in one batch; of more than `most` those with the likeliest beginnings are made.

    Args:
        least: by the model's own probability.
        depth: number of steps in a row that fork, from `at_step` on.
        most: so many runs at most.
        known: tokens of runs that are there already; what they begin with is not made again.
        on_runs: called with the number of runs that have ended.
        should_stop: as of `collect`; the runs so far are returned.

    Raises:
        ConfigError: a number outside its interval, or no candidate has that probability.
        DecodingError: as `branch`.
    """
    if not 0 < least < 1:
        raise ConfigError(
            Message("The least probability lies between 0 and 1, got {least:g}.", least=least)
        )
    if not 1 <= depth <= MOST_DEPTH:
        words = N_("A growth forks 1 to {most_depth} steps in a row, got {depth}.")
        raise ConfigError(Message(words, most_depth=MOST_DEPTH, depth=depth))
    runs: list[Grown] = []
    for at in range(at_step, at_step + depth):
        for parent, candidates in _choices(trace, runs, at, least, known, most - len(runs)):
            source = trace if parent is None else runs[parent].trace
            choices = [[c.token_id] for c in candidates]
            made = branch_each(model, source, at, choices, should_stop=should_stop)
            runs += [
                Grown(parent, at, c.token_id, own) for c, own in zip(candidates, made, strict=True)
            ]
            if on_runs is not None:
                on_runs(len(runs))
            if any(own.finish_reason == "cancelled" for own in made):
                return tuple(runs)
    if not runs:
        words = N_(
            "No other candidate of step {at_step} has a probability of {least:g} ({percent:g} %) "
            "or more and no run yet; lower it, or take another step."
        )
        values = {"at_step": nth(at_step), "least": least, "percent": 100 * least}
        raise ConfigError(Message(words, **values))
    return tuple(runs)


def _choices(
    trace: Trace,
    runs: Sequence[Grown],
    at: int,
    least: float,
    known: Sequence[Sequence[int]],
    room: int,
) -> list[tuple[int | None, list[Candidate]]]:
    """Return for each run that forks at a step its candidates, as far as there is room."""
    rows: list[tuple[float, int | None, Candidate]] = []
    for place in (None, *range(len(runs))):
        source = trace if place is None else runs[place].trace
        if at >= len(source.token_steps):
            continue
        begun = -sum(step.surprisal for step in source.token_steps[:at])
        rows += [
            (begun + math.log(candidate.raw_prob), place, candidate)
            for candidate in candidates_above(source.token_steps[at], least)
            if not _begins((*source.token_ids[:at], candidate.token_id), known)
        ]
    rows = sorted(rows, key=lambda row: -row[0])[: max(room, 0)]
    places = dict.fromkeys(place for _, place, _ in rows)
    return [(place, [c for _, own, c in rows if own == place]) for place in places]


def _begins(token_ids: Sequence[int], runs: Sequence[Sequence[int]]) -> bool:
    """Return whether a run begins with these tokens."""
    return any(tuple(run[: len(token_ids)]) == tuple(token_ids) for run in runs)
