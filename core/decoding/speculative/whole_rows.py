"""Checks of a round that need whole rows of logits: missing candidates, the place of a draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from core.decoding.checks.common import TINY
from core.decoding.checks.replay import interval_fits, interval_starts
from core.decoding.speculative.config import Speculative
from core.decoding.speculative.distributions import Rows, residual, residual_masses
from core.decoding.speculative.rounds import positions_of
from core.decoding.speculative.types import DraftRound, DraftToken, ExtraToken


def candidate_faults(
    step: DraftRound, config: Speculative, sides: Sequence[tuple[Tensor, float]]
) -> Iterator[str]:
    """Either model's most probable tokens must be listed, and no others but the round's own.

    Args:
        sides: logits `[n, vocab]` and how far they may be off, of the target, then of the draft.
    """
    whole = config.drafter != "model" or len(sides) > 1
    for at, candidates in enumerate(positions_of(step)):
        listed = {candidate.token_id for candidate in candidates}
        allowed = {token.token_id for token in step.drafted[at : at + 1]}
        allowed |= {step.extra.token_id} if step.extra and at == len(step.accepted) else set()
        for logits, tolerance in sides if at < len(step.drafted) else sides[:1]:
            count = min(config.top_candidates, logits.shape[-1])
            surely, perhaps = _first(logits[at], count, tolerance)
            if not surely <= listed or len(perhaps & listed) < count:
                yield "a more probable token is left out"
            allowed |= perhaps
        if whole and not listed <= allowed:
            yield "a token is listed that neither model finds probable"


def _first(logits: Tensor, count: int, tolerance: float) -> tuple[set[int], set[int]]:
    """The ids that are surely among the highest `count`, and those that may be."""
    least = torch.topk(logits, count)[0][-1]
    surely = (logits > least + 2 * tolerance).nonzero().flatten()
    return {*surely.tolist()}, {*(logits >= least - 2 * tolerance).nonzero().flatten().tolist()}


def draw_faults(
    step: DraftRound, config: Speculative, shaped: Sequence[tuple[Rows, list[float]]]
) -> Iterator[str]:
    """Every interval must lie where the more probable tokens of its distribution end."""
    target, draft = shaped[0], shaped[1] if len(shaped) > 1 else None
    for at, token in enumerate(step.drafted):
        draws = [(target, token.interval), *([(draft, token.draft_interval)] if draft else [])]
        if any(_misplaced(*own, at, token.token_id, interval) for own, interval in draws):
            yield "the draft's or the verification's number fell elsewhere"
        if config.acceptance == "exact" and not token.passed and _draws(*target, at, token):
            yield "the verification's number draws the drafted token, and it did not pass"
    extra, at = step.extra, len(step.accepted)
    if extra is None:
        return
    if step.bonus is not None or config.acceptance == "exact":
        fits = not _misplaced(*target, at, extra.token_id, extra.interval)
    elif config.acceptance == "speculative" and draft is not None:
        fits = _recovers(target, draft, at, extra)
    else:
        fits = config.acceptance != "typical" or _is_likeliest(*target, at, extra.token_id)
    if not fits:
        yield "the target's number fell elsewhere"


def _draws(rows: Rows, slacks: Sequence[float], at: int, token: DraftToken) -> bool:
    """Whether a verification's number surely falls into the drafted token's interval."""
    if at >= min(len(rows), len(slacks)):
        return False
    if rows.probs is None:
        return rows.only[at] == token.token_id
    lowest, highest = interval_starts(rows.probs[at].double(), token.token_id, slacks[at])
    end = lowest + float(rows.probs[at, token.token_id])
    return token.uniform is not None and highest <= token.uniform < end


def _is_likeliest(rows: Rows, slacks: Sequence[float], at: int, token_id: int) -> bool:
    if at >= min(len(rows), len(slacks)):
        return False
    if rows.probs is None:
        return rows.only[at] == token_id
    return float(rows.probs[at].max() - rows.probs[at, token_id]) <= slacks[at]


def _recovers(
    target: tuple[Rows, list[float]],
    draft: tuple[Rows, list[float]],
    at: int,
    token: ExtraToken,
) -> bool:
    """Whether a recovered token is drawn by the residual's cumulative distribution."""
    if at >= min(len(target[0]), len(draft[0])):
        return True
    rest = residual(target[0], draft[0], at)
    if rest.probs is None or token.interval is None:
        return rest.only == [token.token_id]
    probs = rest.probs[0].double()
    # What is left of two rows has the error of both, in units of its own mass.
    mass = residual_masses(_row(target[0], at), _row(draft[0], at))[0]
    slack = (target[1][at] + draft[1][at]) / max(TINY, mass)
    own = float(probs[token.token_id])
    surely = float(probs[probs > own + slack].sum())
    perhaps = float(probs[probs >= own - slack].sum()) - own
    return surely - slack <= token.interval[0] <= perhaps + slack


def _row(rows: Rows, at: int) -> Rows:
    return Rows(None if rows.probs is None else rows.probs[at : at + 1], rows.only[at : at + 1])


def _misplaced(
    rows: Rows,
    slacks: Sequence[float],
    at: int,
    token_id: int,
    interval: tuple[float, float] | None,
) -> bool:
    if interval is None or rows.probs is None or at >= min(len(rows.probs), len(slacks)):
        return False
    return not interval_fits(rows.probs[at].double(), token_id, interval, slacks[at])
