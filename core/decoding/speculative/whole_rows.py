"""Checks of a round that need whole rows of logits: missing candidates, the place of a draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from core.decoding.checks.replay import interval_fits
from core.decoding.speculative.config import Speculative
from core.decoding.speculative.distributions import Rows
from core.decoding.speculative.rounds import positions_of
from core.decoding.speculative.types import DraftRound


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
    """Every interval must lie where the more probable tokens end; a residual's is not asked for."""
    target, draft = shaped[0], shaped[1] if len(shaped) > 1 else None
    for at, token in enumerate(step.drafted):
        draws = [(target, token.interval), *([(draft, token.draft_interval)] if draft else [])]
        if any(_misplaced(*own, at, token.token_id, interval) for own, interval in draws):
            yield "the draft's or the verification's number fell elsewhere"
    plain = step.bonus is not None or config.acceptance == "exact"
    if plain and step.extra is not None:
        at, token_id = len(step.accepted), step.extra.token_id
        if _misplaced(*target, at, token_id, step.extra.interval):
            yield "the target's number fell elsewhere"


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
