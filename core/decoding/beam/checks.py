"""Invariants of a beam search's trace, checked from its file alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from ...language import N_, Message
from ..checks.common import (
    COMMON_CHECKS,
    VALUE_TOLERANCE,
    checked_if_whole,
    count,
    worst,
)
from ..checks.constraint_text import keeps_to_constraint
from ..constraints.reading import tokens_of
from ..counting import at_step, nth
from ..record.trace import Check, Trace
from .compare import winner_candidates
from .config import BeamSearch
from .replay import best_row, replay
from .types import BeamCandidate, BeamStep, Hypothesis


def self_checks(trace: Trace[BeamSearch]) -> list[Check]:
    """Return the checks; if the tree isn't whole, only that failed check."""
    return checked_if_whole(trace, _whole, (*_CHECKS, *COMMON_CHECKS))


def _whole(trace: Trace[BeamSearch]) -> Check:
    """Check that every parent is a row and every survivor has one, as other checks require."""
    faults = []
    if trace.token_steps:
        faults.append(N_("the trace holds steps of another method"))
    if any(step.index != at for at, step in enumerate(trace.beam_steps)):
        faults.append(N_("the steps are not numbered from 0 without a gap"))
    faults += [fault for step in trace.beam_steps if (fault := _missing(step, trace))]
    steps = trace.beam_steps if not faults else ()
    if steps and steps[0].groups != tuple(range(trace.config.num_beam_groups)):
        faults.append(N_("the first beam doesn't hold the prompt once for each group"))
    for before, after in pairwise(steps):
        survivors = tuple(map(before.group_of, before.kept))
        # The survivors of groups that ended come last and go no further.
        if (
            after.groups + tuple(group for group in survivors if group not in after.groups)
            != survivors
        ):
            faults.append(at_step(after.index, N_("its beam is not what the step before it kept")))
    return count("tree_whole", faults, N_("broken places"))


def _missing(step: BeamStep, trace: Trace[BeamSearch]) -> str:
    where, survivors = Message("step {step}", step=nth(step.index)), step.kept
    groups = trace.config.num_beam_groups
    if not step.groups or not all(0 <= group < groups for group in step.groups):
        return Message("{where}: a row belongs to no group", where=where)
    if any(not 0 <= c.parent < len(step.groups) for c in step.candidates):
        return Message("{where}: a candidate's parent is no row of the beam", where=where)
    if any((c.fate == "kept") != (c.row is not None) for c in step.candidates):
        return Message(
            "{where}: a candidate that was not kept takes a row, or one that was takes none",
            where=where,
        )
    if [c.row for c in survivors] != list(range(len(survivors))):
        return Message("{where}: two survivors take one row", where=where)
    if any(c.fate == "finished" and c.ended is None for c in step.candidates):
        return Message("{where}: a path finished that nothing ended", where=where)
    widths = {len(row) for row in step.kept_logprobs} | {len(step.entropies)}
    if widths != {len(step.groups)} or len(step.kept_logprobs) != len(survivors):
        return Message("{where}: a table has not one number for each row", where=where)
    ruled = trace.config.shaping.constraint is not None
    if len(step.masks) not in (0, ruled * len(step.groups)):
        return Message("{where}: there is not one mask for each row, or no constraint", where=where)
    for row, mask in enumerate(step.masks):
        candidates = [c for c in step.candidates if c.parent == row]
        if fault := mask.fault({c.token_id: math.exp(min(0.0, c.raw_logprob)) for c in candidates}):
            return Message(
                "{where}: the mask of row {row}: {fault}",
                where=where,
                row=nth(row),
                fault=Message(fault),
            )
    return (
        ""
        if len(step.finished_texts) == len(step.finished)
        else Message("{where}: a text is missing", where=where)
    )


def _sums(trace: Trace[BeamSearch]) -> Check:
    deviations, totals = [0.0], [0.0] * trace.config.num_beam_groups
    for step in trace.beam_steps:
        for c in step.candidates:
            gap = c.cum_logprob - totals[c.parent] - c.logprob
            deviations.append(abs(gap) / max(1.0, abs(c.cum_logprob)))
        totals = [c.cum_logprob for c in step.kept]
    detail = N_("largest relative deviation from parent's sum + log-probability, every candidate")
    return worst("path_sums", deviations, VALUE_TOLERANCE, detail)


