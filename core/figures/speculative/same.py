"""Comparison of two runs that must emit the same tokens, up to rounding."""

from __future__ import annotations

import math

from ...decoding.counting import nth, sentences
from ...decoding.record.trace import Trace
from ...decoding.speculative.types import DraftRound
from ...language import N_, tr
from ..base.labels import visible_token

# Difference of two forwards of different shape, nats: 1e-5 of a largest logit of about 50 in
# float32, and 0.05 in 16-bit types. The distance of two tokens may shrink by twice as much.
_FLOAT32, _NARROW = 1e-3, 0.1
# Smaller probabilities have lost their digits.
_TINY = 1e-9


def identity_words(own: Trace, alone: Trace) -> str:
    """Compare greedy decoding with and without a draft, token by token; plain text.

    If they part, the text names both tokens and their distance in the target-only run.
    """
    length = min(len(own.token_ids), len(alone.token_ids))
    at = next(
        (
            at
            for at, (a, b) in enumerate(zip(own.token_ids, alone.token_ids, strict=False))
            if a != b
        ),
        None,
    )
    if at is None:
        # A stopped run has only a beginning.
        if len(own.token_ids) != len(alone.token_ids) and own.finish_reason != "cancelled":
            return tr(
                "The first {length} tokens are identical, then one of both goes on: this should "
                "not happen.",
                length=length,
            )
        return tr("Identical: all {length} tokens.", length=length)
    step = alone.token_steps[at]
    ids = [candidate.token_id for candidate in step.candidates]
    theirs = visible_token(step.text or alone.text, 30)
    if own.token_ids[at] not in ids or alone.token_ids[at] not in ids or len(step.stages) < 3:
        return tr(
            "Token {nth} differs, and to the target alone, which wrote “{theirs}”, the other is "
            "not among the likely ones. This should not happen.",
            nth=nth(at),
            theirs=theirs,
        )
    # The stage after the penalties, before the one-hot stage and the final one.
    probs = step.stages[-3].probs
    own_at, theirs_at = ids.index(own.token_ids[at]), ids.index(alone.token_ids[at])
    gap = _gap(probs[own_at], probs[theirs_at])
    texts = [visible_token(step.candidates[place].text, 30) for place in (own_at, theirs_at)]
    parted = tr(
        "Token {nth} differs: “{own}”, and “{theirs}” by the target alone, whose logits for both "
        "are {gap:.2g} apart.",
        nth=nth(at),
        own=texts[0],
        theirs=texts[1],
        gap=gap,
    )
    return tr(sentences(parted, tr(_excuse(gap, _tolerance(alone)))))


def _gap(a: float, b: float) -> float:
    return abs(math.log(a) - math.log(b)) if a > 0 < b else math.inf


def _tolerance(trace: Trace) -> float:
    return _FLOAT32 if trace.dtype in ("", "float32", "float64") else _NARROW


def _excuse(difference: float, tolerance: float) -> str:
    if difference <= tolerance:
        return N_("Two forwards of different shape differ by rounding, which explains it.")
    return N_("Rounding doesn't explain that: this should not happen.")


def same_rounds_words(a: Trace, b: Trace) -> str:
    """Compare two runs with the same noise, one for each scoring method; plain text."""
    if a.token_ids == b.token_ids:
        return tr("Both emitted the same tokens.")
    for at, (first, second) in enumerate(zip(a.rounds, b.rounds, strict=False)):
        if _fates(first) != _fates(second):
            apart = _apart(first, second)
            differ = tr("They emitted different tokens from round {round} on.", round=nth(at))
            by = tr(
                "What the target gives the tokens there differs by up to {apart:.2g} nats.",
                apart=apart,
            )
            excuse = tr(_excuse(apart, _tolerance(a)))
            return tr(sentences(differ, _choices(first, second), by, excuse))
    return tr("They emitted different tokens from the same rounds: this should not happen.")


def _fates(step: DraftRound) -> tuple[object, ...]:
    return (
        *[(token.token_id, token.outcome) for token in step.drafted],
        step.extra.token_id if step.extra else None,
    )


def _choices(one: DraftRound, other: DraftRound) -> str:
    """Return the first emitted token that differs."""
    names = [
        [*(t.text for t in step.accepted), *([step.extra.text] if step.extra else [])]
        for step in (one, other)
    ]
    pair = next(((x, y) for x, y in zip(*names, strict=False) if x != y), None)
    if pair is None:
        return ""
    first, second = (visible_token(text, 30) for text in pair)
    return tr("There one has “{first}”, the other “{second}”.", first=first, second=second)


def _apart(one: DraftRound, other: DraftRound) -> float:
    """Return the largest difference of a token's log-probability between both rounds, in nats,
    while the drafts agree.

    It is infinite if another token was drafted, as the draft has the same input in both.
    """
    positions = []
    for mine, theirs in zip(one.drafted, other.drafted, strict=False):
        if mine.token_id != theirs.token_id:
            return math.inf
        positions.append((mine.candidates, theirs.candidates))
    if one.bonus and other.bonus:
        positions.append((one.bonus.candidates, other.bonus.candidates))
    differences = [
        _gap(a.target_raw_prob, b.target_raw_prob)
        for mine, theirs in positions
        for a, b in zip(sorted(mine), sorted(theirs), strict=False)
        if a.token_id == b.token_id and a.target_raw_prob > _TINY
    ]
    return max(differences, default=math.inf)
