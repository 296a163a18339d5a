"""Block verification of a chain (Sun et al. 2024, "Block Verification Accelerates Speculative
Decoding"): each token is judged with all before it; torch-free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..record.bounds import Prob


class BlockNumbers(NamedTuple):
    """Block verification's numbers at a drafted token (Sun et al. 2024).

    Args:
        prob: probability that the block up to this token is accepted: min(1, that of the token
            before * target_prob / draft_prob).
        excess: sum of max(0, prob * target - draft) at the next position; None at the last drafted
            token.
    """

    prob: Prob
    excess: Prob | None


def block_accept_prob(numbers: BlockNumbers) -> float:
    """Return the probability that the draft is accepted up to this token, if no later one passes.

    It is h_i of the paper's algorithm 2: excess / (excess + 1 - prob), and prob at the last token.
    """
    if numbers.excess is None or numbers.prob >= 1:
        return min(1.0, numbers.prob)
    return numbers.excess / (numbers.excess + 1 - numbers.prob)


def block_probs(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """Return the probability that the block up to each token is accepted.

    Args:
        pairs: (draft_prob, target_prob) of each drafted token.
    """
    probs, before = [], 1.0
    for draft_prob, target_prob in pairs:
        before = min(1.0, before * target_prob / draft_prob)
        probs.append(before)
    return probs


def passed_blocks(passed: Sequence[bool]) -> list[bool]:
    """Return whether each token is accepted: it or a later one passes."""
    last = max((at for at, passes in enumerate(passed) if passes), default=-1)
    return [at <= last for at in range(len(passed))]


def residual_weight(blocks: Sequence[BlockNumbers | None], row: int) -> float:
    """Return the target's factor in the residual after a rejection at `row`: the block's
    probability before it; 1 for other rules.
    """
    before = blocks[row - 1] if row else None
    return 1.0 if before is None else before.prob
