"""The two running states of a transformers model: with a key-value cache, and without."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self, cast

import torch

from ...decoding.errors import PromptError
from ...decoding.protocol import TokenRows
from .cache import GrowingCache
from .rope import AnglesOfRun


@dataclass(frozen=True, slots=True)
class InputLimits:
    """Vocabulary and window of a model, which bound its input."""

    vocab_size: int
    window: int | None

    def as_rows(self, ids: TokenRows, rows: int, length: int) -> list[list[int]]:
        """Return ids as `rows` lists of equal length; a flat list is one row.

        Args:
            length: of the text that they follow, in tokens.

        Raises:
            PromptError: no token, an id outside the vocabulary, or too many tokens.
            ValueError: the shape is not `[rows, n]`.
        """
        nested = len(ids) > 0 and isinstance(ids[0], Sequence)
        table = [list(row) for row in cast("Sequence[Sequence[int]]", ids if nested else [ids])]
        width = len(table[0]) if table else 0
        if width == 0:
            raise PromptError("There is no token to process; give at least one token id.")
        if len(table) != rows or any(len(row) != width for row in table):
            shape = [len(row) for row in table]
            raise ValueError(f"A context of {rows} rows takes as many equal rows, got {shape}.")
        for row in table:
            if min(row) < 0 or max(row) >= self.vocab_size:
                stray = next(token_id for token_id in row if not 0 <= token_id < self.vocab_size)
                raise PromptError(
                    f"Token ids must lie in [0, {self.vocab_size - 1}], got {stray}; "
                    "use ids of this model's own tokenizer."
                )
        if self.window is not None and length + width > self.window:
            raise PromptError(
                f"The model's context window holds {self.window} tokens, {length + width} were "
                "asked for; shorten the prompt or generate fewer tokens."
            )
        return table


def check_branch(rows: Sequence[int], held: int) -> None:
    """Raises ValueError unless every entry names one of the `held` rows."""
    if len(rows) == 0 or min(rows) < 0 or max(rows) >= held:
        raise ValueError(f"A context of {held} rows can't branch into rows {list(rows)}.")


class ForwardFunction(Protocol):
    """Function from ids `[rows, n]` to logits `[rows, keep, vocab]`, float32 on the CPU.

    `keep` is the number of last positions; 0 means all `n`.
    """

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
    """Base of `CachedContext` and `UncachedContext`; `logits` are the last token's `[rows, vocab]`.

    Args:
        angles: rotary angles, if they depend on the length of the run.
        ids: tokens of each row, if they may have to be computed again.
    """

    def __init__(
        self,
        forward: ForwardFunction,
        limits: InputLimits,
        device: torch.device,
        angles: AnglesOfRun | None,
        ids: list[list[int]] | None,
    ) -> None:
        self._forward = forward
        self._limits = limits
        self._device = device
        self._angles = angles
        self.rows = 1
        self.length = 0
        self._ids = ids
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
        self.length += len(table[0])
        if self._ids is not None:
            self._ids = _appended(self._ids, table)
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

    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        """Append ids as `extend` does; the hidden states of the new tokens `[rows, n, width]`."""
        hidden: list[torch.Tensor] = []
        self.extend(ids, keep=1, hidden=hidden)
        return hidden[0]

    def extend_both(self, ids: TokenRows) -> tuple[torch.Tensor, torch.Tensor]:
        """Append ids; return logits and hidden states of the new tokens."""
        hidden: list[torch.Tensor] = []
        return self.extend(ids, hidden=hidden), hidden[0]

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        if not 0 <= n <= self.length:
            raise ValueError(f"The context holds {self.length} tokens, {n} can't be rolled back.")
        if n:
            self._logits = None
        self.length -= n
        if self._ids is not None:
            self._ids = [row[: self.length] for row in self._ids]

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> Self:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        check_branch(rows, self.rows)
        branched = copy(self)
        branched.rows = len(rows)
        if self._logits is not None:
            branched._logits = self._logits[list(rows)]
        if self._ids is not None:
            branched._ids = [self._ids[row] for row in rows]
        return branched

    @torch.inference_mode()
    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`."""
        check_branch(rows, self.rows)
        self.rows, self._logits = len(rows), None
        if self._ids is not None:
            self._ids = [self._ids[row] for row in rows]


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
        anew = angles is not None and angles.anew
        super().__init__(forward, limits, device, angles, [[]] if anew else None)
        self._cache = cache
        # The angles of the cache's keys, where it may have to be computed anew.
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

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        super().rollback(n)
        self._cache.truncate(self.length)

    @torch.inference_mode()
    def branch(self, rows: Sequence[int]) -> Self:
        """A context of its own whose row i continues this one's row `rows[i]`."""
        branched = super().branch(rows)
        branched._cache = self._cache.branch(torch.tensor(list(rows), device=self._device))
        return branched

    @torch.inference_mode()
    def reorder(self, rows: Sequence[int]) -> None:
        """Row i now continues what was row `rows[i]`; only rows that change are copied."""
        held = self.rows
        super().reorder(rows)
        if len(rows) == held:
            self._cache.reorder(rows)
        else:
            self._cache = self._cache.branch(torch.tensor(list(rows), device=self._device))


class UncachedContext(TransformersContext):
    """Keeps the ids and runs the whole sequence at every `extend`."""

    def __init__(
        self,
        forward: ForwardFunction,
        limits: InputLimits,
        device: torch.device,
        angles: AnglesOfRun | None = None,
    ) -> None:
        super().__init__(forward, limits, device, angles, [[]])

    def _run(self, new: _Span) -> torch.Tensor:
        assert self._ids is not None
        rows, added = _appended(self._ids, new.table, new.end), new.end - new.start
        sequence = torch.tensor(rows, device=self._device)
        logits = self._forward(sequence, None, min(new.keep, added) or added, new.hidden)
        if new.hidden:
            new.hidden[0] = new.hidden[0][:, -added:]
        return logits


def _appended(
    held: Sequence[list[int]], table: Sequence[list[int]], end: int | None = None
) -> list[list[int]]:
    """New rows, since branches share the old ones; with the first `end` of the new columns."""
    return [row + new[:end] for row, new in zip(held, table, strict=True)]
