"""The two running states of a transformers model: with a key-value cache, and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from core.decoding.protocol import TokenRows
from core.models.cache import GrowingCache
from core.models.inputs import InputLimits, check_branch


class ForwardFunction(Protocol):
    """Logits `[rows, keep, vocab]` of ids `[rows, n]`, float32 on the CPU; keep 0: all."""

    def __call__(
        self,
        ids: torch.Tensor,
        cache: GrowingCache | None,
        keep: int,
        hidden: list[torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Args: `hidden` takes the last layer's hidden states `[rows, n, width]` in."""
        ...


class TransformersContext:
    """What both states share; `logits` belongs to the last token, `[rows, vocab]`."""

    def __init__(self, forward: ForwardFunction, limits: InputLimits, device: torch.device) -> None:
        self._forward = forward
        self._limits = limits
        self._device = device
        self._logits: torch.Tensor | None = None

    @property
    def logits(self) -> torch.Tensor:
        """Logits after the last token, `[rows, vocab]`, float32 on the CPU; read-only."""
        if self._logits is None:
            raise RuntimeError(
                "The context was rolled back or reordered; extend it to have logits again."
            )
        return self._logits

    def extend(
        self, ids: TokenRows, *, keep: int = 0, hidden: list[torch.Tensor] | None = None
    ) -> torch.Tensor:
        """Append ids `[rows, n]` (or n of them for one row); logits `[rows, n, vocab]`.

        Args:
            keep: limits the returned logits to the last so many positions.
            hidden: takes the hidden states of the new tokens in, `[rows, n, width]`.
        """
        raise NotImplementedError

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """Append ids as `extend` does; the hidden states of the new tokens `[rows, n, width]`."""
        found: list[torch.Tensor] = []
        self.extend(ids, keep=1, hidden=found)
        return found[0]

    def _keep_last(self, logits: torch.Tensor) -> None:
        last = logits[:, -1]
        # A copy where a view would keep the logits of many positions alive.
        self._logits = last if logits.shape[1] == 1 else last.clone()

    def _check_rollback(self, n: int, length: int) -> None:
        if not 0 <= n <= length:
            raise ValueError(f"The context holds {length} tokens, {n} can't be rolled back.")
        if n:
            self._logits = None


class CachedContext(TransformersContext):
    """Runs only the new tokens; what came before is in the key-value cache."""

    def __init__(
        self,
        forward: ForwardFunction,
        limits: InputLimits,
        device: torch.device,
        cache: GrowingCache,
    ) -> None:
        super().__init__(forward, limits, device)
        self._cache = cache
        self.rows = 1
        self.length = 0

    @property
    def bytes_held(self) -> int:
        """Of keys and values of the tokens held."""
        return self._cache.bytes_held

    @torch.inference_mode()
    def extend(
        self, ids: TokenRows, *, keep: int = 0, hidden: list[torch.Tensor] | None = None
    ) -> torch.Tensor:
        table = self._limits.as_rows(ids, self.rows, self.length)
        try:
            logits = self._forward(
                torch.tensor(table, device=self._device), self._cache, keep, hidden
            )
        except BaseException:
            self._cache.truncate(self.length)
            raise
        self.length += len(table[0])
        self._keep_last(logits)
        return logits

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        self._check_rollback(n, self.length)
        self.length -= n
        self._cache.truncate(self.length)

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> CachedContext:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        index = torch.tensor(list(rows), device=self._device)
        branched = CachedContext(
            self._forward, self._limits, self._device, self._cache.branch(index)
        )
        branched.rows, branched.length = len(index), self.length
        if self._logits is not None:
            branched._logits = self._logits[index.cpu()]
        return branched

    @torch.inference_mode()
    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`; only rows that change are copied."""
        check_branch(rows, self.rows)
        if len(rows) == self.rows:
            self._cache.reorder(rows)
        else:
            self._cache = self._cache.branch(torch.tensor(list(rows), device=self._device))
        self.rows, self._logits = len(rows), None


class UncachedContext(TransformersContext):
    """Keeps the ids and runs the whole sequence at every `extend`."""

    def __init__(self, forward: ForwardFunction, limits: InputLimits, device: torch.device) -> None:
        super().__init__(forward, limits, device)
        self._ids: list[list[int]] = [[]]

    @property
    def rows(self) -> int:
        """How many sequences the context holds."""
        return len(self._ids)

    @property
    def length(self) -> int:
        """How many tokens each row holds."""
        return len(self._ids[0])

    @torch.inference_mode()
    def extend(
        self, ids: TokenRows, *, keep: int = 0, hidden: list[torch.Tensor] | None = None
    ) -> torch.Tensor:
        table = self._limits.as_rows(ids, self.rows, self.length)
        longer = [held + new for held, new in zip(self._ids, table, strict=True)]
        sequence = torch.tensor(longer, device=self._device)
        logits = self._forward(sequence, None, keep or len(table[0]), hidden)
        if hidden is not None:
            hidden[0] = hidden[0][:, -len(table[0]) :]
        self._ids = longer
        self._keep_last(logits)
        return logits

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        self._check_rollback(n, self.length)
        self._ids = [row[: len(row) - n] for row in self._ids]

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> UncachedContext:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        branched = UncachedContext(self._forward, self._limits, self._device)
        branched._ids = [list(self._ids[row]) for row in rows]
        if self._logits is not None:
            branched._logits = self._logits[list(rows)]
        return branched

    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`."""
        check_branch(rows, self.rows)
        self._ids = [list(self._ids[row]) for row in rows]
        self._logits = None
