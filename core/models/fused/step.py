"""Short steps of Llama-like models with a third of the Python: the same numbers, sooner.

A step of a few tokens through transformers spends most of its time between the matrix products. For
the architectures of `families` the step is written out: query, key and value (and gate and up)
share a product, residuals are added by it. Everything else (prompts, other models, texts longer
than a sliding window) goes through transformers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from core.models.cache import GrowingCache
from core.models.fused.families import FAMILIES
from core.models.fused.layer import Layer, Norm, first_of, matrix_of, norm_of
from core.models.fused.one_token import OneToken

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu2": lambda hidden: F.relu(hidden).square_(),
}
# A whole draft of the greatest length, and the token before it.
MOST_TOKENS = 65


def activation_of(config: Any) -> str:
    """transformers' name of the function between the products of a feed-forward network."""
    names = ("hidden_activation", "hidden_act", "activation_function")
    return str(next(found for name in names if (found := getattr(config, name, None))))


class FusedStep:
    """The forward of a few tokens of every row, behind tokens that are in the cache."""

    def __init__(self, model: Any, layer_types: list[str]) -> None:
        config, body = model.config, model.base_model
        self._family = FAMILIES[type(model).__name__]
        embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
        self.embedding = embedding.weight
        self._embedding_scale = float(
            getattr(embedding, "embed_scale", getattr(body, "embedding_multiplier", 1.0))
        )
        self._positions = body.wpe.weight if hasattr(body, "wpe") else None
        layers = first_of(body, "layers", "h")
        eps = getattr(config, "rms_norm_eps", 0.0)
        pairs = zip(layers, layer_types, strict=True)
        self.layers = [Layer(layer, self._family, kind, eps) for layer, kind in pairs]
        last = first_of(body, "norm", "final_layernorm", "final_layer_norm", "ln_f")
        self.norm = norm_of(last, self._family, eps)
        self.activation = ACTIVATIONS[activation_of(config)]
        self._head, self._head_bias = matrix_of(head)
        self.heads = config.num_attention_heads
        self.head_dim = self.layers[0].head_dim
        self.kv_heads = (self.layers[0].qkv.shape[1] // self.head_dim - self.heads) // 2
        self._rotary = getattr(body, "rotary_emb", None)
        self.turns = self._rotary is not None
        self._turns: dict[str, tuple[Tensor, Tensor]] = {}
        self.cap = float(getattr(config, "attn_logit_softcapping", None) or 0.0)
        self._last_cap = float(getattr(config, "final_logit_softcapping", None) or 0.0)
        self._divisor = float(getattr(config, "logits_scaling", 1.0))
        sliding = "sliding_attention" in layer_types
        self.most_length: int | None = config.sliding_window if sliding else None
        self._one_token = OneToken(self) if OneToken.fits(self) else None

    def matrices(self) -> list[Tensor]:
        """What a step multiplies by, `[in, out]` each, in order: the least that it can cost."""
        of_layers = [(one.qkv, one.out, one.gate_up, one.down) for one in self.layers]
        return [*(matrix for own in of_layers for matrix in own), self._head]

    def __call__(
        self, ids: Tensor, cache: GrowingCache, last: list[Tensor] | None = None
    ) -> Tensor:
        """Logits `[rows, n, vocab]` after tokens `[rows, n]`, which go into the cache.

        Args:
            last: takes the last layer's hidden states in, `[rows, n, width]`.
        """
        rows, added = ids.shape
        normed = _normed(self._hidden(ids, cache), self.norm)
        if last is not None:
            last.append(normed.view(rows, added, -1))
        return self._logits(normed).view(rows, added, -1)

    def _hidden(self, ids: Tensor, cache: GrowingCache) -> Tensor:
        """What the last layer gives, `[rows * n, width]`."""
        own = self._one_token
        if own is None or ids.numel() > 1 or not own.lock.acquire(blocking=False):
            return self._run(ids, cache)
        try:
            return own(ids, cache)
        finally:
            own.lock.release()

    def _run(self, ids: Tensor, cache: GrowingCache) -> Tensor:
        rows, added = ids.shape
        start = cache.get_seq_length()
        mask = None if added == 1 else self._mask(start, added)
        hidden = self.embedded(ids, start)
        for layer, cached in zip(self.layers, cache.layers, strict=True):
            turns = self.turns and layer.turns
            turn = self.rotation(layer.kind, start, added) if turns else None
            normed = _normed(hidden, layer.before)
            joined = _product(normed, layer.qkv, layer.bias).view(rows, added, -1)
            attended = self._attend(layer, joined, turn, mask, cached)
            after = _added(hidden, attended, layer.out, layer.out_bias, layer.after, layer)
            if not layer.parallel:
                normed = _normed(after, layer.mlp_before)
            elif layer.mlp_before is not None:
                normed = layer.mlp_before(hidden)
            inner = _product(normed, layer.gate_up, layer.gate_up_bias)
            inner = self._activated(inner, layer)
            hidden = _added(after, inner, layer.down, layer.down_bias, layer.mlp_after, layer)
        return hidden

    def embedded(self, ids: Tensor, start: int) -> Tensor:
        """`[rows * n, width]`."""
        hidden = F.embedding(ids.reshape(-1), self.embedding)
        if self._embedding_scale != 1:
            hidden = hidden * self._embedding_scale
        if self._positions is not None:
            rows, added = ids.shape
            own = self._positions[start : start + added]
            hidden = (hidden.view(rows, added, -1) + own).view(rows * added, -1)
        return hidden

    def _logits(self, normed: Tensor) -> Tensor:
        logits = _product(normed, self._head, self._head_bias)
        if self._divisor != 1:
            logits.div_(self._divisor)
        if self._last_cap:
            logits.div_(self._last_cap).tanh_().mul_(self._last_cap)
        return logits

    def _activated(self, inner: Tensor, layer: Layer) -> Tensor:
        if not layer.gated:
            return self.activation(inner)
        gate, up = inner.chunk(2, dim=-1)
        return self.activation(gate).mul_(up)

    def _attend(
        self,
        layer: Layer,
        joined: Tensor,
        turn: tuple[Tensor, Tensor] | None,
        mask: Tensor | None,
        cached: Any,
    ) -> Tensor:
        """`[rows * n, hidden]` of queries, keys and values `[rows, n, width of all]`."""
        rows, added, _ = joined.shape
        queries, turning, keys, values = self._parts(joined)
        if layer.query_norm is not None and layer.key_norm is not None:
            for part, norm in ((queries, layer.query_norm), (keys, layer.key_norm)):
                whole = self._family.query_key_norm == "whole"
                part.copy_(norm(part.flatten(2)).view_as(part) if whole else norm(part))
        if turn is not None:
            _turn(turning, *turn)
        keys, values = cached.update(keys.transpose(1, 2), values.transpose(1, 2))
        # Query heads that share a key head attend as rows of one query, position by position.
        shared = queries.view(rows, added, self.kv_heads, -1, self.head_dim).transpose(1, 2)
        shared = shared.reshape(rows, self.kv_heads, -1, self.head_dim)
        mixed = self._mixed(shared, keys, values, mask, layer.scaling)
        mixed = mixed.view(rows, self.kv_heads, added, -1, self.head_dim).transpose(1, 2)
        return mixed.reshape(rows * added, -1)

    def _mixed(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scaling: float
    ) -> Tensor:
        """The values by how the queries attend to their keys, `[rows, heads, n, head_dim]`."""
        if not self.cap:
            return F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, scale=scaling
            )
        scores = torch.matmul(queries, keys.transpose(2, 3)).mul_(scaling / self.cap)
        scores.tanh_().mul_(self.cap)
        if mask is not None:
            scores.masked_fill_(~mask, -torch.inf)
        return torch.matmul(scores.softmax(dim=-1), values)

    def _parts(self, joined: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Queries, queries with keys, keys, values: views of what is joined, a head's last."""
        rows, added, _ = joined.shape
        heads, keys, width = self.heads, self.kv_heads, self.head_dim
        if self._family.by_head:
            of_heads = joined.view(rows, added, heads, 3, width)
            queries, own, values = of_heads.unbind(3)
            return queries, of_heads.narrow(3, 0, 2), own, values
        of_heads = joined.view(rows, added, -1, width)
        queries, own, values = of_heads.split_with_sizes([heads, keys, keys], dim=2)
        return queries, of_heads.narrow(2, 0, heads + keys), own, values

    def _mask(self, start: int, added: int) -> Tensor:
        """`[n * heads that share a key head, start + n]`: each position sees those up to it."""
        device = self.embedding.device
        seen = torch.ones(added, start + added, dtype=torch.bool, device=device).tril_(start)
        return seen.repeat_interleave(self.heads // self.kv_heads, dim=0)

    def rotation(self, kind: str, start: int, added: int) -> tuple[Tensor, Tensor]:
        """`[n, 1, turned dimensions]` each: one for all heads."""
        assert self._rotary is not None
        kind = kind if self._family.by_kind else ""
        if kind not in self._turns or start + added > len(self._turns[kind][0]):
            length = 2 * (start + added) + 128
            positions = torch.arange(length, device=self.embedding.device)[None]
            of_kind = (kind,) if kind else ()
            cos, sin = self._rotary(self.embedding, positions, *of_kind)
            half = sin.shape[-1] // 2
            signed = torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)
            shape = (length, *([1] * (2 if self._family.by_head else 1)), -1)
            self._turns[kind] = cos[0].view(shape), signed.view(shape)
        cos, sin = self._turns[kind]
        return cos[start : start + added], sin[start : start + added]


def _turn(turning: Tensor, cos: Tensor, sin: Tensor) -> None:
    """Turns heads by their position, in place; of some models the last dimensions aren't turned.

    Args:
        sin: with the sign of the half that it is for: (a, b) * cos + (b, a) * (-sin, sin).
    """
    width = cos.shape[-1]
    inner = turning if width == turning.shape[-1] else turning.narrow(-1, 0, width)
    swapped = inner.roll(width // 2, dims=-1)
    inner.mul_(cos).addcmul_(swapped, sin)


def _normed(hidden: Tensor, norm: Norm | None) -> Tensor:
    return hidden if norm is None else norm(hidden)


def _product(normed: Tensor, matrix: Tensor, bias: Tensor | None) -> Tensor:
    return torch.mm(normed, matrix) if bias is None else torch.addmm(bias, normed, matrix)


def _added(
    hidden: Tensor,
    inner: Tensor,
    matrix: Tensor,
    bias: Tensor | None,
    norm: Norm | None,
    layer: Layer,
) -> Tensor:
    """The residual and a product, which is normalised first where there is a norm."""
    if norm is not None:
        return hidden + norm(_product(inner, matrix, bias))
    added = torch.addmm(hidden, inner, matrix, alpha=layer.residual_scale)
    return added if bias is None else added.add_(bias, alpha=layer.residual_scale)
