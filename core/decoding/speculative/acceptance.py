"""Acceptance rules as arithmetic on plain numbers, and their exact effect on one token.

The engine, the checks and a page's table use the same functions; torch-free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...language import Message
from .config import Acceptance


def accept_probability(target_prob: float, draft_prob: float) -> float:
    """Return min(1, target_prob / draft_prob) (Leviathan et al. 2023; Chen et al. 2023).

    Args:
        draft_prob: above 0, as the draft proposed the token.
    """
    return 1.0 if target_prob >= draft_prob else target_prob / draft_prob


def typical_threshold(entropy: float, posterior_threshold: float, posterior_alpha: float) -> float:
    """Return the threshold of target_prob: min(epsilon, delta * exp(-entropy)) (Cai et al. 2024).

    Args:
        entropy: entropy of the target's shaped distribution, nats.
    """
    return min(posterior_threshold, posterior_alpha * math.exp(-entropy))


class TableRow(NamedTuple):
    """Probabilities of one token of the vocabulary in a round with one drafted token.

    Args:
        accept_prob: probability that the token is accepted if drafted.
        accepted: draft_prob * accept_prob, the probability that it is drafted and accepted.
        residual: probability that the token is drawn after a rejection.
        recovered: P(rejection) * residual, the unconditional probability.
        emitted: accepted + recovered, to compare with target_prob.
    """

    target_prob: float
    draft_prob: float
    accept_prob: float
    accepted: float
    residual: float
    recovered: float

    @property
    def emitted(self) -> float:
        return self.accepted + self.recovered


class AcceptanceTable(NamedTuple):
    """Exact outcome of one verification for every token of a small vocabulary.

    `rejected` is the probability that the drafted token is rejected.
    """

    rows: tuple[TableRow, ...]
    rejected: float

    @property
    def total_variation(self) -> float:
        """Total variation distance of emitted and target probabilities; 0 if the rule is
        lossless.
        """
        return sum(abs(row.emitted - row.target_prob) for row in self.rows) / 2


def acceptance_table(
    target_probs: Sequence[float],
    draft_probs: Sequence[float],
    acceptance: Acceptance = "speculative",
    posterior_threshold: float = 0.09,
    posterior_alpha: float = 0.3,
) -> AcceptanceTable:
    """Enumerate a rule's outcome over every token that the draft may propose.

    Args:
        target_probs: probabilities that sum to 1; `draft_probs` have the same length and sum.

    Raises:
        ValueError: lengths differ, a number is negative, or a sum is not 1.
    """
    _require_distributions(target_probs, draft_probs)
    entropy = -sum(p * math.log(p) for p in target_probs if p > 0)
    threshold = typical_threshold(entropy, posterior_threshold, posterior_alpha)
    pairs = list(zip(target_probs, draft_probs, strict=True))
    if acceptance == "speculative":
        accept = [accept_probability(t, d) if d > 0 else 1.0 for t, d in pairs]
        weights = [max(0.0, t - d) for t, d in pairs]
    elif acceptance == "exact":
        accept = list(target_probs)
        # The target's sample differs from the drafted token.
        weights = [t * (1 - d) for t, d in pairs]
    else:
        accept = [float(t > threshold) for t in target_probs]
        likeliest = max(range(len(pairs)), key=lambda at: target_probs[at])
        weights = [float(at == likeliest) for at in range(len(pairs))]
    rejected = sum(d * (1 - a) for (_, d), a in zip(pairs, accept, strict=True))
    total = sum(weights)
    residual = [w / total if rejected > 0 < total else 0.0 for w in weights]
    rows = (
        TableRow(t, d, a, d * a, r, rejected * r)
        for (t, d), a, r in zip(pairs, accept, residual, strict=True)
    )
    return AcceptanceTable(tuple(rows), rejected)


def _require_distributions(target_probs: Sequence[float], draft_probs: Sequence[float]) -> None:
    if len(target_probs) != len(draft_probs):
        raise ValueError(
            Message(
                "Both distributions must have one length, got {targets} and {drafts}.",
                targets=len(target_probs),
                drafts=len(draft_probs),
            )
        )
    for probs in (target_probs, draft_probs):
        if not all(p >= 0 for p in probs) or not math.isclose(sum(probs), 1, abs_tol=1e-6):
            raise ValueError(
                Message("A distribution must add up to 1, got {probs}.", probs=list(probs))
            )
