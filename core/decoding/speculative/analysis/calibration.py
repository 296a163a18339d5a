"""Draft probabilities of verified tokens in bins: how often a draft as sure as this is accepted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...record.trace import Trace
from ..rounds import candidate_of
from .classes import verified_tokens

BINS = 5


class Trial(NamedTuple):
    """Verification of a drafted token: the draft's unshaped probability, and the result."""

    round: int
    prob: float
    accepted: bool


class CalibrationBin(NamedTuple):
    """Trials whose draft probability lies in an interval, closed at its end."""

    low: float
    high: float
    trials: tuple[Trial, ...]

    @property
    def mean(self) -> float:
        """Mean draft probability; the middle of the interval without trials."""
        if not self.trials:
            return (self.low + self.high) / 2
        return sum(trial.prob for trial in self.trials) / len(self.trials)


def calibration(trace: Trace) -> tuple[CalibrationBin, ...]:
    """Return the bins of a run; empty if its source gives no probabilities.

    A draft is calibrated for its target if each bin's acceptance rate is its draft probability.
    """
    trials: list[Trial] = []
    for verified in verified_tokens(trace):
        candidate = candidate_of(verified.token.candidates, verified.token.token_id)
        if candidate is not None and candidate.draft_raw_prob is not None:
            trials.append(Trial(verified.round, candidate.draft_raw_prob, verified.accepted))
    return _bins(trials) if trials else ()


def _bins(trials: Sequence[Trial]) -> tuple[CalibrationBin, ...]:
    held: list[list[Trial]] = [[] for _ in range(BINS)]
    for trial in trials:
        # Rounding may give a probability slightly above 1.
        held[min(BINS - 1, max(0, math.ceil(trial.prob * BINS) - 1))].append(trial)
    return tuple(
        CalibrationBin(at / BINS, (at + 1) / BINS, tuple(bin_)) for at, bin_ in enumerate(held)
    )
