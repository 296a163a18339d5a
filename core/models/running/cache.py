"""A key-value cache with room to grow: appending copies what is new, rollback copies nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from transformers import DynamicCache, PreTrainedConfig
from transformers.cache_utils import DummyLayer, DynamicLayer, get_layer_types_and_kwargs

HEADROOM = 64  # Tokens; the least that a buffer is made longer than what it holds.

_ATTENTION_LAYERS = frozenset({"full_attention", "sliding_attention", "chunked_attention", "dummy"})


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """One layer's keys and values `[rows, heads, length, head_dim]`, in buffers that double.

    A sliding-window layer keeps all positions too (the model's mask hides the old ones): forgotten
    positions could not come back at a rollback.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_initialized = False
        self.length = 0
        # All rows hold the same up to here: they were one row when they were so long.
        self.shared = 0
        self._key_buffer = torch.empty(0)
        self._value_buffer = torch.empty(0)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append `[rows, heads, n, head_dim]` and return all keys and values."""
        start, added = self.length, key_states.shape[-2]
        self.length = start + added
        if not self.is_initialized or self.length > self._key_buffer.shape[-2]:
            capacity, held = self.length + HEADROOM, (key_states, value_states)
            if self.is_initialized:
                capacity, held = capacity + self.length, (self._key_buffer, self._value_buffer)
            self._key_buffer, self._value_buffer = (
                buffer.new_empty((*buffer.shape[:-2], capacity, buffer.shape[-1]))
                for buffer in held
            )
            self._key_buffer.narrow(-2, 0, start).copy_(held[0].narrow(-2, 0, start))
            self._value_buffer.narrow(-2, 0, start).copy_(held[1].narrow(-2, 0, start))
            self.is_initialized = True
        self._key_buffer.narrow(-2, start, added).copy_(key_states)
        self._value_buffer.narrow(-2, start, added).copy_(value_states)
        self.keys = self._key_buffer.narrow(-2, 0, self.length)
        self.values = self._value_buffer.narrow(-2, 0, self.length)
        return self.keys, self.values

    def append(
        self, key_states: torch.Tensor, value_states: torch.Tensor, place: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`update` by one token, a third as long.

        Args:
            place: `[1]`, how many tokens are held.
        """
        if not self.is_initialized or self.length == self._key_buffer.shape[-2]:
            return self.update(key_states, value_states)
        self.length += 1
        self._key_buffer.index_copy_(-2, place, key_states)
        self._value_buffer.index_copy_(-2, place, value_states)
        self.keys = self._key_buffer.narrow(-2, 0, self.length)
        self.values = self._value_buffer.narrow(-2, 0, self.length)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        """Tokens held."""
        return self.length

    def truncate(self, length: int) -> None:
        """Forget what lies behind the first `length` tokens; its place is written over later."""
        self.length = min(self.length, length)
        self.shared = min(self.shared, length)

    def keep(self, start: int, places: torch.Tensor) -> None:
        """Forget all tokens from `start` on but those at `places`, which close up."""
        if self.is_initialized:
            for buffer in (self._key_buffer, self._value_buffer):
                kept = buffer.index_select(-2, places)
                buffer.narrow(-2, start, len(places)).copy_(kept)
        self.truncate(start + len(places))

    def branch(self, rows: torch.Tensor) -> GrowingLayer:
        """A layer of its own whose row i is this one's row `rows[i]`."""
        layer = GrowingLayer()
        if not self.is_initialized:
            return layer
        layer.length = self.length
        layer.shared = self.length if len(self._key_buffer) == 1 else self.shared
        layer._key_buffer = _select_into(self._key_buffer, rows, self.length)
        layer._value_buffer = _select_into(self._value_buffer, rows, self.length)
        layer.is_initialized = True
        return layer

    def reorder(self, targets: Sequence[int], sources: Sequence[int]) -> None:
        """Row `targets[i]` becomes what row `sources[i]` was; in place."""
        if self.length > self.shared:
            device = self._key_buffer.device
            to, by = torch.tensor(targets, device=device), torch.tensor(sources, device=device)
            for buffer in (self._key_buffer, self._value_buffer):
                tail = buffer.narrow(-2, self.shared, self.length - self.shared)
                # The sources are gathered before any target is written.
                tail.index_copy_(0, to, tail.index_select(0, by))


def _select_into(buffer: torch.Tensor, rows: torch.Tensor, length: int) -> torch.Tensor:
    shape = (len(rows), *buffer.shape[1:-2], length + HEADROOM, buffer.shape[-1])
    selected = buffer.new_empty(shape)
    torch.index_select(buffer.narrow(-2, 0, length), 0, rows, out=selected.narrow(-2, 0, length))
    return selected


class GrowingCache(DynamicCache):  # type: ignore[misc]
    """A `DynamicCache` of `GrowingLayer`s, whatever the config says about sliding windows."""

    def __init__(self, layer_types: list[str]) -> None:
        super().__init__()
        # A full list rather than a class to replicate: layers without attention must be known,
        # or the model would read the length of the sequence from one of them.
        self.layer_class_to_replicate = None
        self.layers = [DummyLayer() if kind == "dummy" else GrowingLayer() for kind in layer_types]

    @property
    def bytes_held(self) -> int:
        """Return the bytes of keys and values of the tokens held, without the room to grow."""
        held = (layer for layer in self.layers if isinstance(layer, GrowingLayer) and layer.length)
        return sum(layer.keys.nbytes + layer.values.nbytes for layer in held)

    def truncate(self, length: int) -> None:
        """Keep the first `length` tokens of every row."""
        for layer in self.layers:
            if isinstance(layer, GrowingLayer):
                layer.truncate(length)

    def keep(self, start: int, places: Sequence[int]) -> None:
        """Keep of the tokens from `start` on only those at `places`, in every row."""
        if list(places) == list(range(start, start + len(places))):
            self.truncate(start + len(places))
            return
        for layer in self.layers:
            if isinstance(layer, GrowingLayer):
                layer.keep(start, torch.tensor(places, device=layer._key_buffer.device))

    def branch(self, rows: torch.Tensor) -> GrowingCache:
        """A cache of its own whose row i is this one's row `rows[i]`."""
        cache = GrowingCache([])
        cache.layers = [
            layer.branch(rows) if isinstance(layer, GrowingLayer) else layer
            for layer in self.layers
        ]
        return cache

    def reorder(self, rows: Sequence[int]) -> None:
        """Row i becomes what row `rows[i]` was, one for each row held; in place."""
        targets = [row for row, source in enumerate(rows) if row != source]
        if not targets:
            return
        sources = [rows[row] for row in targets]
        for layer in self.layers:
            if isinstance(layer, GrowingLayer) and layer.is_initialized:
                layer.reorder(targets, sources)


def attention_layer_types(config: PreTrainedConfig) -> list[str] | None:
    """The kind of every layer, or None where one keeps a state that can't be rolled back."""
    try:
        kinds, _ = get_layer_types_and_kwargs(config.get_text_config(decoder=True))
    except (AttributeError, TypeError, ValueError):
        return None
    return kinds if _ATTENTION_LAYERS.issuperset(kinds) else None


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
