"""Invariants of a contrastive search's scores, checked from its file alone."""

from __future__ import annotations

from collections.abc import Iterator

from ...language import N_
from ..checks.common import VALUE_TOLERANCE, checked_if_whole, count, worst
from ..checks.trace_checks import NUMBER_CHECKS, STAGE_CHECKS, whole
from ..counting import at_step
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from .config import ContrastiveSearch
from .scoring import score, winner


def self_checks(trace: Trace[ContrastiveSearch]) -> list[Check]:
    """Return the checks of numbers and stages, and the check that every token has the highest
    score.
    """
    score_checks = (_highest_score, _scores, _compared)
    return checked_if_whole(trace, whole, (*NUMBER_CHECKS, *STAGE_CHECKS, *score_checks))


def _highest_score(trace: Trace[ContrastiveSearch]) -> Check:
    faults = [fault for step in trace.token_steps if (fault := _choice_fault(step))]
    return count("highest_scores", faults, N_("steps with a higher one"))


def _choice_fault(step: TokenStep) -> str:
    contrasted = step.compared
    if not contrasted:
        return at_step(step.index, N_("the scores were not recorded"))
    if contrasted[winner(contrasted)].token_id != step.token_id:
        return at_step(step.index, N_("another token has a higher score"))
    return "" if step.chosen.prob == 1 else at_step(step.index, N_("the token was not kept alone"))


def _scores(trace: Trace[ContrastiveSearch]) -> Check:
    alpha = trace.config.penalty_alpha
    errors = (
        abs(candidate.score - score(alpha, candidate.prob, candidate.penalty))
        for step in trace.token_steps
        for candidate in step.compared or ()
    )
    detail = N_("largest deviation from (1 - alpha) * probability - alpha * largest cosine")
    return worst("scores_of_cosines", errors, VALUE_TOLERANCE, detail)


def _compared(trace: Trace[ContrastiveSearch]) -> Check:
    faults = [
        at_step(step.index, fault)
        for step in trace.token_steps
        for fault in _compared_faults(step, trace.config.contrastive_top_k)
    ]
    return count("most_probable_compared", faults, N_("steps with other tokens"))


def _compared_faults(step: TokenStep, top_k: int) -> Iterator[str]:
    """Yield differences of the compared tokens from the stage before the choice, as far as it lists
    them.
    """
    contrasted, before = step.compared or (), step.stages[-3:][0]
    probs = [candidate.prob for candidate in contrasted]
    if len(contrasted) != min(top_k, before.kept):
        yield N_("more or fewer tokens were compared than the settings say")
    if any(abs(candidate.penalty) > 1 + VALUE_TOLERANCE for candidate in contrasted):
        yield N_("a penalty is no cosine")
    if len({candidate.token_id for candidate in contrasted}) != len(contrasted):
        yield N_("a token was compared twice")
    if probs != sorted(probs, reverse=True):
        yield N_("the tokens don't stand by their probabilities")
    prob_by_token = {candidate.token_id: candidate.prob for candidate in contrasted}
    least = min(probs, default=0.0)
    for candidate, prob in zip(step.candidates, before.probs, strict=True):
        if abs(prob_by_token.get(candidate.token_id, prob) - prob) > VALUE_TOLERANCE:
            yield N_("a probability is not that of the step's stages")
        if candidate.token_id not in prob_by_token and prob > least + VALUE_TOLERANCE:
            yield N_("a more probable token was left out")