def _fates(trace: Trace[BeamSearch]) -> Check:
    faults = [
        fault
        for step in trace.beam_steps
        for group in sorted(set(step.groups))
        if (fault := _fate_fault(step, group, trace))
    ]
    return count("survivors", faults, N_("candidates of a wrong fate"))


def _fate_fault(step: BeamStep, group: int, trace: Trace[BeamSearch]) -> str:
    config, where = trace.config, Message("step {step}", step=nth(step.index))
    candidates = [c for c in step.candidates if step.group_of(c) == group]
    beams = config.num_beams // config.num_beam_groups
    ranks = [c.rank for c in candidates]
    # A draw may leave places out: their tokens have no probability.
    if ranks != (
        list(range(1, len(candidates) + 1)) if step.origin == "argmax" else sorted(set(ranks))
    ):
        return Message("{where}: the ranks are not 1, 2, 3, ...", where=where)
    if len({(c.parent, c.token_id) for c in candidates}) != len(candidates):
        return Message("{where}: a candidate is listed twice", where=where)
    falling = all(a.cum_logprob >= b.cum_logprob for a, b in pairwise(candidates))
    if step.origin == "argmax" and not falling:
        return Message("{where}: the candidates are not ordered by their sums", where=where)
    if (step.origin == "sampled") != config.draws:
        return Message("{where}: the candidates were not chosen as the settings say", where=where)
    survivors = sorted((c for c in candidates if c.fate == "kept"), key=lambda c: c.row or 0)
    open_ones = sorted((c for c in candidates if c.ended is None), key=lambda c: -c.cum_logprob)
    sums = [c.cum_logprob for c in survivors]
    if any(c.ended for c in survivors) or sums != [c.cum_logprob for c in open_ones[:beams]]:
        return Message("{where}: the survivors are not the best that nothing ended", where=where)
    if any((c.fate == "finished") != (c.ended is not None and c.rank <= beams) for c in candidates):
        return Message(
            "{where}: a path of the first {beams} that ended did not finish, or another did",
            where=where,
            beams=beams,
        )
    return ""


def _tables(trace: Trace[BeamSearch]) -> Check:
    faults = [
        Message(
            "step {index}: row {at} has another log-probability in the table, or one "
            "in another group",
            index=nth(step.index),
            at=nth(at),
        )
        for step in trace.beam_steps
        for at, (candidate, row) in enumerate(zip(step.kept, step.kept_logprobs, strict=True))
        if row[candidate.parent] != candidate.logprob
        or any(
            value is not None and group != step.group_of(candidate)
            for value, group in zip(row, step.groups, strict=True)
        )
    ]
    return count("survivors_table", faults, "differences")


def _entropies(trace: Trace[BeamSearch]) -> Check:
    """Check entropies: the known probabilities give a lower bound; a rest of mass m adds at least
    -m ln m.
    """
    errors = (
        _entropy_error(step.entropies[row], [c for c in step.candidates if c.parent == row])
        for step in trace.beam_steps
        for row in range(len(step.groups))
    )
    detail = N_("how far an entropy lies below what its candidates alone make up")
    return worst("entropy", errors, 1e-4, detail)


def _entropy_error(entropy: float, candidates: Sequence[BeamCandidate]) -> float:
    probs = {c.token_id: math.exp(min(0.0, c.raw_logprob)) for c in candidates}
    mass = sum(probs.values())
    if mass > 1 + 1e-4:
        return math.inf
    known = -sum(p * math.log(p) for p in probs.values() if p > 0)
    unseen = 1 - mass
    return max(known - (unseen * math.log(unseen) if unseen > 0 else 0.0) - entropy, -entropy, 0.0)


