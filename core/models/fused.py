"""Short steps of Llama-like models with a third of the Python: the same numbers, sooner.

A step of a few tokens through transformers spends most of its time between the matrix products. For
the architectures of `families` the step is written out: query, key and value (and gate and up)
share a product, residuals are added by it. Everything else (prompts, other models, texts longer
than a sliding window) goes through transformers. A fused step is used only after it gave
transformers' logits on this model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from core.models.cache import GrowingCache
from core.models.families import FAMILIES, Family

# Position embeddings that depend on the position alone, not on how long the sequence is.
_ROPE_TYPES = {"default", "linear", "llama3"}
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
}
_KINDS = {"full_attention", "sliding_attention"}
_TOLERANCE = 1e-4
# A whole draft of the greatest length, and the token before it.
MOST_TOKENS = 65


class _Layer:
    """One decoder layer's weights; `transformers`' own modules become views of the joined ones."""

    def __init__(self, layer: Any, family: Family, kind: str, eps: float) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        if family.joined:
            parts, gates = [attention.qkv_proj], [mlp.gate_up_proj]
        else:
            parts = [attention.q_proj, attention.k_proj, attention.v_proj]
            gates = [mlp.gate_proj, mlp.up_proj]
        self.qkv, self.gate_up = _join(*parts), _join(*gates)
        biases = [part.bias for part in parts]
        self.bias = None if biases[0] is None else torch.cat(biases).detach()
        self.out = attention.o_proj.weight.t()
        self.down = mlp.down_proj.weight.t()
        norms = [getattr(layer, name) if name else None for name in family.norms]
        self.before, self.after, self.mlp_before, self.mlp_after = (
            _norm(norm, family, eps) for norm in norms
        )
        self.query_norm = self.key_norm = None
        if family.query_key_norm:
            self.query_norm = _norm(attention.q_norm, family, eps)
            self.key_norm = _norm(attention.k_norm, family, eps)
        self.scaling = float(attention.scaling)
        self.turns = bool(getattr(attention, "use_rope", True))
        self.kind = kind


class _Norm:
    """A root mean square norm over the last dimension.

    `F.rms_norm` takes six operations on a CPU; by the Euclidean length of the row it takes four:
    x * scale / sqrt(mean(x^2) + eps) = x * scale * sqrt(n) / hypot(|x|, sqrt(n * eps)).
    """

    def __init__(self, scale: Tensor, eps: float) -> None:
        width = len(scale)
        self._scale = scale * math.sqrt(width)
        self._floor = scale.new_tensor(math.sqrt(width * eps))

    def __call__(self, hidden: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(hidden, dim=-1, keepdim=True)
        return torch.mul(hidden, self._scale).div_(length.hypot_(self._floor))


def _norm(norm: Any, family: Family, eps: float) -> _Norm | None:
    if norm is None:
        return None
    weight: Tensor = norm.weight.detach()
    return _Norm(1 + weight if family.one_plus else weight, eps)


def _join(*projections: nn.Linear) -> Tensor:
    """The transposed weights side by side, `[in, sum of out]`; no second copy is kept."""
    joined = torch.cat([p.weight.detach().t() for p in projections], dim=1).contiguous()
    start = 0
    for projection in projections:
        width = projection.weight.shape[0]
        projection.weight.data = joined[:, start : start + width].t()
        start += width
    return joined


class FusedStep:
    """The forward of a few tokens of every row, behind tokens that are in the cache."""

    def __init__(self, model: Any, layer_types: list[str]) -> None:
        config, body = model.config, model.model
        self._family = FAMILIES[type(model).__name__]
        self._embedding = body.embed_tokens.weight
        self._embedding_scale = float(getattr(body.embed_tokens, "embed_scale", 1.0))
        pairs = zip(body.layers, layer_types, strict=True)
        eps = config.rms_norm_eps
        self._layers = [_Layer(layer, self._family, kind, eps) for layer, kind in pairs]
        self._norm = _norm(body.norm, self._family, eps)
        self._activation = _ACTIVATIONS[_activation(config)]
        self._head = model.lm_head.weight.t()
        self._heads = config.num_attention_heads
        self._kv_heads = config.num_key_value_heads
        self._head_dim = body.layers[0].self_attn.head_dim
        self._rotary = body.rotary_emb
        self._turns: dict[str, tuple[Tensor, Tensor]] = {}
        sliding = "sliding_attention" in layer_types
        self.most_length: int | None = config.sliding_window if sliding else None

    def matrices(self) -> list[Tensor]:
        """What a step multiplies by, `[in, out]` each, in order: the least that it can cost."""
        of_layers = [(one.qkv, one.out, one.gate_up, one.down) for one in self._layers]
        return [*(matrix for own in of_layers for matrix in own), self._head]

    def __call__(
        self, ids: Tensor, cache: GrowingCache, last: list[Tensor] | None = None
    ) -> Tensor:
        """Logits `[rows, n, vocab]` after tokens `[rows, n]`, which go into the cache.

        Args:
            last: takes the last layer's hidden states in, `[rows, n, width]`.
        """
        rows, added = ids.shape
        start = cache.get_seq_length()
        mask = None if added == 1 else self._mask(start, added)
        hidden = F.embedding(ids.reshape(-1), self._embedding)
        if self._embedding_scale != 1:
            hidden = hidden * self._embedding_scale
        for at, layer in enumerate(self._layers):
            turn = self._rotation(layer.kind, start, added) if layer.turns else None
            normed = _normed(hidden, layer.before)
            joined = _product(normed, layer).view(rows, added, -1, self._head_dim)
            attended = self._attend(layer, joined, turn, mask, cache.layers[at])
            hidden = _added(hidden, attended, layer.out, layer.after)
            normed = _normed(hidden, layer.mlp_before)
            gate, up = torch.mm(normed, layer.gate_up).chunk(2, dim=-1)
            inner = self._activation(gate).mul_(up)
            hidden = _added(hidden, inner, layer.down, layer.mlp_after)
        normed = _normed(hidden, self._norm)
        if last is not None:
            last.append(normed.view(rows, added, -1))
        return torch.mm(normed, self._head).view(rows, added, -1)

    def _attend(
        self,
        layer: _Layer,
        joined: Tensor,
        turn: tuple[Tensor, Tensor] | None,
        mask: Tensor | None,
        cached: Any,
    ) -> Tensor:
        """`[rows * n, hidden]` of queries, keys and values `[rows, n, heads, head_dim]`."""
        rows, added, _, width = joined.shape
        queries, turning, keys, values = self._parts(joined)
        if layer.query_norm is not None and layer.key_norm is not None:
            for part, norm in ((queries, layer.query_norm), (keys, layer.key_norm)):
                whole = self._family.query_key_norm == "whole"
                part.copy_(norm(part.flatten(2)).view_as(part) if whole else norm(part))
        if turn is not None:
            _turn(turning, *turn)
        keys, values = cached.update(keys.transpose(1, 2), values.transpose(1, 2))
        # Query heads that share a key head attend as rows of one query, position by position.
        shared = queries.view(rows, added, self._kv_heads, -1, width).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(
            shared.reshape(rows, self._kv_heads, -1, width),
            keys,
            values,
            attn_mask=mask,
            scale=layer.scaling,
        )
        mixed = mixed.view(rows, self._kv_heads, added, -1, width).transpose(1, 2)
        return mixed.reshape(rows * added, -1)

    def _parts(self, joined: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Queries, queries with keys, keys, values: views of what is joined."""
        heads, keys = self._heads, self._kv_heads
        queries, own, values = joined.split_with_sizes([heads, keys, keys], dim=2)
        return queries, joined.narrow(2, 0, heads + keys), own, values

    def _mask(self, start: int, added: int) -> Tensor:
        """`[n * heads that share a key head, start + n]`: each position sees those up to it."""
        device = self._embedding.device
        seen = torch.ones(added, start + added, dtype=torch.bool, device=device).tril_(start)
        return seen.repeat_interleave(self._heads // self._kv_heads, dim=0)

    def _rotation(self, kind: str, start: int, added: int) -> tuple[Tensor, Tensor]:
        """`[n, 1, turned dimensions]` each: one for all heads."""
        kind = kind if self._family.by_kind else ""
        if kind not in self._turns or start + added > len(self._turns[kind][0]):
            length = 2 * (start + added) + 128
            positions = torch.arange(length, device=self._embedding.device)[None]
            of_kind = (kind,) if kind else ()
            cos, sin = self._rotary(self._embedding, positions, *of_kind)
            half = sin.shape[-1] // 2
            signed = torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)
            self._turns[kind] = cos[0][:, None], signed[:, None]
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


