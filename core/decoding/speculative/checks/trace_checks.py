"""Invariants of a speculative trace's rounds, checked from its file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch

from ....language import N_, Message
from ...checks.common import (
    COMMON_CHECKS,
    MASS_TOLERANCE,
    VALUE_TOLERANCE,
    checked_if_whole,
    count,
    worst,
)
from ...counting import at_round, nth
from ...record.trace import Check, Trace
from ..acceptance import accept_probability
from ..block import block_accept_prob
from ..config import Speculative
from ..lookahead.checks import windows
from ..rounds import (
    candidate_of,
    extra_candidates,
    positions_of,
    whole_rounds,
)
from ..tree.shape import children_of
from ..types import DraftRound, DraftToken, ExtraToken
from ..verification import accepted_if_reached
from .run_checks import RUN_CHECKS

_AGAINST = {
    "accepted": N_("token {token} was accepted against its verification"),
    "rejected": N_("token {token} was rejected against its verification"),
    "not_reached": N_("token {token} was not_reached against its verification"),
}


def self_checks(trace: Trace[Speculative]) -> list[Check]:
    """Return the checks; if a round isn't whole, only that failed check."""
    own = (windows,) if trace.config.source.looks_ahead else ()
    return checked_if_whole(trace, whole_rounds, (*_CHECKS, *own, *COMMON_CHECKS))


def _masses(trace: Trace[Speculative]) -> Check:
    errors = (
        max(0.0, sum(prob or 0.0 for prob in column) - 1.0)
        for step in trace.rounds
        for candidates in positions_of(step)
        for column in [*zip(*candidates, strict=True)][2:]
    )
    detail = N_(
        "largest excess over 1 of the candidates' probabilities, every position, both models"
    )
    return worst("mass_of_candidates", errors, MASS_TOLERANCE, detail)


def _own_numbers(trace: Trace[Speculative]) -> Check:
    faults = []
    for step in trace.rounds:
        for at, token in enumerate(step.drafted):
            candidate = candidate_of(token.candidates, token.token_id)
            if candidate is None or candidate[2:4] != (token.target_prob, token.draft_prob):
                words = Message("token {token} differs from its candidate", token=nth(at))
                faults.append(at_round(step.index, words))
        extra = step.extra
        candidate = candidate_of(extra_candidates(step), extra.token_id) if extra else None
        if extra and candidate and candidate[2:4] != (extra.target_prob, extra.draft_prob):
            faults.append(at_round(step.index, N_("the target's token differs from its candidate")))
    return count("token_probabilities", faults, N_("differences"))


def _accept_probs(trace: Trace[Speculative]) -> Check:
    config = trace.config
    errors = (
        abs(token.accept_prob - expected_accept_prob(config, token))
        for step in trace.rounds
        for token in step.drafted
    )
    name = f"accept_prob_{config.acceptance}"
    return worst(name, errors, 1e-12, N_("largest deviation of a drafted token"))


def expected_accept_prob(config: Speculative, token: DraftToken) -> float:
    """Return the acceptance probability that the rule gives for the recorded probabilities."""
    if config.acceptance == "exact":
        return token.target_prob
    if config.acceptance == "typical":
        threshold = math.inf if token.threshold is None else token.threshold
        in_range = 0 <= threshold <= min(config.posterior_threshold, config.posterior_alpha)
        return float(token.target_prob > threshold) if in_range else math.inf
    if token.block is not None:
        return block_accept_prob(token.block)
    return accept_probability(token.target_prob, token.draft_prob)


def _outcomes(trace: Trace[Speculative]) -> Check:
    faults = [fault for step in trace.rounds if (fault := _outcome_fault(step, trace.config))]
    return count("outcomes_of_uniforms", faults, N_("wrong outcomes"))


def _outcome_fault(step: DraftRound, config: Speculative) -> str:
    passed = [token.passed for token in step.drafted]
    for at, token in enumerate(step.drafted):
        if not _passes(token, config):
            words = Message("token {token} did not fare as its verification says", token=nth(at))
            return at_round(step.index, words)
    expected = _expected_outcomes(step, accepted_if_reached(config, passed))
    for at, token in enumerate(step.drafted):
        if token.outcome != expected[at]:
            words = Message(_AGAINST[token.outcome], token=nth(at))
            return at_round(step.index, words)
    recovered, rejected_at = step.recovered, step.rejected_at
    if config.acceptance == "exact" and recovered is not None and rejected_at is not None:
        rejected = step.drafted[rejected_at]
        if recovered.uniform != rejected.uniform or recovered.token_id == rejected.token_id:
            return at_round(step.index, N_("the recovered token is not the sample that differed"))
    return ""


