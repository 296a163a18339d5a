"""The embedded target's draft head as a model that drafts for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...decoding.errors import ModelError
from ...decoding.protocol import HiddenContext, OnLogits, TokenRows
from ...language import Message
from ..loading.folder import weights_digest
from ..running.limits import InputLimits, check_branch
from ..transformers_model import TransformersModel
from .layer import HeadLayer, KeysValues, read_head
from .states import StatesContext


class _Node(NamedTuple):
    """A node of a tree: the head's hidden state `[width]`, and all keys and values."""

    hidden: Tensor
    past: KeysValues


class HeadContext(StatesContext):
    """State of a head: its keys and values, and the target's hidden states if known.

    The hidden state before a new token is the target's if it is known, else the head's own.
    """

    def __init__(
        self, layer: HeadLayer, model: Any, limits: InputLimits, target: HiddenContext | None
    ) -> None:
        """Create an empty context.

        Args:
            model: transformers' model of the target, whose embedding and output head are used.
            target: runs along with the tokens, so that every hidden state is known.
        """
        self._own = torch.empty(0, layer.shape.hidden_size, dtype=model.dtype)
        super().__init__(limits, target, self._own)
        self._layer, self._model = layer, model
        self._embed, self._head = model.get_input_embeddings(), model.get_output_embeddings()
        self._past: KeysValues | None = None
        self._nodes: list[_Node] = []

    @property
    def length(self) -> int:
        """Number of tokens, those of a tree included."""
        return len(self._own) + len(self._nodes)

    @torch.inference_mode()
    def extend(self, ids: TokenRows) -> Tensor:
        """Append ids of the one row; return logits `[1, n, vocab]`."""
        row = self._limits.as_rows(ids, 1, self.length)[0]
        if self._target is not None:
            self.see(self._target.extend_hidden(row)[0])
        # Tokens behind known states run at once; each later one reads the one before it.
        known = min(len(row), max(0, len(self._known) + 1 - self.length))
        pieces = [row[:known], *([token] for token in row[known:])]
        logits = torch.cat([self._run(piece) for piece in pieces if piece], dim=1)
        self._logits = logits[:, -1]
        return logits

    def _run(self, ids: list[int]) -> Tensor:
        begin, end = self.length, self.length + len(ids)
        if self.read == begin and len(self._known) >= end - 1:
            self.read = end
        states = torch.cat([self._known, self._own[len(self._known) :]])
        states = torch.nn.functional.pad(states, (0, 0, 1, 0))[begin:end]
        device = self._model.device
        embedded = self._embed(torch.tensor([ids], device=device))
        positions = torch.arange(begin, end, device=device)[None]
        hidden, self._past = self._layer(states[None].to(device), embedded, positions, self._past)
        self._own = torch.cat([self._own, hidden[0].cpu()])
        logits: Tensor = self._head(hidden).to("cpu", torch.float32)
        return logits

    @torch.inference_mode()
    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        """Append nodes of one depth in one forward, a row each; return logits `[n, vocab]`.

        Args:
            parents: parent of each node among all nodes since the last `keep`; -1 for none.
            hidden: takes the head's own hidden states in, `[n, width]`.
        """
        assert self._past is not None
        line = _Node(self._own[-1], self._past)
        before = [self._nodes[at] if at >= 0 else line for at in parents]
        depths = {node.past.keys.shape[2] for node in before}
        if len(depths) > 1:
            raise ValueError("The nodes of one forward of a head must have one depth.")
        held, device = depths.pop(), self._model.device
        self._limits.as_rows([[token_id] for token_id in ids], len(ids), held)
        embedded = self._embed(torch.tensor(ids, device=device)[:, None])
        states = torch.stack([node.hidden for node in before])[:, None].to(device)
        pasts = zip(*(node.past for node in before), strict=True)
        positions = torch.full((len(ids), 1), held, device=device)
        own, past = self._layer(states, embedded, positions, KeysValues(*map(torch.cat, pasts)))
        rows = zip(own[:, 0].cpu(), past.keys.split(1), past.values.split(1), strict=True)
        self._nodes += [_Node(state, KeysValues(*of_row)) for state, *of_row in rows]
        if hidden is not None:
            hidden.append(own[:, 0].cpu())
        logits: Tensor = self._head(own)[:, 0].to("cpu", torch.float32)
        return logits

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
        self._own, self._logits = self._own[: self.length - n], None
        self.read = min(self.read, self.length)
        if self._past is not None:
            self._past = KeysValues(*(part[:, :, : self.length] for part in self._past))
        if self._target is not None:
            self._target.rollback(n)
            self.forget(self.length)

    def branch(self, rows: Sequence[int]) -> HeadContext:
        """Return a separate context.

        The branch of one that runs the target along drafts after the last token: the hidden state
        of that token isn't known.
        """
        check_branch(rows, 1)
        branched = HeadContext(self._layer, self._model, self._limits, None)
        last = self.length if self._target is None else max(0, self.length - 1)
        branched._known, branched._own = self._known[:last], self._own
        branched._past, branched._logits, branched.read = self._past, self._logits, self.read
        return branched


class DraftHead(TransformersModel):
    """A draft head with the target's embedding and output head."""

    def __init__(self, target: TransformersModel, layer: HeadLayer, **names: Any) -> None:
        """Create the model.

        Args:
            names: `model_id` and `revision` of the head.
        """
        super().__init__(target.hf_model, target.tokenizer, lay_out_weights=False, **names)
        self._target = target
        self._layer = layer.to(target.device, target.hf_model.dtype)

    @property
    def target_revision(self) -> str:
        """Digest of the weights that the head was trained on."""
        return self._target.revision

    def start(  # type: ignore[override]
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> HeadContext:
        """Run the target and the head over the prompt.

        Raises:
            PromptError: as `TransformersModel.start`.
        """
        ids = self._limits.as_rows(prompt_ids, 1, 0)[0]
        along = self._target.start(ids[:1], use_cache=use_cache)
        along.rollback(1)
        context = HeadContext(self._layer, self.hf_model, self._limits, along)
        logits = context.extend(ids)
        if on_logits:
            on_logits(0, logits[0])
        return context

    def in_dtype(self, dtype: str) -> DraftHead:
        """Return a copy with weights of another number type; the model itself for its own."""
        if dtype == self.dtype:
            return self
        target, layer = self._target.in_dtype(dtype), HeadLayer(self._layer.shape)
        layer.load_state_dict(self._layer.state_dict())
        return DraftHead(target, layer, model_id=self.model_id, revision=self.revision)


def load_head(folder: Path, target: TransformersModel, model_id: str) -> DraftHead:
    """Return the head of a folder.

    Raises:
        ModelError: the head was trained on another target.
    """
    layer, trained_on = read_head(folder)
    if trained_on != target.revision:
        raise ModelError(
            Message("{model} was trained on another target; train it again.", model=model_id)
        )
    return DraftHead(target, layer, model_id=model_id, revision=weights_digest(folder))
