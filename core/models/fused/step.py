"""Short steps of Llama-like models with a third of the Python: the same numbers, sooner.

A step of a few tokens through transformers spends most of its time between the matrix products. For
the architectures of `families` the step is written out: query, key and value (and gate and up)
share a product, residuals are added by it. Everything else (long prompts, other models, texts
longer than a sliding window) goes through transformers.

One token in one row takes a way of its own, where Python takes longer than the products: what lies
between them is allocated once, with its views; a norm's division is left to the product that
follows; and all heads are turned by one product with the position's rotation.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from ..running.cache import GrowingCache
from ..running.tree import TreeInput
from .body import Body, Layer, Norm, RootMeanSquare, add_product, product

# A whole draft of the greatest length, and the token before it.
MOST_TOKENS = 65


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
            if layer.query_norm is not None and layer.key_norm is not None:
                self._queries.copy_(layer.query_norm(self._queries))
                self._keys.copy_(layer.key_norm(self._keys))
            if layer.turns:
                torch.mm(self._turning, self._rotation, out=self._turned)
            queries, key = self._attending[layer.turns]
            keys, values = cached.append(key, self._values, place)
            mixed = F.scaled_dot_product_attention(queries, keys, values, scale=layer.scaling)
            add_product(hidden, mixed.reshape(1, -1), layer.out, out=hidden)
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


class FusedStep:
    """The forward of a few tokens of every row, behind those that are in the cache."""

    def __init__(self, model: Any, layer_types: list[str]) -> None:
        self.body = Body(model, layer_types)
        self.one_token = OneToken(self.body) if OneToken.fits(self.body) else None

    def __call__(
        self,
        ids: Tensor,
        cache: GrowingCache,
        keep: int = 0,
        last: list[Tensor] | None = None,
        tree: TreeInput | None = None,
    ) -> Tensor:
        """Logits `[rows, keep, vocab]` after tokens `[rows, n]`, which go into the cache.

        Args:
            keep: of the last so many tokens, 0 for all.
            last: takes the last layer's hidden states in, `[rows, n, width]`.
            tree: of the one row's tokens, if they are not a line.
        """
        rows, added = ids.shape
        norm = self.body.norm
        one_token = self.one_token if tree is None else None
        if one_token and ids.numel() == 1 and one_token.lock.acquire(blocking=False):
            try:
                hidden = one_token(ids, cache)
            finally:
                one_token.lock.release()
        else:
            hidden = self._run(ids, cache, tree)
        normed = (hidden if norm is None else norm(hidden)).view(rows, added, -1)
        if last is not None:
            last.append(normed)
        last_normed = normed[:, -keep:]
        return self.body.logits(last_normed.flatten(0, 1)).view(rows, last_normed.shape[1], -1)

    def _run(self, ids: Tensor, cache: GrowingCache, tree: TreeInput | None) -> Tensor:
        """Return the last layer's output, `[rows * n, width]`."""
        rows, added = ids.shape
        body, start = self.body, cache.get_seq_length()
        mask, places = None, None
        if tree is not None:
            mask = tree.seen.repeat_interleave(body.heads // body.kv_heads, dim=0)
            places = tree.positions
        elif added > 1:
            # `[n * heads that share a key head, start + n]`: the positions that each one sees.
            seen = torch.ones(added, start + added, dtype=torch.bool, device=ids.device)
            mask = seen.tril_(start).repeat_interleave(body.heads // body.kv_heads, dim=0)
        hidden = body.embedded(ids, start, places)
        for layer, cached in zip(body.layers, cache.layers, strict=True):
            turns = body.turns and layer.turns
            turn = body.rotation(layer.kind, start, added, places) if turns else None
            normed = hidden if layer.before is None else layer.before(hidden)
            joined = product(normed, layer.qkv, layer.bias).view(rows, added, -1)
            attended = self._attend(layer, joined, turn, mask, cached)
            after = _added(hidden, attended, layer.out, layer.out_bias, layer.after, layer)
            if layer.mlp_before is not None:
                normed = layer.mlp_before(hidden if layer.parallel else after)
            elif not layer.parallel:
                normed = after
            inner = product(normed, layer.gate_up, layer.gate_up_bias)
            if layer.gated:
                gate, up = inner.chunk(2, dim=-1)
                inner = body.activation(gate).mul_(up)
            else:
                inner = body.activation(inner)
            hidden = _added(after, inner, layer.down, layer.down_bias, layer.mlp_after, layer)
        return hidden

    def _attend(
        self,
        layer: Layer,
        joined: Tensor,
        turn: tuple[Tensor, Tensor] | None,
        mask: Tensor | None,
        cached: Any,
    ) -> Tensor:
        """`[rows * n, hidden]` of queries, keys and values `[rows, n, width of all]`."""
        body = self.body
        rows, added, _ = joined.shape
        # Views of what is joined: queries, keys, values, and the part of it that is turned.
        heads, key_heads = body.heads, body.kv_heads
        if body.family.by_head:
            of_heads = joined.view(rows, added, heads, 3, body.head_dim)
            queries, keys, values = of_heads.unbind(3)
            turning = of_heads.narrow(3, 0, 2)
        else:
            of_heads = joined.view(rows, added, -1, body.head_dim)
            queries, keys, values = of_heads.split_with_sizes([heads, key_heads, key_heads], dim=2)
            turning = of_heads.narrow(2, 0, heads + key_heads)
        if layer.query_norm is not None and layer.key_norm is not None:
            for part, norm in ((queries, layer.query_norm), (keys, layer.key_norm)):
                whole = body.family.query_key_norm == "whole"
                part.copy_(norm(part.flatten(2)).view_as(part) if whole else norm(part))
        if turn is not None:
            # (a, b) * cos + (b, a) * (-sin, sin); of some models the last dimensions aren't turned.
            cos, sin = turn
            width = cos.shape[-1]
            inner = turning if width == turning.shape[-1] else turning.narrow(-1, 0, width)
            swapped = inner.roll(width // 2, dims=-1)
            inner.mul_(cos).addcmul_(swapped, sin)
        keys, values = cached.update(keys.transpose(1, 2), values.transpose(1, 2))
        # Query heads that share a key head attend as rows of one query, position by position.
        shared = queries.view(rows, added, key_heads, -1, body.head_dim).transpose(1, 2)
        shared = shared.reshape(rows, key_heads, -1, body.head_dim)
        mixed = self._mixed(shared, keys, values, mask, layer.scaling)
        mixed = mixed.view(rows, key_heads, added, -1, body.head_dim).transpose(1, 2)
        return mixed.reshape(rows * added, -1)

    def _mixed(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, scaling: float
    ) -> Tensor:
        """The values by how the queries attend to their keys, `[rows, heads, n, head_dim]`."""
        if not self.body.cap:
            return F.scaled_dot_product_attention(
                queries, keys, values, attn_mask=mask, scale=scaling
            )
        scores = torch.matmul(queries, keys.transpose(2, 3)).mul_(scaling / self.body.cap)
        scores.tanh_().mul_(self.body.cap)
        if mask is not None:
            scores.masked_fill_(~mask, -torch.inf)
        return torch.matmul(scores.softmax(dim=-1), values)


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
        return hidden + norm(product(inner, matrix, bias))
    added = add_product(hidden, inner, matrix, alpha=layer.residual_scale)
    return added if bias is None else added.add_(bias, alpha=layer.residual_scale)