def _normed(hidden: Tensor, norm: _Norm | None) -> Tensor:
    return hidden if norm is None else norm(hidden)


def _product(normed: Tensor, layer: _Layer) -> Tensor:
    """Queries, keys and values side by side."""
    if layer.bias is None:
        return torch.mm(normed, layer.qkv)
    return torch.addmm(layer.bias, normed, layer.qkv)


def _added(hidden: Tensor, inner: Tensor, weight: Tensor, norm: _Norm | None) -> Tensor:
    """The residual and a product, which is normalised first where there is a norm."""
    if norm is None:
        return torch.addmm(hidden, inner, weight)
    return hidden + norm(torch.mm(inner, weight))


def fused_step(model: PreTrainedModel, layer_types: list[str]) -> FusedStep | None:
    """The fused step of a model, None where it has none or where its logits would differ.

    Changes the strides of the model's weights, not their values.
    """
    if not _can_be_fused(model, layer_types):
        return None
    step = FusedStep(model, layer_types)
    return step if _equals_transformers(step, model, layer_types) else None


def _can_be_fused(model: PreTrainedModel, layer_types: list[str]) -> bool:
    config = model.config
    return (
        type(model).__name__ in FAMILIES
        and model.dtype is torch.float32
        and bool(layer_types)
        and _KINDS.issuperset(layer_types)
        and _activation(config) in _ACTIVATIONS
        and _ROPE_TYPES.issuperset(_rope_types(getattr(config, "rope_parameters", None) or {}))
        and not getattr(config, "attn_logit_softcapping", None)
        and not getattr(config, "final_logit_softcapping", None)
        and not getattr(config, "use_bidirectional_attention", None)
        and not any(
            name.endswith(("o_proj.bias", "gate_proj.bias", "down_proj.bias", "lm_head.bias"))
            for name, _ in model.named_parameters()
        )
    )


