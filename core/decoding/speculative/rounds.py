"""Check that the rounds of a trace are whole, and access to their candidates."""

from __future__ import annotations

from collections.abc import Sequence

from ..checks.common import count
from ..counting import nth
from ..record.trace import Check, Trace
from .config import Speculative
from .types import DraftRound, PairCandidate


def whole_rounds(trace: Trace[Speculative]) -> Check:
    """Check that every token has its numbers at its position; the other checks rely on it."""
    faults = []
    if len(trace.rounds) + (trace.prompt_step is not None) != len(trace.steps):
        faults.append("the trace holds steps of another method")
    if not trace.config.source.needs_draft and (
        trace.draft_id or trace.draft_revision or trace.draft_dtype
    ):
        faults.append("the source of the drafts needs no draft model, and one is named")
    faults += [fault for step in trace.rounds if (fault := _missing(step, trace.config))]
    return count("rounds_whole", faults, "rounds with something missing")


def _missing(step: DraftRound, config: Speculative) -> str:
    where, outcomes = f"round {nth(step.index)}", [token.outcome for token in step.drafted]
    for token in step.drafted:
        if token.draft_prob <= 0 or candidate_of(token.candidates, token.token_id) is None:
            return f"{where}: a drafted token is not among the candidates, or can't be drafted"
        if any(candidate.draft_prob is None for candidate in token.candidates):
            return f"{where}: a candidate lacks the draft's probability"
        unknown = [candidate.draft_raw_prob is None for candidate in token.candidates]
        if set(unknown) != {not config.source.draws}:
            return f"{where}: the draft's own probability is missing, or has no source"
        if (token.threshold is None) != (config.acceptance != "typical"):
            return f"{where}: a threshold is missing, or has no use"
        if token.interval is not None and config.acceptance != "exact":
            return f"{where}: an interval is given for a token that was not drawn by it"
    accepted, rejected = outcomes.count("accepted"), outcomes.count("rejected")
    expected = ["accepted"] * accepted + ["rejected"] * rejected
    if outcomes[: len(expected)] != expected or rejected > 1:
        return f"{where}: accepted tokens don't come first"
    if (step.recovered is None) == (rejected == 1):
        return f"{where}: a rejected token and a recovered one don't come together"
    if step.bonus is not None and accepted < len(outcomes):
        return f"{where}: there is a bonus, and not all drafted tokens were accepted"
    if step.recovered is not None and step.recovered.candidates:
        return f"{where}: the candidates of a recovered token are the rejected one's"
    bonus = step.bonus.candidates if step.bonus else ()
    if any(c.draft_prob is not None or c.draft_raw_prob is not None for c in bonus):
        return f"{where}: the draft has no probabilities at the bonus"
    if any(
        list(candidates) != sorted(candidates, key=by_target) for candidates in positions_of(step)
    ):
        return f"{where}: candidates are not ordered by the target's probability"
    if step.extra is None and step.finish_reason is None:
        return f"{where}: the target added no token, and the run went on"
    if step.extra is not None and candidate_of(extra_candidates(step), step.extra.token_id) is None:
        return f"{where}: the target's token is not among the candidates"
    ruled = config.shaping.constraint is not None
    if len(step.masks) not in (0, ruled * (len(step.drafted) + 1)):
        return f"{where}: a position lacks its mask, or there is no constraint"
    for mask, candidates in zip(step.masks, positions_of(step), strict=False):
        if not mask.holds([c.target_raw_prob for c in candidates if c.target_prob > 0]):
            return f"{where}: the target has probabilities outside its mask"
    if any(token.refused and (token.target_prob > 0 or not step.masks) for token in step.drafted):
        return f"{where}: the target has a probability for a token that is not allowed"
    return "" if len(step.texts) == len(step.token_ids) > 0 else f"{where}: a text is missing"


def positions_of(step: DraftRound) -> tuple[tuple[PairCandidate, ...], ...]:
    """Return the candidates at each drafted position, then those of the bonus token."""
    drafted = tuple(token.candidates for token in step.drafted)
    return drafted if step.bonus is None else (*drafted, step.bonus.candidates)


def by_target(candidate: PairCandidate) -> tuple[float, int]:
    """Return the sort key of a position's candidates."""
    return -candidate.target_raw_prob, candidate.token_id


def candidate_of(candidates: Sequence[PairCandidate], token_id: int) -> PairCandidate | None:
    """Return the candidate with this id."""
    return next((c for c in candidates if c.token_id == token_id), None)


def extra_candidates(step: DraftRound) -> tuple[PairCandidate, ...]:
    """Return the candidates at the position of the target's own token."""
    if step.bonus is not None:
        return step.bonus.candidates
    return step.drafted[len(step.accepted)].candidates if step.recovered else ()
