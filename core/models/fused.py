"""One-token steps of Llama-like models with a third of the Python: the same numbers, sooner.

A step of one token through transformers spends most of its time between the matrix products. For
the architectures below the step is written out: query, key and value (and gate and up) share a
product, residuals are added by it. Everything else (prompts, several tokens at once, other models)
goes through transformers. A fused step is used only after it gave transformers' logits on this
model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import (
    LlamaForCausalLM,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2ForCausalLM,
)

from core.models.cache import GrowingCache

_ARCHITECTURES = (LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM)
# Position embeddings that depend on the position alone, not on how long the sequence is.
_ROPE_TYPES = {"default", "linear", "llama3"}
_TOLERANCE = 1e-4


class _Layer:
    """One decoder layer's weights; `transformers`' own modules become views of the joined ones."""

    def __init__(self, layer: Any, eps: float) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self.qkv = _join(attention.q_proj, attention.k_proj, attention.v_proj)
        self.gate_up = _join(mlp.gate_proj, mlp.up_proj)
        biases = [p.bias for p in (attention.q_proj, attention.k_proj, attention.v_proj)]
        self.bias = None if biases[0] is None else torch.cat(biases)
        self.out = attention.o_proj.weight.t()
        self.down = mlp.down_proj.weight.t()
        self.norm, self.mlp_norm = (
            layer.input_layernorm.weight,
            layer.post_attention_layernorm.weight,
        )
        self.scaling = float(attention.scaling)
        self.eps = eps


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
    """The forward of one token of every row."""

    def __init__(self, model: Any) -> None:
        config, body = model.config, model.model
        self._embedding = body.embed_tokens.weight
        self._layers = [_Layer(layer, config.rms_norm_eps) for layer in body.layers]
        self._norm, self._eps = body.norm.weight, config.rms_norm_eps
        self._head = model.lm_head.weight.t()
        self._heads = config.num_attention_heads
        self._kv_heads = config.num_key_value_heads
        self._head_dim = body.layers[0].self_attn.head_dim
        self._rotary = body.rotary_emb
        self._cos = self._sin = torch.empty(0, self._head_dim)

    def __call__(self, ids: Tensor, cache: GrowingCache) -> Tensor:
        """Logits `[rows, 1, vocab]` after tokens `[rows, 1]`, which go into the cache."""
        cos, sin = self._rotation(cache.get_seq_length())
        hidden = F.embedding(ids[:, 0], self._embedding)
        for at, layer in enumerate(self._layers):
            normed = F.rms_norm(hidden, layer.norm.shape, layer.norm, layer.eps)
            attended = self._attend(layer, normed, cos, sin, cache, at)
            hidden = torch.addmm(hidden, attended, layer.out)
            normed = F.rms_norm(hidden, layer.mlp_norm.shape, layer.mlp_norm, layer.eps)
            gate, up = torch.mm(normed, layer.gate_up).chunk(2, dim=-1)
            hidden = torch.addmm(hidden, F.silu(gate) * up, layer.down)
        normed = F.rms_norm(hidden, self._norm.shape, self._norm, self._eps)
        return torch.mm(normed, self._head)[:, None]

    def _attend(
        self, layer: _Layer, normed: Tensor, cos: Tensor, sin: Tensor, cache: GrowingCache, at: int
    ) -> Tensor:
        joined = torch.mm(normed, layer.qkv)
        if layer.bias is not None:
            joined = joined + layer.bias
        rows = len(joined)
        heads = joined.view(rows, -1, self._head_dim)
        turning, values = heads[:, : self._heads + self._kv_heads], heads[:, -self._kv_heads :]
        first, second = turning.chunk(2, dim=-1)
        turned = turning * cos + torch.cat((-second, first), dim=-1) * sin
        keys = turned[:, self._heads :].unsqueeze(2)
        keys, values = cache.layers[at].update(keys, values.unsqueeze(2))
        # Query heads that share a key head attend as rows of one query.
        queries = turned[:, : self._heads].view(rows, self._kv_heads, -1, self._head_dim)
        mixed = F.scaled_dot_product_attention(queries, keys, values, scale=layer.scaling)
        return mixed.reshape(rows, -1)

    def _rotation(self, position: int) -> tuple[Tensor, Tensor]:
        if position >= len(self._cos):
            positions = torch.arange(2 * position + 128)[None]
            cos, sin = self._rotary(self._embedding, positions)
            self._cos, self._sin = cos[0], sin[0]
        return self._cos[position], self._sin[position]


def fused_step(model: PreTrainedModel, layer_types: list[str]) -> FusedStep | None:
    """The fused step of a model, None where it has none or where its logits would differ.

    Changes the strides of the model's weights, not their values.
    """
    if not _can_be_fused(model, layer_types):
        return None
    step = FusedStep(model)
    return step if _equals_transformers(step, model, layer_types) else None


def _can_be_fused(model: PreTrainedModel, layer_types: list[str]) -> bool:
    config = model.config
    rope = getattr(config, "rope_parameters", None) or {}
    return (
        type(model) in _ARCHITECTURES
        and model.dtype is torch.float32
        and model.device.type == "cpu"
        and set(layer_types) == {"full_attention"}
        and config.hidden_act == "silu"
        and rope.get("rope_type", "default") in _ROPE_TYPES
        and not any(
            name.endswith(("o_proj.bias", "gate_proj.bias", "down_proj.bias", "lm_head.bias"))
            for name, _ in model.named_parameters()
        )
    )


@torch.inference_mode()
def _equals_transformers(step: FusedStep, model: PreTrainedModel, layer_types: list[str]) -> bool:
    ids = torch.arange(8).view(2, 4) % model.config.vocab_size
    expected = model(input_ids=ids, use_cache=False).logits[:, -1]
    scale = max(1.0, float(expected.abs().max()))
    # One row and several rows take different ways through the matrix products.
    for rows in (1, 2):
        cache = GrowingCache(layer_types)
        model(input_ids=ids[:rows, :2], past_key_values=cache, use_cache=True)
        for at in (2, 3):
            logits = step(ids[:rows, at : at + 1], cache)[:, 0]
        if not (logits - expected[:rows]).abs().max() <= _TOLERANCE * scale:
            return False
    return True
