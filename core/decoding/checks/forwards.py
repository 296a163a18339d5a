"""Differences between two forwards of one model over the same tokens, and their tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ...language import Message
from ..loop.recording import PROMPT_CANDIDATES, rank_of
from ..loop.run import read_again
from ..protocol import LanguageModel
from ..record.steps import Candidate, PromptPosition
from ..record.trace import Check, Trace
from ..shaping.config import RESCALING, SETTINGS, Shaping, parts_of
from .common import TINY, worst

# Tolerance of two forwards of different shape, in machine epsilons for each unit of logit. Measured
# differences are up to 1e-5 of the largest logit in float32 and 0.05 in bfloat16.
_EPSILONS = {"float32": 100, "float64": 100}
_EPSILONS_OF_HALVES = 8
# A recorded probability with a smaller logarithm has lost its digits.
FAINT = -69.0


def logit_tolerance(trace: Trace, model: LanguageModel, largest_logit: float) -> float:
    """Return the tolerance of two forwards of different shape: 1.2e-5 for each unit of logit in
    float32.
    """
    bounds = []
    for name in {trace.dtype or model.dtype, model.dtype}:
        kind = getattr(torch, name, None)
        eps = torch.finfo(kind if isinstance(kind, torch.dtype) else torch.float32).eps
        bounds.append(eps * _EPSILONS.get(name, _EPSILONS_OF_HALVES))
    return max(bounds) * max(1.0, largest_logit)


def stretched(tolerance: float, shaping: Shaping) -> float:
    """Return the tolerance of a logit after penalties and temperatures, in nats."""
    for name in shaping.active(RESCALING):
        for number in (name, *parts_of(name)):
            if (number, shaping.temperature) != ("temperature", 0):
                tolerance *= SETTINGS[number].stretch(getattr(shaping, number))
    return tolerance


def prompt_numbers(trace: Trace, model: LanguageModel) -> Check:
    """Compare a forward over the prompt with every number of the prompt step, for any method."""
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    deviations, largest = [0.0], 1.0

    def compare(at: int, logits: Tensor) -> None:
        nonlocal largest
        largest = max(largest, largest_logit(logits))
        tolerance = logit_tolerance(trace, model, largest)
        for row, position in zip(logits, positions[at:], strict=False):
            deviations.append(position_error(row, position, tolerance))

    if positions:
        read_again(model, trace, (), compare)
    detail = Message(
        "largest difference over {positions} positions; a missing candidate counts",
        positions=len(positions),
    )
    tolerance = logit_tolerance(trace, model, largest)
    return worst("prompt_again", deviations, tolerance, detail)


def largest_logit(logits: Tensor) -> float:
    """Return the largest finite absolute value."""
    return float(logits.abs().nan_to_num(posinf=0).max())


def position_error(logits: Tensor, position: PromptPosition, tolerance: float) -> float:
    """Return the largest deviation of a prompt position's numbers, in nats; infinite for a wrong
    rank.
    """
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    candidates, token = position.candidates, position.next_token_id
    errors = [abs(entropy_of(log_probs) - position.entropy), candidate_error(logits, candidates)]
    if token is not None and position.next_prob is not None:
        errors.append(log_error(float(log_probs[token]), position.next_prob))
        if not rank_fits(logits, token, position.next_rank or 0, tolerance):
            return math.inf
    errors += [log_error(float(log_probs[c.token_id]), c.raw_prob) for c in candidates]
    if rival_is_missing(logits, candidates, PROMPT_CANDIDATES, tolerance):
        return math.inf
    return max(errors, key=nan_first)


def log_error(log_prob: float, prob: float) -> float:
    """Return the difference of a log-probability and the logarithm of a recorded probability, in
    nats.
    """
    recorded = math.log(prob) if prob > TINY else -math.inf
    if min(log_prob, recorded) > FAINT:
        return abs(log_prob - recorded)
    return 0.0 if max(log_prob, recorded) <= FAINT + 1 else math.inf


def rival_is_missing(
    logits: Tensor, ranked: Sequence[Candidate], most: int, tolerance: float
) -> bool:
    """Return whether the ranked tokens are not the first `most` of `[vocab]` logits."""
    if len(ranked) != min(most, int((logits > -math.inf).sum())):
        return True
    others = logits.index_fill(0, torch.tensor([c.token_id for c in ranked]), -math.inf)
    return float(others.max()) > min(c.logit for c in ranked) + 2 * tolerance


def rank_fits(logits: Tensor, token_id: int, rank: int, tolerance: float) -> bool:
    """Return whether a token can have this rank in `[vocab]` logits within the tolerance."""
    logit = logits[token_id]
    surely_higher = int((logits > logit + 2 * tolerance).sum())
    perhaps_higher = int((logits >= logit - 2 * tolerance).sum())
    return surely_higher < rank <= perhaps_higher or rank == rank_of(logits, token_id)


def entropy_of(log_probs: Tensor) -> float:
    """Return the entropy of `[vocab]` log-probabilities, in nats."""
    return float(torch.special.entr(log_probs.exp()).sum())


def candidate_error(logits: Tensor, candidates: Sequence[Candidate]) -> float:
    """Return the largest deviation of a recorded logit from `[vocab]` logits."""
    if not candidates:
        return 0.0
    recorded = torch.tensor([c.logit for c in candidates], dtype=torch.float64)
    again = logits[[c.token_id for c in candidates]].double()
    return float((again - recorded).abs().max())


def nan_first(value: float) -> float:
    """Return infinity for NaN, so that NaN is the largest deviation."""
    return math.inf if math.isnan(value) else value
