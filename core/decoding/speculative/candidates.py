"""Candidates of a round: both models' most probable tokens at every position, read at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..protocol import LanguageModel
from .distributions import Rows
from .rounds import by_target
from .types import PairCandidate


class Position(NamedTuple):
    """A position to record; `draft_row` is None if the draft has no distribution there."""

    row: int
    draft_row: int | None
    tokens: tuple[int, ...]


def read_positions(
    model: LanguageModel,
    positions: Sequence[Position],
    logits: Tensor,
    target: Rows,
    draft_logits: Sequence[Tensor],
    draft: Rows,
    top_candidates: int,
) -> list[tuple[PairCandidate, ...]]:
    """Return, for each position, its own tokens and the `top_candidates` of either model.

    Args:
        logits: the target's logits, `[n, vocab]`.
        draft_logits: the draft's logits, `[vocab]` for each of its rows; empty for prompt lookup.
    """
    if not positions:
        return []
    count = min(top_candidates, logits.shape[-1])
    tops = torch.topk(logits, count)[1].tolist()
    drafted = torch.stack(list(draft_logits)) if draft_logits else None
    draft_tops = [] if drafted is None else torch.topk(drafted, count)[1].tolist()
    shown = [_shown(position, tops, draft_tops) for position in positions]
    rows = [p.row for p, ids in zip(positions, shown, strict=True) for _ in ids]
    token_ids = [token_id for ids in shown for token_id in ids]
    at = (torch.tensor(rows), torch.tensor(token_ids))
    raw = (logits[at] - torch.logsumexp(logits, -1)[at[0]]).exp().tolist()
    probs = _probs(target, rows, token_ids, at)
    # Rows that the draft lacks use its last row and are left out below.
    last = max(0, len(draft) - 1)
    draft_rows = [min(row, last) for row in rows]
    draft_at = (torch.tensor(draft_rows), at[1])
    draft_probs = _probs(draft, draft_rows, token_ids, draft_at) if len(draft) else raw
    draft_raw: list[float] | list[None] = [None] * len(rows)
    if drafted is not None:
        norms = torch.logsumexp(drafted, -1)[draft_at[0]]
        draft_raw = (drafted[draft_at] - norms).exp().tolist()
    text, candidates, start = model.token_text, [], 0
    for position, ids in zip(positions, shown, strict=True):
        end = start + len(ids)
        columns: list[Sequence[float | None]] = [draft_probs[start:end], draft_raw[start:end]]
        if position.draft_row is None:
            columns = [[None] * len(ids)] * 2
        own_probs, own_raw = probs[start:end], raw[start:end]
        pairs = map(PairCandidate, ids, map(text, ids), own_probs, columns[0], own_raw, columns[1])
        candidates.append(tuple(sorted(pairs, key=by_target)))
        start = end
    return candidates


def _shown(
    position: Position, tops: Sequence[list[int]], draft_tops: Sequence[list[int]]
) -> list[int]:
    """Return the tokens to show, each once."""
    ids = dict.fromkeys(tops[position.row])
    if position.draft_row is not None and draft_tops:
        ids.update(dict.fromkeys(draft_tops[position.draft_row]))
    ids.update(dict.fromkeys(position.tokens))
    return list(ids)


def _probs(
    rows: Rows, at_rows: Sequence[int], token_ids: Sequence[int], at: tuple[Tensor, Tensor]
) -> list[float]:
    if rows.probs is None:
        pairs = zip(at_rows, token_ids, strict=True)
        return [float(rows.only[row] == token_id) for row, token_id in pairs]
    values: list[float] = rows.probs[at].tolist()
    return values
