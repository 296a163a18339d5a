"""The two running states of a transformers model: with a key-value cache, and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch

from core.decoding.protocol import TokenRows
from core.models.running.cache import GrowingCache
from core.models.running.inputs import InputLimits, check_branch
from core.models.running.rope import AnglesOfRun


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


class _Span(NamedTuple):
    """New tokens, the columns `[start, end)` of a table of ids, and what is asked of them.

    Args:
        keep: of how many last ones the logits are asked for; 0: of all.
        hidden: takes their hidden states in, `[rows, end - start, width]`.
    """

    table: list[list[int]]
    start: int
    end: int
    keep: int
    hidden: list[torch.Tensor] | None


class TransformersContext:
    """Base of both states; `logits` belongs to the last token, `[rows, vocab]`.

    Args:
        angles: what rotary embeddings do in this run, where they depend on its length.
    """

    rows: int
    length: int

    def __init__(
        self,
        forward: ForwardFunction,
        limits: InputLimits,
        device: torch.device,
        angles: AnglesOfRun | None = None,
    ) -> None:
        self._forward = forward
        self._limits = limits
        self._device = device
        self._angles = angles
        self._logits: torch.Tensor | None = None

    @property
    def logits(self) -> torch.Tensor:
        """Logits after the last token, `[rows, vocab]`, float32 on the CPU; read-only."""
        if self._logits is None:
            raise RuntimeError(
                "The context was rolled back or reordered; extend it to have logits again."
            )
        return self._logits

    @torch.inference_mode()
    def extend(
        self, ids: TokenRows, *, keep: int = 0, hidden: list[torch.Tensor] | None = None
    ) -> torch.Tensor:
        """Append ids `[rows, n]` (or n of them for one row); logits `[rows, n, vocab]`.

        Args:
            keep: limits the returned logits to the last so many positions.
            hidden: takes the hidden states of the new tokens in, `[rows, n, width]`.
        """
        table = self._limits.as_rows(ids, self.rows, self.length)
        if self._angles is None:
            logits = self._run(_Span(table, 0, len(table[0]), keep, hidden))
        else:
            logits = self._run_spans(self._angles, table, keep, hidden)
        self._append(table)
        last = logits[:, -1]
        # A copy where a view would keep the logits of many positions alive.
        self._logits = last if logits.shape[1] == 1 else last.clone()
        return logits

    def _run_spans(
        self,
        angles: AnglesOfRun,
        table: list[list[int]],
        keep: int,
        hidden: list[torch.Tensor] | None,
    ) -> torch.Tensor:
        """`_run` for each part that has the same angles, as far as its logits are asked for."""
        held, added = self.length, len(table[0])
        first = held if hidden is not None or not keep else held + added - keep
        parts, states = [], list[torch.Tensor]()
        for start, end in angles.spans(held, held + added):
            if end <= first:
                continue
            part_hidden: list[torch.Tensor] | None = None if hidden is None else []
            with angles.at(end):
                span = _Span(table, start - held, end - held, keep, part_hidden)
                parts.append(self._run(span))
            states += part_hidden or []
        if hidden is not None:
            hidden.append(torch.cat(states, dim=1))
        return torch.cat(parts, dim=1)[:, -keep:]

    def _run(self, new: _Span) -> torch.Tensor:
        """Run new tokens behind what comes before them; returns their logits."""
        raise NotImplementedError

    def _append(self, table: list[list[int]]) -> None:
        """Hold the tokens that have been run."""
        raise NotImplementedError

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """Append ids as `extend` does; the hidden states of the new tokens `[rows, n, width]`."""
        hidden: list[torch.Tensor] = []
        self.extend(ids, keep=1, hidden=hidden)
        return hidden[0]

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
        angles: AnglesOfRun | None = None,
    ) -> None:
        super().__init__(forward, limits, device, angles)
        self._cache = cache
        self.rows = 1
        self.length = 0
        # The ids, where the cache may have to be computed anew; and the angles of its keys.
        self._ids: list[list[int]] | None = [[]] if angles is not None and angles.anew else None
        self._cached_key: object = None

    @property
    def bytes_held(self) -> int:
        """Return the bytes of keys and values of the tokens held."""
        return self._cache.bytes_held

    def _run(self, new: _Span) -> torch.Tensor:
        try:
            if self._ids is None:
                ids = torch.tensor(new.table, device=self._device)
                return self._forward(ids, self._cache, new.keep, new.hidden)
            return self._run_anew(self._ids, new)
        except BaseException:
            self._cached_key = None
            self._cache.truncate(self.length)
            raise

    def _run_anew(self, held: list[list[int]], new: _Span) -> torch.Tensor:
        """Run what the cache doesn't hold with the angles of this length."""
        assert self._angles is not None
        key = self._angles.key(self.length + new.end)
        if key != self._cached_key:
            self._cache.truncate(0)
        begun, added = self._cache.get_seq_length(), new.end - new.start
        rows = [row[begun:] for row in _appended(held, new.table, new.end)]
        ids = torch.tensor(rows, device=self._device)
        logits = self._forward(ids, self._cache, added, new.hidden)
        if new.hidden:
            new.hidden[0] = new.hidden[0][:, -added:]
        self._cached_key = key
        return logits

    def _append(self, table: list[list[int]]) -> None:
        self.length += len(table[0])
        if self._ids is not None:
            self._ids = _appended(self._ids, table)

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        self._check_rollback(n, self.length)
        self.length -= n
        self._cache.truncate(self.length)
        if self._ids is not None:
            self._ids = [row[: self.length] for row in self._ids]

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> CachedContext:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        index = torch.tensor(list(rows), device=self._device)
        branched = CachedContext(
            self._forward, self._limits, self._device, self._cache.branch(index), self._angles
        )
        branched.rows, branched.length = len(index), self.length
        if self._logits is not None:
            branched._logits = self._logits[index.cpu()]
        if self._ids is not None:
            branched._ids = [self._ids[row] for row in rows]
            branched._cached_key = self._cached_key
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
        if self._ids is not None:
            self._ids = [self._ids[row] for row in rows]


