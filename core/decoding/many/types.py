"""Many runs of one prompt, their different texts, and the forks of the tree of these texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ...language import N_, Message
from ..autoregressive.config import Sampling
from ..comparison.parting import compare, setting_differences
from ..comparison.types import Parting
from ..errors import TraceError
from ..record.notes import ROWS, THREADS
from ..record.steps import PromptStep
from ..record.trace import Trace
from ..shaping.config import Shaping
from ..validation import ShortRepr

MAX_MANY = 100
_ORDER = ["method", *Sampling.__dataclass_fields__, *Shaping.__dataclass_fields__]


class SameText(NamedTuple):
    """The runs that emitted the same tokens, by their places; the trace is the first one's."""

    trace: Trace
    runs: tuple[int, ...]


class ForkBranch(NamedTuple):
    """A way on from a fork.

    Args:
        token_id: None of runs that end there.
        runs: places of the runs that take it.
        share: of the fork's runs.
    """

    token_id: int | None
    text: str
    runs: tuple[int, ...]
    share: float


class RunFork(NamedTuple):
    """A step at which runs with the same tokens before it go on with different ones.

    Args:
        at: index of the step.
        branches: by falling number of runs.
        parting: comparison of the first run of the first branch with that of the second.
    """

    at: int
    runs: tuple[int, ...]
    branches: tuple[ForkBranch, ...]
    parting: Parting

    @property
    def margin(self) -> float | None:
        """Distance of the two tokens' raw log-probabilities, in nats; None where a run has ended.

        Where neither run recorded both tokens, each token's own run tells its probability.
        """
        if self.parting.margin is not None or not self.parting.rivals:
            return self.parting.margin
        one, other = self.parting.rivals
        probs = (one.left_prob, other.right_prob)
        return abs(math.log(probs[0]) - math.log(probs[1])) if probs[0] and probs[1] else None


