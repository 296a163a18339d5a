"""Distributions of consecutive positions, which speculative decoding compares all at once.

The stages are those of `shaping`, on a batch of rows. One-hot rows of greedy decoding are stored as
token ids, so that nothing of the vocabulary's size is computed for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import N_
from ..constraints.grammar import grammars_of
from ..errors import DecodingError
from ..protocol import LanguageModel
from ..shaping.config import Shaping
from ..shaping.draws import place_by_uniform
from ..shaping.stages import NO_DISTRIBUTION
from ..shaping.step import StepShaper
from .config import Speculative

NO_TOKEN = N_(
    "No token is left: the penalties ban every token that the model can emit; lower "
    "no_repeat_ngram_size or min_new_tokens."
)


class Drawn(NamedTuple):
    """A token with its probability, and the interval of the uniform number that drew it."""

    token_id: int
    prob: float
    interval: tuple[float, float]


@dataclass(slots=True)
class Rows:
    """One distribution for each position.

    A row is empty if the penalties leave no token: its probabilities are all 0, or it is -1 in
    `only`. Such a row may follow a token that is never emitted, so it is an error only if a token
    is drawn from it.

    Args:
        probs: `[n, vocab]`; None if every row is one-hot.
        only: the token of each row, if all rows are one-hot.
    """

    probs: Tensor | None
    only: list[int]

    def __len__(self) -> int:
        return len(self.only) if self.probs is None else len(self.probs)

    def prob_of(self, token_ids: Sequence[int]) -> list[float]:
        """Return row i's probability of token i, for the first rows."""
        if self.probs is None:
            return [float(a == b) for a, b in zip(self.only, token_ids, strict=False)]
        if not token_ids:
            return []
        places = torch.arange(len(token_ids))
        values: list[float] = self.probs[places, torch.tensor(token_ids)].tolist()
        return values

    def at(self, row: int) -> Rows:
        """Return one row."""
        if self.probs is None:
            return Rows(None, self.only[row : row + 1])
        return Rows(self.probs[row : row + 1], [])

    def take(self, rows: Sequence[int]) -> Rows:
        """Return these rows, which may repeat."""
        if self.probs is None:
            return Rows(None, [self.only[row] for row in rows])
        return Rows(self.probs[list(rows)], [])

    def is_empty(self, row: int) -> bool:
        """Return whether no token is left."""
        if self.probs is None:
            return self.only[row] < 0
        return not bool(self.probs[row].any())

    def draw(self, row: int, uniform: float) -> Drawn:
        """Draw a token of a row by a uniform number, with the inverse CDF of `draws`.

        Raises:
            DecodingError: no token is left.
        """
        if self.is_empty(row):
            raise DecodingError(NO_TOKEN)
        if self.probs is None:
            return Drawn(self.only[row], 1.0, (0.0, 1.0))
        token_id, interval = place_by_uniform(self.probs[row], uniform)
        return Drawn(token_id, float(self.probs[row, token_id]), interval)


def join(parts: Sequence[Rows]) -> Rows:
    """Concatenate the rows of all parts, which are all one-hot or all not."""
    tensors = [part.probs for part in parts if part.probs is not None]
    if tensors:
        return Rows(torch.cat(tensors), [])
    return Rows(None, [token_id for part in parts for token_id in part.only])


def shaper_of(
    model: LanguageModel, config: Speculative, shaping: Shaping, *, draws: bool = True
) -> StepShaper:
    """Return the shaper of the target's or the draft's logits, over the target's tokens."""
    return StepShaper(
        shaping,
        draws=draws,
        min_new_tokens=config.min_new_tokens,
        eos_ids=model.eos_ids,
        seed=config.seed,
        token_bytes=model.token_bytes,
        grammars=partial(grammars_of, model),
    )


