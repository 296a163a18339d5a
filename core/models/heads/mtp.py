"""A model's own multi-token-prediction (MTP) layers as a draft, each for one position.

Layer k reads, at every position p, the hidden state of layer k - 1 at p - 1 (of the target for
k = 0) and the embedding of token p; the target's output head gives the logits of token p + 1.
The layers and their masks are transformers' own (`MtpModel`), and the candidates those of its
`MTPCandidateGenerator`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor
from transformers.cache_utils import DynamicLayer, MtpCache

from ...decoding.protocol import HiddenContext, LanguageModel, OnLogits, TokenRows, Wrapped
from ..running.limits import InputLimits, check_branch
from .states import StatesContext


class _Node(NamedTuple):
    """A drafted token.

    Args:
        ids: drafted tokens down to it; layer `len(ids)` has read them.
        hidden: hidden states of that layer after each of them, `[len(ids), width]`.
    """

    ids: tuple[int, ...]
    hidden: Tensor


class MtpContext(StatesContext):
    """State of the MTP layers: their caches hold the tokens that follow known hidden states.

    Drafted tokens leave nothing behind in a cache: the layer of their depth reads them after the
    text, and is set back. The text is read when logits are asked for. No layer reads the first
    token, as no hidden state comes before it; its logits are 0.
    """

    def __init__(self, mtp: Any, limits: InputLimits, target: HiddenContext | None) -> None:
        """Create an empty context.

        Args:
            mtp: transformers' `MtpModel`.
        """
        self._mtp, self._place = mtp, mtp.shared_head.weight
        super().__init__(limits, target, torch.empty(0, mtp.config.hidden_size))
        self._ids: list[int] = []
        # Drafted tokens at the end of the ids: a chain, and a tree beside them.
        self._chain: list[_Node] = []
        self._nodes: list[_Node] = []
        self._clear()

    def _clear(self) -> None:
        """Forget what the layers have read."""
        self.read, self._cache = 0, MtpCache(config=self._mtp.config)
        self._cache.activate_past_recording()
        none = torch.empty(
            0, self._mtp.config.hidden_size, device=self._place.device, dtype=self._place.dtype
        )
        # Hidden states of each layer, a row for each token that was read.
        self._hidden = [none] * len(self._mtp.layers)

    @property
    def length(self) -> int:
        """Number of tokens, those of a tree included."""
        return len(self._ids) + len(self._nodes)

    @property
    def logits(self) -> Tensor:
        """Logits after the last token, `[1, vocab]`."""
        if self._logits is None and self._target is not None:
            self._read()
            self._logits = self._logits_of(self._hidden[0][-1:])
        return super().logits

    @torch.inference_mode()
    def extend(self, ids: TokenRows) -> Tensor:
        """Append ids of the one row; return logits `[1, n, vocab]`."""
        row = self._limits.as_rows(ids, 1, self.length)[0]
        known = self._append(row)
        self._read()
        parts = [self._logits_of(self._hidden[0][-known:])] if known else []
        for token_id in row[known:]:
            self._chain.append(self._after(self._chain[-1] if self._chain else None, token_id))
            parts.append(self._logits_of(self._chain[-1].hidden[-1:]))
        logits = torch.cat(parts)[None]
        self._logits = logits[:, -1]
        return logits

    def _append(self, row: list[int]) -> int:
        """Append tokens; return how many of them follow known hidden states."""
        if self._target is not None:
            self.see(self._target.extend_hidden(row)[0])
        room = 0 if self._chain else max(0, len(self._known) + 1 - len(self._ids))
        known = min(len(row), room)
        self._ids, self._logits = [*self._ids, *row], None
        return known

    @torch.inference_mode()
    def _read(self) -> None:
        """Run every layer over the tokens that follow known hidden states."""
        begin, end = self.read, min(len(self._ids), len(self._known) + 1)
        if self._chain or begin >= end:
            return
        before = self._known.to(self._place)
        for layer, held in enumerate(self._hidden):
            first = min(max(begin, layer + 1), end)
            rows = [held, held.new_zeros(first - begin, held.shape[1])]
            if first < end:
                if self._cache.get_seq_length(layer):
                    self._cache.layers[layer].crop(0)
                ids = self._ids[first:end]
                rows.append(self._run(layer, before[first - 1 : end - 1], ids, first))
            before = self._hidden[layer] = torch.cat(rows)
        self.read = end

    def _run(self, layer: int, before: Tensor, ids: Sequence[int], first: int) -> Tensor:
        """Return a layer's hidden states `[n, width]` of the tokens at `first` and after it."""
        device = self._place.device
        positions = torch.arange(first, first + len(ids), device=device)[None]
        table = torch.tensor([list(ids)], device=device)
        hidden: Tensor = self._mtp.forward_layer(
            layer, before[None], positions, self._cache, input_ids=table
        )[0]
        return hidden

    def _after(self, parent: _Node | None, token_id: int) -> _Node:
        """Return the node of a token after a node, or after the text."""
        path = () if parent is None else parent.ids
        ids, end = (*path, token_id), self.read
        depth, before = len(ids), self._hidden[len(path)][end - 1 :]
        if parent is not None:
            before = torch.cat([before, parent.hidden])
        # A layer begins at the position after its number.
        skipped = max(0, depth + 1 - end)
        held = self._cache.layers[depth]
        kept = None if isinstance(held, DynamicLayer) else deepcopy(held)
        if self._cache.get_seq_length(depth):
            held.crop(0)
        hidden = self._run(depth, before[skipped:], ids[skipped:], end + skipped)
        if kept is None:
            held.crop(skipped - depth)
        else:
            self._cache.layers[depth] = kept
        return _Node(ids, torch.cat([hidden.new_zeros(skipped, hidden.shape[1]), hidden]))

    @torch.inference_mode()
    def _logits_of(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self._mtp._project_to_logits(hidden)
        return logits.to("cpu", torch.float32)

    @torch.inference_mode()
    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        """Append nodes, each by a forward of the layer of its depth; return logits `[n, vocab]`.

        Args:
            parents: parent of each node among all nodes since the last `keep`; -1 for none.
            hidden: takes the layers' hidden states in, `[n, width]`.
        """
        self._limits.as_rows([[token_id] for token_id in ids], len(ids), len(self._ids))
        new = []
        for token_id, parent in zip(ids, parents, strict=True):
            node = self._after(self._nodes[parent] if parent >= 0 else None, token_id)
            self._nodes.append(node)
            new.append(node.hidden[-1])
        states = torch.stack(new)
        if hidden is not None:
            hidden.append(states.to("cpu", torch.float32))
        return self._logits_of(states)

    def keep(self, nodes: Sequence[int]) -> None:
        """Remove the tree: tokens that the target accepts are read again, with its states."""
        if nodes:
            raise ValueError("A head keeps no node of a tree.")
        self._nodes = []

    def rollback(self, n: int) -> None:
        """Remove the last n tokens."""
        if not 0 <= n <= self.length:
            raise ValueError(f"The context holds {self.length} tokens, {n} can't be rolled back.")
        if n == 0:
            return
        self._ids, self._logits = self._ids[: self.length - n], None
        del self._chain[max(0, len(self._chain) - n) :]
        if self.read > self.length:
            self._clear()
        if self._target is not None:
            self._target.rollback(n)
            self.forget(self.length)

    def branch(self, rows: Sequence[int]) -> MtpContext:
        """Return a separate context, which reads the text itself.

        The branch of one that runs the target along drafts after the last token: the hidden state
        of that token isn't known, and it is not read yet.
        """
        check_branch(rows, 1)
        branched = MtpContext(self._mtp, self._limits, None)
        last = self.length if self._target is None else max(0, self.length - 1)
        branched._ids, branched._known = self._ids[:last], self._known[:last]
        branched._read()
        branched._ids, branched._logits = self._ids, self._logits
        return branched


class MtpHead(Wrapped):
    """A model's own MTP layers as a model that drafts for it."""

    def __init__(self, target: LanguageModel, mtp: Any) -> None:
        super().__init__(target)
        self._mtp = mtp

    @property
    def target_revision(self) -> str:
        """Digest of the weights, which are the target's."""
        return str(self._inner.revision)

    @property
    def layers_ahead(self) -> int:
        """Number of tokens that a draft has at most: the number of layers."""
        return len(self._mtp.layers)

    def reach(self, length: int) -> int:
        """Return the number of tokens that can be drafted after a text of `length` tokens."""
        return self.layers_ahead if length > 1 else 0

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> MtpContext:
        """Run the target over the prompt; the layers read it when logits are asked for.

        Raises:
            PromptError: as `TransformersModel.start`.
        """
        limits = InputLimits(self._inner.vocab_size, self._inner.context_window)
        ids = limits.as_rows(prompt_ids, 1, 0)[0]
        along = self._inner.start(ids[:1], use_cache=use_cache)
        along.rollback(1)
        context = MtpContext(self._mtp, limits, cast(HiddenContext, along))
        if on_logits is None:
            context._append(ids)
        else:
            on_logits(0, context.extend(ids)[0])
        return context
