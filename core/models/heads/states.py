"""The target's hidden states that a head has been given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ...decoding.protocol import HiddenContext
from ..running.limits import InputLimits, check_branch


class StatesContext:
    """Base of a head's contexts: one row, and the target's hidden states of its first tokens.

    Args:
        target: runs along with the tokens, so that every hidden state is known; None otherwise.
        known: `[n, width]`, the target's hidden states of the first n tokens.
    """

    rows = 1

    def __init__(self, limits: InputLimits, target: HiddenContext | None, known: Tensor) -> None:
        self._limits, self._target, self._known = limits, target, known
        self._logits: Tensor | None = None
        # Number of first tokens that were read with the target's hidden states.
        self.read = 0

    @property
    def logits(self) -> Tensor:
        """Logits after the last token, `[1, vocab]`."""
        if self._logits is None:
            raise RuntimeError("The context was rolled back; extend it to have logits again.")
        return self._logits

    def see(self, hidden: Tensor) -> None:
        """Take in the target's hidden states `[n, width]` of the tokens after the known ones."""
        self._known = torch.cat([self._known, hidden.to(self._known.dtype)])

    def forget(self, length: int) -> None:
        """Keep the target's hidden states of the first `length` tokens only."""
        self._known = self._known[:length]

    def reorder(self, rows: Sequence[int]) -> None:
        """Check that the one row stays."""
        check_branch(rows, 1)
