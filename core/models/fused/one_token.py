"""The fused step of one token in one row, where Python takes longer than the products.

What lies between the products is allocated once, with its views. A norm's division is left to the
product that follows, and all heads are turned by one product with the position's rotation.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from core.models.fused.body import Body
from core.models.fused.layer import Layer, Norm, RootMeanSquare
from core.models.fused.products import add_product
from core.models.running.cache import GrowingCache


class OneToken:
    """The layers of Llamas, and of what differs from them by biases or norms of the heads only."""

    def __init__(self, body: Body) -> None:
        layer, width = body.layers[0], body.head_dim
        heads, keys = body.heads, body.kv_heads
        new = body.embedding.new_empty
        self._body = body
        self._scaled = new(1, len(layer.qkv))
        self._joined = new(1, layer.qkv.shape[1])
        self._inner = new(1, layer.gate_up.shape[1])
        self._gate, self._up = self._inner.chunk(2, dim=-1)
        of_heads = self._joined.view(-1, width)
        self._queries, self._keys, values = of_heads.split_with_sizes([heads, keys, keys])
        self._turning = of_heads[: heads + keys]
        self._turned = new(heads + keys, width)
        self._values = values.view(1, keys, 1, width)
        # Query heads that share a key head attend as rows of one query.
        self._attending = {
            turns: (
                turning[:heads].view(1, keys, heads // keys, width),
                turning[heads:].view(1, keys, 1, width),
            )
            for turns, turning in ((False, self._turning), (True, self._turned))
        }
        turned = body.rotation(layer.kind, 0, 1)[0].shape[-1]
        self._rotation = torch.eye(width)
        self._inner_rotation = self._rotation[:turned, :turned]
        self._eye = torch.eye(turned)
        self._swap = self._eye.roll(turned // 2, dims=1)
        # Its buffers are one run's; who comes meanwhile takes the longer way.
        self.lock = Lock()

    @staticmethod
    def fits(body: Body) -> bool:
        """Return True where this model's steps can be taken here."""
        return (
            body.embedding.device.type == "cpu"
            and not body.cap
            and body.turns
            and all(_is_plain(layer) for layer in body.layers)
            and len({(layer.qkv.shape, layer.gate_up.shape) for layer in body.layers}) == 1
        )

    def __call__(self, ids: Tensor, cache: GrowingCache) -> Tensor:
        """Return the last layer's output `[1, width]` for one token, which the cache takes in."""
        body, start = self._body, cache.get_seq_length()
        hidden, place = body.embedded(ids, start), torch.tensor((start,))
        cos, sin = body.rotation(body.layers[0].kind, start, 1)
        # The matrix that a head is multiplied by at this position.
        torch.mul(self._eye, cos[0], out=self._inner_rotation).addcmul_(self._swap, sin[0])
        for layer, cached in zip(body.layers, cache.layers, strict=True):
            self._product(hidden, layer.before, layer.qkv, layer.bias, self._joined)
            add_product(hidden, self._attend(layer, cached, place), layer.out, out=hidden)
            self._product(hidden, layer.mlp_before, layer.gate_up, layer.gate_up_bias, self._inner)
            inner = body.activation(self._gate).mul_(self._up)
            add_product(hidden, inner, layer.down, out=hidden)
        return hidden

    def _product(
        self, hidden: Tensor, norm: Norm | None, matrix: Tensor, bias: Tensor | None, out: Tensor
    ) -> None:
        """norm(hidden) @ matrix + bias."""
        assert isinstance(norm, RootMeanSquare)
        flat = hidden.view(-1)
        length = math.sqrt(float(torch.dot(flat, flat)) + norm.least)
        torch.mul(hidden, norm.scale, out=self._scaled)
        start = out if bias is None else bias
        beta: Literal[0, 1] = 0 if bias is None else 1
        add_product(start, self._scaled, matrix, beta=beta, alpha=1 / length, out=out)

    def _attend(self, layer: Layer, cached: Any, place: Tensor) -> Tensor:
        """`[1, heads * head_dim]` of the queries, keys and values that are there."""
        if layer.query_norm is not None and layer.key_norm is not None:
            self._queries.copy_(layer.query_norm(self._queries))
            self._keys.copy_(layer.key_norm(self._keys))
        if layer.turns:
            torch.mm(self._turning, self._rotation, out=self._turned)
        queries, key = self._attending[layer.turns]
        keys, values = cached.append(key, self._values, place)
        mixed = F.scaled_dot_product_attention(queries, keys, values, scale=layer.scaling)
        return mixed.reshape(1, -1)


def _is_plain(layer: Layer) -> bool:
    """Return True for a layer that normalizes by root mean square first and adds plainly."""
    return (
        isinstance(layer.before, RootMeanSquare)
        and isinstance(layer.mlp_before, RootMeanSquare)
        and layer.after is None
        and layer.mlp_after is None
        and layer.out_bias is None
        and layer.down_bias is None
        and layer.gated
        and not layer.parallel
        and layer.residual_scale == 1
    )
