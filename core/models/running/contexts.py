"""The two running states of a transformers model: with a key-value cache, and without."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Self, cast

import torch

from ...decoding.protocol import TokenRows
from .cache import ForwardFunction, GrowingCache
from .limits import InputLimits, check_branch
from .rope import AnglesOfRun
from .tree import TreeForwardFunction, TreeInput, require_path, tree_input


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


class _Nodes(NamedTuple):
    """New nodes of a tree behind `line` tokens, with the parents of all its nodes.

    Args:
        hidden: takes their hidden states in, `[1, n or more, width]`.
    """

    ids: list[int]
    tree: TreeInput
    line: int
    parents: tuple[int, ...]
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
        # Parents of the tree of tokens that waits for `keep`.
        self._parents: tuple[int, ...] = ()
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
        self._require_line()
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

    @torch.inference_mode()
    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[torch.Tensor] | None = None,
    ) -> torch.Tensor:
        """Append nodes of a tree to the one row; return the logits after each, `[n, vocab]`.

        Args:
            parents: parent of each node among all nodes since the last `keep`; -1 for none.
            hidden: takes their hidden states in, `[n, width]`.

        Raises:
            PromptError: as `extend`.
        """
        held, line = len(self._parents), self.length - len(self._parents)
        whole = (*self._parents, *parents)
        tree = tree_input(line, whole, held, self._device)
        end = int(tree.positions.max()) + 1
        table = self._limits.as_rows(ids, self.rows, end - len(ids))
        states: list[torch.Tensor] | None = None if hidden is None else []
        logits = self._run_tree(_Nodes(table[0], tree, line, whole, states))
        if hidden is not None and states:
            hidden.append(states[0][0, -len(ids) :])
        self.length, self._parents, self._logits = self.length + len(ids), whole, None
        if self._ids is not None:
            self._ids = _appended(self._ids, table)
        return logits

    def _run_tree(self, new: _Nodes) -> torch.Tensor:
        """Run new nodes behind the tokens and the nodes before them; return their logits."""
        raise NotImplementedError

    @property
    def _forward_tree(self) -> TreeForwardFunction:
        return cast(TreeForwardFunction, self._forward)

    def keep(self, nodes: Sequence[int]) -> None:
        """Forget the tree but for a path of it, which goes on from the tokens before."""
        require_path(self._parents, nodes)
        line = self.length - len(self._parents)
        if self._ids is not None:
            self._ids = [[*row[:line], *(row[line + node] for node in nodes)] for row in self._ids]
        self.length, self._parents, self._logits = line + len(nodes), (), None

    def _require_line(self) -> None:
        if self._parents:
            raise ValueError("The context holds a tree: keep a path of it first.")

    def rollback(self, n: int) -> None:
        """Forget the last n tokens of every row."""
        self._require_line()
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

    def _run_tree(self, new: _Nodes) -> torch.Tensor:
        try:
            table = torch.tensor([new.ids], device=self._device)
            return self._forward_tree(table, self._cache, 0, new.hidden, new.tree)[0]
        except BaseException:
            self._cache.truncate(self.length)
            raise

    @torch.inference_mode()
    def keep(self, nodes: Sequence[int]) -> None:
        """Forget the tree but for a path of it, whose keys and values close up in the cache."""
        line = self.length - len(self._parents)
        super().keep(nodes)
        self._cache.keep(line, [line + node for node in nodes])

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

    def _run_tree(self, new: _Nodes) -> torch.Tensor:
        assert self._ids is not None
        # All tokens as one tree, in which those before it are a chain.
        line = new.line
        behind = (line - 1 if parent < 0 else line + parent for parent in new.parents)
        tree = tree_input(0, [*range(-1, line - 1), *behind], 0, self._device)
        sequence = torch.tensor([[*self._ids[0], *new.ids]], device=self._device)
        return self._forward_tree(sequence, None, len(new.ids), new.hidden, tree)[0]


def _appended(
    held: Sequence[list[int]], table: Sequence[list[int]], end: int | None = None
) -> list[list[int]]:
    """New rows, since branches share the old ones; with the first `end` of the new columns."""
    return [row + new[:end] for row, new in zip(held, table, strict=True)]
