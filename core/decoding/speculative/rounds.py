"""Check that the rounds of a trace are whole, and access to their candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...language import N_, Message
from ..checks.common import MASS_TOLERANCE, TINY, count
from ..counting import at_round, nth
from ..record.masks import Mask
from ..record.trace import Check, Trace
from ..shaping.config import SETTINGS
from .config import Speculative
from .lookahead.window import is_whole
from .tree.shape import is_tree, path_end
from .types import DraftRound, PairCandidate


def whole_rounds(trace: Trace[Speculative]) -> Check:
    """Check that every round follows the one before and has its numbers at each position; the other
    checks rely on it.
    """
    faults = []
    if len(trace.rounds) + (trace.prompt_step is not None) != len(trace.steps):
        faults.append(N_("the trace holds steps of another method"))
    if not trace.config.source.needs_draft and (
        trace.draft_id or trace.draft_revision or trace.draft_dtype
    ):
        faults.append(N_("the source of the drafts needs no draft model, and one is named"))
    if not trace.prompt_ids:
        faults.append(N_("there is no prompt"))
    emitted = list[int]()
    for index, step in enumerate(trace.rounds):
        if step.index != index or step.start != len(emitted):
            faults.append(N_("the rounds are not numbered from 0 by the tokens before them"))
        emitted += step.token_ids
    if tuple(emitted) != trace.token_ids:
        faults.append(N_("the rounds' tokens are not the trace's tokens"))
    faults += [fault for step in trace.rounds if (fault := _missing(step, trace.config))]
    return count("rounds_whole", faults, N_("rounds with something missing"))


def _missing(step: DraftRound, config: Speculative) -> str:
    faults = (_token_fault, _shape_fault, _target_fault, _masks_fault)
    found = next((fault for find in faults if (fault := find(step, config))), "")
    return found and at_round(step.index, found)


def _token_fault(step: DraftRound, config: Speculative) -> str:
    """Describe a drafted token that lacks a number, or has one too many; empty for none."""
    for token in step.drafted:
        if token.draft_prob <= 0 or candidate_of(token.candidates, token.token_id) is None:
            return N_("a drafted token is not among the candidates, or can't be drafted")
        if any(candidate.draft_prob is None for candidate in token.candidates):
            return N_("a candidate lacks the draft's probability")
        unknown = [candidate.draft_raw_prob is None for candidate in token.candidates]
        if set(unknown) != {not config.source.draws}:
            return N_("the draft's own probability is missing, or has no source")
        if (token.threshold is None) != (config.acceptance != "typical"):
            return N_("a threshold is missing, or has no use")
        if (token.block is None) != (config.acceptance != "block"):
            return N_("numbers of block verification are missing, or have no use")
        if token.interval is not None and config.acceptance != "exact":
            return N_("an interval is given for a token that was not drawn by it")
    return ""


def _shape_fault(step: DraftRound, config: Speculative) -> str:
    """Describe a draft of another shape than the settings give; empty for none."""
    if config.drafts_tree != bool(step.parents) and step.drafted:
        return N_("a tree was drafted in place of a chain, or a chain in place of a tree")
    if step.window is not None and not config.source.looks_ahead:
        return N_("a window was read, and the source has none")
    if step.window is not None and not is_whole(step.window, config):
        return N_("the window has too few or too many guesses or predictions")
    return outcome_fault(step)


def _target_fault(step: DraftRound, _: Speculative) -> str:
    """Describe candidates that are in no order, or lack the target's token; empty for none."""
    if step.recovered is not None and step.recovered.candidates:
        return N_("the candidates of a recovered token are the rejected one's")
    bonus = step.bonus.candidates if step.bonus else ()
    if any(c.draft_prob is not None or c.draft_raw_prob is not None for c in bonus):
        return N_("the draft has no probabilities at the bonus")
    if any(
        list(candidates) != sorted(candidates, key=by_target) for candidates in positions_of(step)
    ):
        return N_("candidates are not ordered by the target's probability")
    if step.extra is None and step.finish_reason is None:
        return N_("the target added no token, and the run went on")
    if step.extra is not None and candidate_of(extra_candidates(step), step.extra.token_id) is None:
        return N_("the target's token is not among the candidates")
    return ""


def _masks_fault(step: DraftRound, config: Speculative) -> str:
    """Describe a mask or a text that is missing, or a wrong mask; empty for none."""
    ruled = config.shaping.constraint is not None
    if len(step.masks) not in (0, ruled * (len(step.drafted) + 1)):
        return N_("a position lacks its mask, or there is no constraint")
    pairs = zip(step.predicted_after, positions_of(step), strict=True) if step.masks else ()
    for node, candidates in pairs:
        if fault := _mask_fault(step.masks[node + 1], candidates, _constraint_alone(step, config)):
            return Message(
                "the mask of position {position}: {fault}",
                position=nth(node + 1),
                fault=Message(fault),
            )
    if any(token.refused and (token.target_prob > 0 or not step.masks) for token in step.drafted):
        return N_("the target has a probability for a token that is not allowed")
    return "" if len(step.texts) == len(step.token_ids) > 0 else N_("a text is missing")


def _constraint_alone(step: DraftRound, config: Speculative) -> bool:
    """Return whether a target's probability is its raw probability / S, if it is allowed."""
    alone = config.shaping.active(SETTINGS) == ["constraint"] and not config.min_new_tokens
    # Siblings are verified with what their position's distribution has left.
    return alone and not step.parents


def _mask_fault(mask: Mask, candidates: Sequence[PairCandidate], alone: bool) -> str:
    """Describe a mask that contradicts its position's probabilities; empty for none.

    Args:
        alone: whether no other setting changes the probabilities.
    """
    allowed = {c.token_id: c.target_raw_prob for c in candidates if c.target_prob > 0}
    refused = {c.token_id: c.target_raw_prob for c in candidates if c.target_prob <= 0}
    if fault := mask.fault(allowed, refused):
        return fault
    if not alone:
        return ""
    most = max([*allowed.values(), 0.0])
    if mask.wanted is None and any(prob > most + MASS_TOLERANCE for prob in refused.values()):
        return N_("the likeliest token is not allowed, and it is not named")
    mass = math.exp(mask.log_mass)
    shares = [(c.target_prob, c.target_raw_prob) for c in candidates if c.target_prob > 0]
    if any(raw > TINY and abs(prob * mass - raw) > MASS_TOLERANCE * mass for prob, raw in shares):
        return Message("a probability is not the raw one / S = {mass:.3g}", mass=mass)
    return ""


def outcome_fault(step: DraftRound) -> str:
    """Describe a contradiction of a round's parents, outcomes and own tokens; empty for none."""
    if step.parents and not (len(step.parents) == len(step.drafted) and is_tree(step.parents)):
        return N_("the parents make no tree")
    end = path_end(step.tree, [token.outcome for token in step.drafted])
    if end is None:
        return N_("accepted tokens don't come first")
    if (step.recovered is not None) != (end.children == "rejected"):
        return N_("a rejected token and a recovered one don't come together")
    if step.bonus is not None and end.children != "none":
        return N_("there is a bonus, and not all drafted tokens were accepted")
    return ""


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
    return () if step.rejected_at is None else step.drafted[step.rejected_at].candidates