def _hypotheses(trace: Trace[BeamSearch]) -> Check:
    """Check that replaying the steps under the settings gives the stored hypotheses and the same
    end.
    """
    config, steps, faults = trace.config, trace.beam_steps, []
    replayed = replay(steps, config)
    if replayed.hypotheses != trace.hypotheses:
        faults.append(N_("replayed, the steps give other hypotheses than the stored ones"))
    elif not all(_keeps_to_constraint(trace, hypothesis) for hypothesis in trace.hypotheses):
        faults.append(N_("a hypothesis' text doesn't keep to the constraint"))
    last = len(steps) - 1
    ends = [end[0] if end else last + 1 for end in replayed.ends]
    over = bool(steps) and max(ends) <= last
    if over and max(ends) < last:
        faults.append(
            Message(
                "the search went on after step {ends}, where its rule ends it", ends=nth(max(ends))
            )
        )
    if over == (trace.finish_reason == "cancelled"):
        faults.append(N_("the search was not over where the trace ends, or it was cancelled after"))
    for step in steps:
        if any(ends[group] < step.index for group in step.groups):
            faults.append(at_step(step.index, N_("a group goes on that had ended")))
    return count("hypotheses_of_steps", faults, "contradictions")


def _keeps_to_constraint(trace: Trace[BeamSearch], hypothesis: Hypothesis) -> bool:
    tokens = tokens_of(trace, winner_candidates(trace.beam_steps, hypothesis))
    ended = hypothesis.finish_reason == "eos"
    return keeps_to_constraint(trace, hypothesis.text, tokens, whole=ended)


def _outcome(trace: Trace[BeamSearch]) -> Check:
    steps, faults = trace.beam_steps, []
    best = trace.hypotheses[0] if trace.hypotheses else None
    ids = best.token_ids if best else tuple(c.token_id for c in best_row(steps))
    if trace.token_ids != ids:
        faults.append(N_("the trace's tokens are not the best hypothesis'"))
    if best and best.text != trace.text:
        faults.append(N_("the trace's text is not the best hypothesis'"))
    reason = trace.finish_reason
    if reason != "cancelled" and (best is None or best.finish_reason != reason):
        faults.append(Message("no best hypothesis ended with {reason}", reason=reason))
    reported = [step.finish_reason for step in steps]
    last = reported[-1] if reported else None
    if any(reported[:-1]) or last != (None if reason == "cancelled" else reason):
        faults.append(
            Message(
                "the last step, and it alone, must say that the run ended with {reason}",
                reason=reason,
            )
        )
    return count("best_hypothesis", faults, "contradictions")


def _endings(trace: Trace[BeamSearch]) -> Check:
    """Check that paths end by a limit or a stop string exactly where they are recorded to."""
    config, faults = trace.config, []
    for step in trace.beam_steps:
        last, where = step.index + 1 == step.limit, Message("step {step}", step=nth(step.index))
        if step.limit > config.max_new_tokens or step.index >= step.limit:
            faults.append(Message("{where}: more tokens than max_new_tokens", where=where))
        if any(
            not last if c.ended == "length" else last and c.ended is None for c in step.candidates
        ):
            faults.append(
                Message(
                    "{where}: a path ended with length elsewhere than at the limit", where=where
                )
            )
        for candidate, text in zip(step.finished, step.finished_texts, strict=True):
            stops = any(stop in text for stop in config.stop_strings)
            if candidate.ended != "eos" and stops != (candidate.ended == "stop"):
                faults.append(
                    Message(
                        "{where}: a path ended with stop, and no stop string is in its text",
                        where=where,
                    )
                )
        if not config.stop_strings and any(c.ended == "stop" for c in step.candidates):
            faults.append(
                Message("{where}: a path ended with stop, and there is no stop string", where=where)
            )
        short = step.index < config.min_new_tokens and config.shaping.constraint is None
        if short and any(c.ended == "eos" for c in step.candidates):
            faults.append(Message("{where}: a path ended before min_new_tokens", where=where))
    return count("path_ends", faults, N_("endings that are wrong"))


_CHECKS: tuple[Callable[[Trace[BeamSearch]], Check], ...] = (
    _sums,
    _fates,
    _tables,
    _entropies,
    _hypotheses,
    _outcome,
    _endings,
)