class PositionShaper:
    """Converts the logits of consecutive positions to their distributions.

    `allowed` is that of the `StepShaper` for the last logits.
    """

    def __init__(self, model: LanguageModel, config: Speculative, shaping: Shaping) -> None:
        self._shaper = shaper_of(model, config, shaping)
        self.allowed: Tensor | None = None
        # At temperature 0 every row is one-hot.
        self.draws = self._shaper.draws

    def __call__(self, logits: Tensor, ids: Sequence[int], index: int) -> Rows:
        """Return the final distributions.

        Args:
            logits: `[n, vocab]`.
            ids: prompt, generated and drafted tokens; the last row follows all of them, the row
                before it all but the last, and so on.
            index: index of the generated token that the first row gives.

        Raises:
            DecodingError: the logits are no distribution.
        """
        count, first = len(logits), len(ids) - len(logits) + 1
        histories = [ids[: first + row] for row in range(count)]
        return self.of(logits, histories, range(index, index + count))

    def of(self, logits: Tensor, ids: Sequence[Sequence[int]], indexes: Sequence[int]) -> Rows:
        """Return the final distribution of each row after its own tokens `ids`.

        Args:
            indexes: for each row, the index of the generated token that it gives.

        Raises:
            as a call.
        """
        shaped = self._shaper.rows(logits, ids, indexes)
        self.allowed = self._shaper.allowed
        if not self.draws:
            values, places = shaped.max(dim=-1)
            if not _all_finite(values):
                require_distributions(logits)
                places = places.where(torch.isfinite(values), -1)
            return Rows(None, places.tolist())
        probs = torch.softmax(shaped, dim=-1)
        if not _all_finite(probs[:, 0]):
            require_distributions(logits)
            probs = probs.nan_to_num(nan=0.0)
        return Rows(probs, [])


def _all_finite(values: Tensor) -> bool:
    return bool(torch.isfinite(values).all())


def require_distributions(logits: Tensor) -> None:
    """Raise DecodingError if a row of logits has no finite maximum."""
    if not _all_finite(logits.amax(dim=-1)):
        raise DecodingError(NO_DISTRIBUTION)


def residual_masses(target: Rows, draft: Rows) -> list[float]:
    """Return the sum of max(0, target - draft) over the vocabulary, for each row of the draft."""
    n = len(draft)
    if target.probs is None:
        tokens = [max(0, token_id) for token_id in target.only[:n]]
        pairs = zip(draft.prob_of(tokens), target.only, strict=False)
        return [1.0 - prob if token_id >= 0 else 0.0 for prob, token_id in pairs]
    if draft.probs is None:
        sums: list[float] = target.probs[:n].sum(dim=-1).tolist()
        drafted = target.prob_of(draft.only)
        return [max(0.0, total - prob) for total, prob in zip(sums, drafted, strict=True)]
    masses: list[float] = (target.probs[:n] - draft.probs).clamp_(min=0).sum(dim=-1).tolist()
    return masses


def residual(target: Rows, draft: Rows, row: int, weight: float = 1.0) -> Rows:
    """Return max(0, weight * target - draft), renormalised; the target itself if rounding leaves
    nothing.
    """
    if target.probs is None:
        return Rows(None, [target.only[row]])
    probs = target.probs[row]
    excess = _excess(probs, draft, row, weight)
    mass = excess.sum()
    return Rows((excess / mass if mass > 0 else probs)[None], [])


def _excess(probs: Tensor, draft: Rows, row: int, weight: float) -> Tensor:
    if draft.probs is not None:
        return (weight * probs - draft.probs[row]).clamp_(min=0)
    excess = weight * probs
    excess[draft.only[row]] = max(0.0, float(excess[draft.only[row]]) - 1.0)
    return excess


def excess_mass(target: Rows, draft: Rows, row: int, weight: float) -> float:
    """Return the sum of max(0, weight * target - draft) over the vocabulary."""
    if target.probs is not None:
        return float(_excess(target.probs[row], draft, row, weight).sum())
    token_id = target.only[row]
    if token_id < 0:
        return 0.0
    if draft.probs is None:
        drafted = float(draft.only[row] == token_id)
    else:
        drafted = float(draft.probs[row, token_id])
    return max(0.0, weight - drafted)


def entropies(rows: Rows) -> list[float]:
    """Return each row's entropy, in nats."""
    if rows.probs is None:
        return [0.0] * len(rows.only)
    values: list[float] = torch.special.entr(rows.probs).sum(dim=-1).clamp_(min=0).tolist()
    return values