def _activation(config: Any) -> str:
    return str(getattr(config, "hidden_activation", None) or config.hidden_act)


def _rope_types(parameters: dict[str, Any]) -> Iterator[str]:
    """Of all layers, or of each kind of layer."""
    inner = [value for value in parameters.values() if isinstance(value, dict)]
    for own in inner or [parameters]:
        yield own.get("rope_type", "default")


@torch.inference_mode()
def _equals_transformers(step: FusedStep, model: PreTrainedModel, layer_types: list[str]) -> bool:
    ids = torch.arange(8, device=model.device).view(2, 4) % model.config.vocab_size
    expected = model(input_ids=ids, use_cache=False).logits[:, -1]
    scale = max(1.0, float(expected.abs().max()))
    # One row and several rows take different ways through the matrix products.
    for rows in (1, 2):
        cache = GrowingCache(layer_types)
        model(input_ids=ids[:rows, :2], past_key_values=cache, use_cache=True)
        for at in (2, 3):
            logits = step(ids[:rows, at : at + 1], cache)[:, 0]
        cache.truncate(2)
        together = step(ids[:rows, 2:], cache)[:, -1]
        deviation = torch.stack([logits, together]) - expected[:rows]
        if not deviation.abs().max() <= _TOLERANCE * scale:
            return False
    return True
