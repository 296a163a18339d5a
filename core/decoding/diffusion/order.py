"""Order in which masked positions are filled, and the numbers that the seed gives each of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ..record.steps import TokenStep
from ..shaping.stage import named_uniform
from .canvas import Slots
from .config import Diffusion
from .types import OPEN_CANDIDATES, OpenCandidate, OpenPosition


def draw_uniform(config: Diffusion, step: int, position: int) -> float:
    """Return the uniform number in [0, 1) that draws a position's token at a step."""
    return named_uniform(config.seed, f"canvas {step}", position)


def chosen(
    opened: Sequence[OpenPosition], config: Diffusion, *, settled: bool = False
) -> list[int]:
    """Return the positions that a step fills, by falling score, ties by position.

    Args:
        settled: whether the block is stable and confident: then the step fills all.
    """
    ordered = sorted(opened, key=lambda one: (-one.score, one.position))
    count = len(ordered) if settled else config.tokens_per_step
    if config.order == "entropy" and not settled:
        count, shared = 0, 0.0
        while count < len(ordered) and shared <= config.entropy_bound:
            shared += ordered[count].entropy
            count += 1
    return [one.position for one in ordered[:count]]


class FillChoice:
    """Rule of a run for the positions that a step fills and those that it masks again.

    It remembers the probability with which each token came, and the block's most probable tokens at
    the steps before.
    """

    def __init__(self, config: Diffusion) -> None:
        self._config, self._came, self._block = config, dict[int, float](), -1
        self._before = deque[dict[int, int]](maxlen=config.stability_threshold)

    def of(
        self,
        opened: Sequence[OpenPosition],
        candidates: Mapping[int, Sequence[OpenCandidate]],
        tokens: Slots,
    ) -> tuple[list[int], list[int]]:
        """Return the positions to fill, by falling score, and those to mask again, the least
        probable token first.

        Args:
            candidates: of each open position, by rank.
            tokens: the canvas before the step.
        """
        length = self._config.block_length
        first = opened[0].position // length * length
        if first != self._block:
            self._block, self._came = first, {}
            self._before.clear()
        draft = {at: token for at, token in enumerate(tokens[first : first + length], first)
                 if token is not None}  # fmt: skip
        draft |= {one.position: candidates[one.position][0].token_id for one in opened}
        settled = self._is_settled(opened, draft)
        self._before.append(draft)
        filled = chosen(opened, self._config, settled=settled)
        masked = []
        if len(filled) < len(opened):
            count = min(self._config.remask_per_step, len(filled) - 1)
            masked = sorted(self._came, key=lambda at: (self._came[at], at))[:count]
        probs = {one.position: one.prob for one in opened}
        self._came |= {at: probs[at] for at in filled}
        for at in masked:
            del self._came[at]
        return filled, masked

    def _is_settled(self, opened: Sequence[OpenPosition], draft: Mapping[int, int]) -> bool:
        """Return whether the block's most probable tokens are those of the steps before and their
        mean entropy is small (`StableAndConfidentStoppingCriteria` of transformers).
        """
        stable = len(self._before) == self._config.stability_threshold and all(
            before == draft for before in self._before
        )
        mean = sum(one.entropy for one in opened) / len(opened)
        return stable and mean < self._config.confidence_threshold


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
        for rank, c in enumerate(step.candidates[:OPEN_CANDIDATES], 1)
        if c.rank == rank
    )


def reading_of(step: TokenStep, config: Diffusion) -> OpenPosition:
    """Return a position's numbers, from the step that proposes its token; it stays masked."""
    token = step.chosen
    opened = OpenPosition(
        step.index, token.token_id, token.text, token.raw_prob, step.entropy, 0.0, False
    )
    return opened._replace(score=score(opened, candidates_of(step), config))
