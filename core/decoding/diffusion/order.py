"""Order in which masked positions are filled, and the numbers that the seed gives each of them."""

from __future__ import annotations

from collections.abc import Sequence

from core.decoding.diffusion.config import Diffusion
from core.decoding.diffusion.types import OPEN_CANDIDATES, OpenCandidate, OpenPosition
from core.decoding.record.steps import TokenStep
from core.decoding.shaping.stage import named_uniform


def draw_uniform(config: Diffusion, step: int, position: int) -> float:
    """Return the uniform number in [0, 1) that draws a position's token at a step."""
    return named_uniform(config.seed, f"canvas {step}", position)


def chosen(opened: Sequence[OpenPosition], config: Diffusion) -> list[int]:
    """Return the positions that a step fills, by falling score, ties by position."""
    ordered = sorted(opened, key=lambda one: (-one.score, one.position))
    count = config.tokens_per_step
    if config.order == "entropy":
        count, shared = 0, 0.0
        while count < len(ordered) and shared <= config.entropy_bound:
            shared += ordered[count].entropy
            count += 1
    return [one.position for one in ordered[:count]]


def score(opened: OpenPosition, candidates: Sequence[OpenCandidate], config: Diffusion) -> float:
    """Return a position's place in the order: the highest come first.

    Args:
        candidates: its most probable tokens by rank.
    """
    if config.order == "confidence":
        return opened.prob
    if config.order == "margin":
        return candidates[0].prob - (candidates[1].prob if len(candidates) > 1 else 0.0)
    if config.order == "entropy":
        return -opened.entropy
    if config.order == "random":
        return named_uniform(config.seed, "order", opened.position)
    return -float(opened.position)


def candidates_of(step: TokenStep) -> tuple[OpenCandidate, ...]:
    """Return the most probable tokens at a position, from the step that proposes its token."""
    return tuple(
        OpenCandidate(step.index, c.token_id, c.text, c.raw_prob)
        for c in step.candidates[:OPEN_CANDIDATES]
        if c.rank <= OPEN_CANDIDATES
    )


def reading_of(step: TokenStep, config: Diffusion) -> OpenPosition:
    """Return a position's numbers, from the step that proposes its token; it stays masked."""
    token = step.chosen
    opened = OpenPosition(
        step.index, token.token_id, token.text, token.raw_prob, step.entropy, 0.0, False
    )
    return opened._replace(score=score(opened, candidates_of(step), config))
