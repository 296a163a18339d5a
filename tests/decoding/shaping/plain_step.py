"""Shaping written out plainly: the reference that `StepShaper` must equal to the last bit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from core.decoding.shaping import filters
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.stage import StepContext

PENALTIES = ("logit_bias", "repetition_penalty", "no_repeat_ngram_size")
FILTERS = ("top_n_sigma", "top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
RUN_ORDER = (*PENALTIES, "min_new_tokens", "temperature", *FILTERS)
_OFF = Shaping()


class PlainShaper:
    """Whole rows through every act that is on, in an order."""

    def __init__(
        self,
        shaping: Shaping,
        *,
        draws: bool = True,
        held_back: Sequence[int] = (),
        keep: int = 1,
        order: Sequence[str] = RUN_ORDER,
    ) -> None:
        self._shaping, self._draws = shaping, draws and shaping.temperature > 0
        self._held_back, self._keep, self._order = held_back, keep, order

    def steps(self, logits: Tensor, ids: Sequence[int]) -> list[tuple[str, Tensor]]:
        """Each act's name with the `[vocab]` logits after it, the given ones first."""
        steps = [("raw", logits)]
        for name in self._order:
            if self._acts(name, len(ids)):
                steps.append((name, self._act(name, steps[-1][1], ids)))
        if not self._draws:
            last = steps[-1][1]
            only = torch.full_like(last, -math.inf)
            only[last.argmax()] = last.max()
            steps.append(("argmax", only))
        return steps

    def _acts(self, name: str, length: int) -> bool:
        if name == "min_new_tokens":
            return bool(self._held_back)
        value = getattr(self._shaping, name)
        if name == "no_repeat_ngram_size":
            return 0 < value <= length
        drawn = name == "temperature" or name in FILTERS
        return value != getattr(_OFF, name) and (self._draws or not drawn)

    def _act(self, name: str, logits: Tensor, ids: Sequence[int]) -> Tensor:
        if name == "min_new_tokens":
            return logits.index_fill(-1, torch.tensor(self._held_back), -math.inf)
        act, value = getattr(filters, name), getattr(self._shaping, name)
        return act(logits, value, StepContext(ids, min_tokens_to_keep=self._keep))