def _expected_outcomes(step: DraftRound, passed: Sequence[bool]) -> list[str]:
    """Return the outcomes that the verifications give.

    Only a token that ended the run makes the tokens after it unreached.
    """
    outcomes, children, node = ["not_reached"] * len(passed), children_of(step.tree), -1
    ends = len(step.accepted) if step.extra is None else math.inf
    while siblings := children[node] if outcomes.count("accepted") < ends else []:
        for at in siblings:
            outcomes[at] = "accepted" if passed[at] else "rejected"
            if passed[at]:
                node = at
                break
        else:
            break
    return outcomes


def _passes(token: DraftToken, config: Speculative) -> bool:
    """Return whether the recorded numbers give `passed`."""
    if config.acceptance == "typical":
        return token.uniform is None and token.passed == (token.accept_prob > 0)
    if token.uniform is None:
        return False
    if config.acceptance in ("speculative", "block"):
        return token.passed == (token.uniform < token.accept_prob)
    if not token.passed:
        return token.interval is None
    return _falls(token.uniform, token.interval, token.target_prob)


def _falls(uniform: float | None, interval: tuple[float, float] | None, prob: float | None) -> bool:
    """Return whether the number lies in its interval, and the interval is as wide as `prob`."""
    if uniform is None or interval is None or prob is None:
        return False
    low, high = interval
    inside = low - VALUE_TOLERANCE <= uniform <= high + VALUE_TOLERANCE
    return inside and abs(high - low - prob) <= VALUE_TOLERANCE


def _noise(trace: Trace[Speculative]) -> Check:
    """Check that every uniform number is the one that the seed gives, in the order of the draws."""
    config, faults = trace.config, []
    generator = torch.Generator().manual_seed(config.seed)
    for step in trace.rounds:
        recorded = list(_numbers(step, config))
        thrown = torch.rand(len(recorded), generator=generator, dtype=torch.float64).tolist()
        if thrown != recorded:
            faults.append(at_round(step.index, N_("the seed gives other uniform numbers")))
    return count("dice_of_seed", faults, N_("rounds whose numbers differ"))


def _numbers(step: DraftRound, config: Speculative) -> Iterator[float | None]:
    if config.draft_draws:
        yield from (token.draft_uniform for token in step.drafted)
    if config.acceptance != "typical":
        yield from (token.uniform for token in step.drafted)
    draws_again = config.acceptance in ("speculative", "block")
    if step.bonus is not None or (step.recovered and draws_again):
        yield step.extra.uniform if step.extra else None


def _draws(trace: Trace[Speculative]) -> Check:
    faults, config = [], trace.config
    drawn = config.draft_draws
    for step in trace.rounds:
        for at, token in enumerate(step.drafted):
            if drawn:
                fits = _falls(token.draft_uniform, token.draft_interval, token.draft_prob)
            else:
                fits = token.draft_uniform is None and token.draft_prob == 1.0
            if not fits:
                words = Message("the draft's draw doesn't give token {token}", token=nth(at))
                faults.append(at_round(step.index, words))
        if step.extra is not None and not _extra_fits(step, step.extra, config):
            faults.append(at_round(step.index, N_("the target's draw doesn't give its token")))
    return count("tokens_of_draws", faults, N_("draws that point elsewhere"))


def _extra_fits(step: DraftRound, extra: ExtraToken, config: Speculative) -> bool:
    if config.acceptance == "typical" and step.recovered is not None:
        likeliest = max(candidate.target_prob for candidate in extra_candidates(step))
        return extra.uniform is None and extra.prob == extra.target_prob >= likeliest
    plain = step.recovered is None or config.acceptance == "exact"
    if plain and abs(extra.prob - extra.target_prob) > VALUE_TOLERANCE:
        return False
    return _falls(extra.uniform, extra.interval, extra.prob)


_CHECKS: tuple[Callable[[Trace[Speculative]], Check], ...] = (
    _masses,
    _own_numbers,
    _accept_probs,
    _outcomes,
    _noise,
    _draws,
    *RUN_CHECKS,
)