class UncachedContext(TransformersContext):
    """Keeps the ids and runs the whole sequence at every `extend`."""

    def __init__(
        self,
        forward: ForwardFunction,
        limits: InputLimits,
        device: torch.device,
        angles: AnglesOfRun | None = None,
    ) -> None:
        super().__init__(forward, limits, device, angles)
        self._ids: list[list[int]] = [[]]

    @property
    def rows(self) -> int:  # type: ignore[override]
        """Number of sequences that the context holds."""
        return len(self._ids)

    @property
    def length(self) -> int:  # type: ignore[override]
        """Number of tokens that each row holds."""
        return len(self._ids[0])

    def _run(self, new: _Span) -> torch.Tensor:
        rows, added = _appended(self._ids, new.table, new.end), new.end - new.start
        sequence = torch.tensor(rows, device=self._device)
        logits = self._forward(sequence, None, min(new.keep, added) or added, new.hidden)
        if new.hidden:
            new.hidden[0] = new.hidden[0][:, -added:]
        return logits

    def _append(self, table: list[list[int]]) -> None:
        self._ids = _appended(self._ids, table)

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        self._check_rollback(n, self.length)
        self._ids = [row[: len(row) - n] for row in self._ids]

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> UncachedContext:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        branched = UncachedContext(self._forward, self._limits, self._device, self._angles)
        branched._ids = [self._ids[row] for row in rows]
        if self._logits is not None:
            branched._logits = self._logits[list(rows)]
        return branched

    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`."""
        check_branch(rows, self.rows)
        self._ids = [self._ids[row] for row in rows]
        self._logits = None


def _appended(
    held: Sequence[list[int]], table: Sequence[list[int]], end: int | None = None
) -> list[list[int]]:
    """New rows, since branches share the old ones; with the first `end` of the new columns."""
    return [row + new[:end] for row, new in zip(held, table, strict=True)]