@dataclass(frozen=True, repr=False, eq=False)
class ManyRuns(ShortRepr):
    """Runs of one prompt.

    Raises:
        TraceError: no run, too many, or runs of different prompts.
    """

    traces: tuple[Trace, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.traces) <= MAX_MANY:
            raise TraceError(
                Message(
                    "Many runs are 1 to {max_many} runs, got {traces}; leave some out.",
                    max_many=MAX_MANY,
                    traces=len(self.traces),
                )
            )
        if any(trace.prompt_ids != self.traces[0].prompt_ids for trace in self.traces):
            raise TraceError(N_("The runs have different prompts; take runs of one prompt."))

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self.traces)

    @cached_property
    def texts(self) -> tuple[SameText, ...]:
        """The different token sequences, the most frequent first."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for place, trace in enumerate(self.traces):
            groups.setdefault(trace.token_ids, []).append(place)
        texts = [SameText(self.traces[runs[0]], tuple(runs)) for runs in groups.values()]
        return tuple(sorted(texts, key=lambda text: -len(text.runs)))

    @property
    def has_searches(self) -> bool:
        """Return whether the runs are of several methods, some of which don't write one token at a
        time."""
        methods = {trace.config.method for trace in self.traces}
        return len(methods) > 1 and not all(trace.token_steps for trace in self.traces)

    def text_of(self, place: int) -> int:
        """Return the place among `texts` of a run's text."""
        return next(at for at, text in enumerate(self.texts) if place in text.runs)

    @cached_property
    def settings(self) -> tuple[dict[str, str], ...]:
        """For each run, the values of what differs among the runs, by name."""
        first = self.traces[0].config
        names = dict.fromkeys(
            difference.name
            for trace in self.traces
            for difference in setting_differences(first, trace.config)
        )
        rows = [_settings_of(trace, sorted(names, key=_ORDER.index)) for trace in self.traces]
        varied = [name for name in rows[0] if len({row[name] for row in rows}) > 1]
        return tuple({name: row[name] for name in varied} for row in rows)

    @cached_property
    def forks(self) -> tuple[RunFork, ...]:
        """The forks of the tree of texts, by step."""
        return tuple(sorted(self._forks(), key=lambda fork: (fork.at, fork.runs)))

    def _forks(self) -> Iterator[RunFork]:
        ids = [trace.token_ids for trace in self.traces]
        waiting = [(tuple(range(self.count)), 0)]
        while waiting:
            runs, at = waiting.pop()
            groups = _groups(ids, runs, at)
            while len(groups) == 1 and None not in groups:
                at += 1
                groups = _groups(ids, runs, at)
            if len(groups) > 1:
                yield self._fork(at, runs, groups)
            waiting += [(tuple(group), at + 1) for key, group in groups.items() if key is not None]

    def _fork(self, at: int, runs: Sequence[int], groups: dict[int | None, list[int]]) -> RunFork:
        branches = sorted(
            (
                ForkBranch(
                    token_id, self._token(group[0], at), tuple(group), len(group) / len(runs)
                )
                for token_id, group in groups.items()
            ),
            key=lambda branch: (-len(branch.runs), branch.runs),
        )
        left, right = (self.traces[branch.runs[0]] for branch in branches[:2])
        return RunFork(at, tuple(runs), tuple(branches), compare(left, right))

    def _token(self, place: int, at: int) -> str:
        steps = self.traces[place].token_steps
        return steps[at].chosen.text if at < len(steps) else ""

    @cached_property
    def agreed(self) -> int:
        """Number of first tokens on which all runs agree."""
        return min([fork.at for fork in self.forks] or [len(self.traces[0].token_ids)])

    @cached_property
    def agreement(self) -> tuple[float, ...]:
        """For each step, the share of runs in the largest group with the same tokens up to it."""
        groups, shares = [0] * self.count, []
        for at in range(max(len(trace.token_ids) for trace in self.traces)):
            # The group of a run: the group before with the token, numbered.
            numbers: dict[tuple[int, int], int] = {}
            counts: dict[int, int] = {}
            for place, trace in enumerate(self.traces):
                if at < len(trace.token_ids):
                    key = groups[place], trace.token_ids[at]
                    groups[place] = numbers.setdefault(key, len(numbers))
                    counts[groups[place]] = counts.get(groups[place], 0) + 1
            shares.append(max(counts.values()) / self.count)
        return tuple(shares)

    @property
    def is_same_record(self) -> bool:
        """Return whether all runs recorded the same candidates with equal raw probabilities."""
        first = _raw_probs(self.traces[0])
        return all(_raw_probs(trace) == first for trace in self.traces[1:])

    @cached_property
    def rounding(self) -> float:
        """Largest difference of the log-probabilities of one token after the same tokens, nats."""
        same = [
            compare(text.trace, self.traces[place]).rounding
            for text in self.texts
            for place in text.runs[1:]
        ]
        return max(
            [*filter(None, same), *(fork.parting.rounding or 0.0 for fork in self.forks)],
            default=0.0,
        )


def sharing_prompt(trace: Trace, others: Sequence[Trace]) -> Trace:
    """Return the trace with the prompt's ids and record of an equal one among other runs.

    The record of a long prompt takes more memory than the run's own tokens.
    """
    step, *steps = trace.steps or (None,)
    for other in others:
        first = other.steps[0] if other.steps else None
        if (
            isinstance(step, PromptStep)
            and isinstance(first, PromptStep)
            and step.positions == first.positions
            and trace.prompt_ids == other.prompt_ids
        ):
            shared = replace(step, positions=first.positions)
            return replace(trace, prompt_ids=other.prompt_ids, steps=(shared, *steps))
    return trace


def _raw_probs(trace: Trace) -> list[list[tuple[int, float]]]:
    return [[(c.token_id, c.raw_prob) for c in step.candidates] for step in trace.token_steps]


def _groups(
    ids: Sequence[Sequence[int]], runs: Sequence[int], at: int
) -> dict[int | None, list[int]]:
    """Return the runs by their token at a step; those that have ended by None."""
    groups: dict[int | None, list[int]] = {}
    for place in runs:
        groups.setdefault(ids[place][at] if at < len(ids[place]) else None, []).append(place)
    return groups


def _settings_of(trace: Trace, names: Sequence[str]) -> dict[str, str]:
    notes = {note.key: note.words for note in trace.notes}
    values = {name: shown(_setting(trace, name)) for name in names}
    computed = {key: notes.get(key, "") for key in (ROWS, THREADS)}
    return {**values, "model": trace.model_id, "dtype": trace.dtype, **computed}


def _setting(trace: Trace, name: str) -> Any:
    return getattr(trace.config, name, getattr(trace.config.shaping, name, ""))


def shown(value: Any) -> str:
    """Return a setting's value as figures and tables show it; plain text."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
