"""Verification of siblings one after the other: recursive rejection sampling.

A rejected sibling leaves the residual of the target's distribution, against which the next one is
verified (SpecInfer, Miao et al. 2024; EAGLE, Li et al. 2024). With draws without replacement the
draft's distribution loses the drawn token too (Jeon et al. 2024); fixed candidates have probability
1. All three keep the target's distribution.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..config import Acceptance, Speculative
from ..distributions import Rows, residual


def compared_rows(
    target: Rows, draft: Rows, token_ids: Sequence[int], parents: Sequence[int], rule: Acceptance
) -> Rows:
    """Return the distribution that each drafted token is verified against.

    Args:
        target: the target's distribution at each drafted token's position.
        draft: distribution from which each token was drawn.
    """
    if target.probs is None:
        return target  # No rejection changes a one-hot row.
    rows: list[Tensor] = []
    for node, parent in enumerate(parents):
        first = node == 0 or parents[node - 1] != parent
        if first or rule == "typical":
            rows.append(target.probs[node])
        elif rule == "exact":
            rows.append(without(rows[-1], token_ids[node - 1]))
        else:
            left = residual(Rows(rows[-1][None], []), draft.at(node - 1), 0)
            assert left.probs is not None
            rows.append(left.probs[0])
    return Rows(torch.stack(rows), []) if rows else target


def remaining_rows(
    draft: Tensor, token_ids: Sequence[int], parents: Sequence[int], config: Speculative
) -> Tensor:
    """Return the distribution from which each drafted token was drawn, `[n, vocab]`.

    Args:
        draft: the draft's distribution at each drafted token's position.
    """
    if not config.draft_draws:
        ids = torch.tensor(token_ids, dtype=torch.long)
        return torch.nn.functional.one_hot(ids, draft.shape[-1]).to(draft.dtype)
    rows: list[Tensor] = []
    for node, parent in enumerate(parents):
        sibling = node > 0 and parents[node - 1] == parent
        if sibling and config.tree_picks == "without_replacement":
            rows.append(without(rows[-1], token_ids[node - 1]))
        else:
            rows.append(draft[node])
    return torch.stack(rows) if rows else draft[:0]


def without(probs: Tensor, token_id: int) -> Tensor:
    """Return the distribution without a token, renormalised; all 0 if nothing is left."""
    left = probs.clone()
    left[token_id] = 0.0
    mass = left.sum()
    return left / mass if mass > 0 else left
