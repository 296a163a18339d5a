"""Verification of every drafted token under each acceptance rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import DecodingError
from .acceptance import accept_probability, typical_threshold
from .block import (
    BlockNumbers,
    block_accept_prob,
    block_probs,
    passed_blocks,
    residual_weight,
)
from .config import Speculative
from .distributions import NO_TOKEN, Drawn, Rows, entropies, excess_mass, residual
from .drafters.proposal import Noise


class Verification(NamedTuple):
    """A drafted token's numbers, reached or not; fields as in `DraftToken`.

    `instead` is the target's sample in exact match if it is another token.
    """

    draft_prob: float
    target_prob: float
    accept_prob: float
    uniform: float | None
    passed: bool
    interval: tuple[float, float] | None = None
    threshold: float | None = None
    instead: Drawn | None = None
    block: BlockNumbers | None = None


def verify_all(
    config: Speculative, token_ids: Sequence[int], target: Rows, draft: Rows, noise: Noise
) -> list[Verification]:
    """Return a verification for each drafted token; a round's uniform numbers are drawn at once.

    Args:
        target: one row more than there are drafted tokens.
    """
    pairs = list(zip(draft.prob_of(token_ids), target.prob_of(token_ids), strict=True))
    if config.acceptance == "typical":
        return _typical(config, pairs, target)
    uniforms = noise(len(token_ids))
    if config.acceptance == "exact":
        return [
            _exact(row, token_id, *pair, uniform, target)
            for row, (token_id, pair, uniform) in enumerate(
                zip(token_ids, pairs, uniforms, strict=True)
            )
        ]
    if config.acceptance == "block":
        return _block(pairs, uniforms, target, draft)
    verifications = []
    for (draft_prob, target_prob), uniform in zip(pairs, uniforms, strict=True):
        accept = accept_probability(target_prob, draft_prob)
        # No "or equal": a number of 0 must not accept a token that the target never emits.
        verifications.append(
            Verification(draft_prob, target_prob, accept, uniform, uniform < accept)
        )
    return verifications


def _block(
    pairs: Sequence[tuple[float, float]], uniforms: Sequence[float], target: Rows, draft: Rows
) -> list[Verification]:
    verifications: list[Verification] = []
    for row, prob in enumerate(block_probs(pairs)):
        last = row + 1 == len(pairs)
        numbers = BlockNumbers(prob, None if last else excess_mass(target, draft, row + 1, prob))
        accept, uniform = block_accept_prob(numbers), uniforms[row]
        verifications.append(
            Verification(*pairs[row], accept, uniform, uniform < accept, block=numbers)
        )
    return verifications


def accepted_if_reached(config: Speculative, passed: Sequence[bool]) -> list[bool]:
    """Return whether each drafted token is accepted once it is reached, from their `passed`."""
    return passed_blocks(passed) if config.acceptance == "block" else list(passed)


def _exact(
    row: int, token_id: int, draft_prob: float, target_prob: float, uniform: float, target: Rows
) -> Verification:
    """Verify by exact match: the target draws a token, and the drafted token passes if it is the
    same.

    With an empty row no token passes; nothing is drawn from it here, as the row may never be
    reached.
    """
    if target.is_empty(row):
        return Verification(draft_prob, target_prob, target_prob, uniform, False)
    drawn = target.draw(row, uniform)
    passed = drawn.token_id == token_id
    return Verification(
        draft_prob,
        target_prob,
        target_prob,
        uniform,
        passed,
        interval=drawn.interval if passed else None,
        instead=None if passed else drawn,
    )


def _typical(
    config: Speculative, pairs: Sequence[tuple[float, float]], target: Rows
) -> list[Verification]:
    verifications = []
    for (draft_prob, target_prob), entropy in zip(pairs, entropies(target), strict=False):
        threshold = typical_threshold(entropy, config.posterior_threshold, config.posterior_alpha)
        passed = target_prob > threshold
        verifications.append(
            Verification(draft_prob, target_prob, float(passed), None, passed, threshold=threshold)
        )
    return verifications


class EmittedByTarget(NamedTuple):
    """The token that the target adds, and the number that drew it."""

    drawn: Drawn
    uniform: float | None


def recovered(
    config: Speculative,
    verifications: Sequence[Verification],
    target: Rows,
    draft: Rows,
    row: int,
    noise: Noise,
) -> EmittedByTarget:
    """Return the token that replaces the rejected one of a row: a draw from the residual; in exact
    match the target's sample; in typical acceptance the target's most probable token (as in vLLM).

    Raises:
        DecodingError: no token is left.
    """
    if config.acceptance == "exact":
        verification = verifications[row]
        if verification.instead is None:
            raise DecodingError(NO_TOKEN)
        return EmittedByTarget(verification.instead, verification.uniform)
    if config.acceptance == "typical":
        return EmittedByTarget(_most_probable(target, row), None)
    uniform = noise(1)[0]
    weight = residual_weight([verification.block for verification in verifications], row)
    return EmittedByTarget(residual(target, draft, row, weight).draw(0, uniform), uniform)


def bonus(target: Rows, row: int, noise: Noise) -> EmittedByTarget:
    """Return the target's own token after a fully accepted round."""
    uniform = noise(1)[0]
    return EmittedByTarget(target.draw(row, uniform), uniform)


def _most_probable(target: Rows, row: int) -> Drawn:
    if target.is_empty(row):
        raise DecodingError(NO_TOKEN)
    if target.probs is None:
        return Drawn(target.only[row], 1.0, (0.0, 1.0))
    token_id = int(target.probs[row].argmax())
    return Drawn(token_id, float(target.probs[row, token_id]), (0.0, 1.0))
