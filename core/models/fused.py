"""Short steps of Llama-like models with a third of the Python: the same numbers, sooner.

A step of a few tokens through transformers spends most of its time between the matrix products. For
the architectures below the step is written out: query, key and value (and gate and up) share a
product, residuals are added by it. Everything else (prompts, other models) goes through
transformers. A fused step is used only after it gave transformers' logits on this model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import LlamaForCausalLM, MistralForCausalLM, PreTrainedModel, Qwen2ForCausalLM

from core.models.cache import GrowingCache

_ARCHITECTURES = (LlamaForCausalLM, MistralForCausalLM, Qwen2ForCausalLM)
# Position embeddings that depend on the position alone, not on how long the sequence is.
_ROPE_TYPES = {"default", "linear", "llama3"}
_TOLERANCE = 1e-4
# A whole draft of the greatest length, and the token before it.
MOST_TOKENS = 65


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
    """The forward of a few tokens of every row, behind tokens that are in the cache."""

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
        self._cos = self._sin = torch.empty(0, 1, self._head_dim)

    def __call__(
        self, ids: Tensor, cache: GrowingCache, last: list[Tensor] | None = None
    ) -> Tensor:
        """Logits `[rows, n, vocab]` after tokens `[rows, n]`, which go into the cache.

        Args:
            last: takes the last layer's hidden states in, `[rows, n, width]`.
        """
        rows, added = ids.shape
        start = cache.get_seq_length()
        turn = self._rotation(start, added)
        mask = None if added == 1 else self._mask(start, added)
        hidden = F.embedding(ids.reshape(-1), self._embedding)
        for at, layer in enumerate(self._layers):
            normed = F.rms_norm(hidden, layer.norm.shape, layer.norm, layer.eps)
            keys_and_values = cache.layers[at]
            attended = self._attend(
                layer, normed.view(rows, added, -1), turn, mask, keys_and_values
            )
            hidden = torch.addmm(hidden, attended, layer.out)
            normed = F.rms_norm(hidden, layer.mlp_norm.shape, layer.mlp_norm, layer.eps)
            gate, up = torch.mm(normed, layer.gate_up).chunk(2, dim=-1)
            hidden = torch.addmm(hidden, F.silu(gate) * up, layer.down)
        normed = F.rms_norm(hidden, self._norm.shape, self._norm, self._eps)
        if last is not None:
            last.append(normed.view(rows, added, -1))
        return torch.mm(normed, self._head).view(rows, added, -1)

    def _attend(
        self,
        layer: _Layer,
        normed: Tensor,
        turn: tuple[Tensor, Tensor],
        mask: Tensor | None,
        cached: Any,
    ) -> Tensor:
        """`[rows * n, hidden]` of `[rows, n, hidden]`."""
        rows, added, _ = normed.shape
        joined = torch.mm(normed.view(rows * added, -1), layer.qkv)
        if layer.bias is not None:
            joined = joined + layer.bias
        heads = joined.view(rows, added, -1, self._head_dim)
        turning, values = (
            heads[:, :, : self._heads + self._kv_heads],
            heads[:, :, -self._kv_heads :],
        )
        first, second = turning.chunk(2, dim=-1)
        turned = turning * turn[0] + torch.cat((-second, first), dim=-1) * turn[1]
        keys, values = cached.update(
            turned[:, :, self._heads :].transpose(1, 2), values.transpose(1, 2)
        )
        # Query heads that share a key head attend as rows of one query, position by position.
        queries = turned[:, :, : self._heads].view(rows, added, self._kv_heads, -1, self._head_dim)
        shared = queries.permute(0, 2, 1, 3, 4).reshape(rows, self._kv_heads, -1, self._head_dim)
        mixed = F.scaled_dot_product_attention(
            shared, keys, values, attn_mask=mask, scale=layer.scaling
        )
        mixed = mixed.view(rows, self._kv_heads, added, -1, self._head_dim).transpose(1, 2)
        return mixed.reshape(rows * added, -1)

    def _mask(self, start: int, added: int) -> Tensor:
        """`[n * heads that share a key head, start + n]`: each position sees those up to it."""
        seen = torch.ones(added, start + added, dtype=torch.bool).tril_(start)
        return seen.repeat_interleave(self._heads // self._kv_heads, dim=0)

    def _rotation(self, start: int, added: int) -> tuple[Tensor, Tensor]:
        """`[n, 1, head_dim]` each: one for all heads."""
        if start + added > len(self._cos):
            positions = torch.arange(2 * (start + added) + 128)[None]
            cos, sin = self._rotary(self._embedding, positions)
            self._cos, self._sin = cos[0][:, None], sin[0][:, None]
        return self._cos[start : start + added], self._sin[start : start + added]


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
        cache.truncate(2)
        together = step(ids[:rows, 2:], cache)[:, -1]
        deviation = torch.stack([logits, together]) - expected[:rows]
        if not deviation.abs().max() <= _TOLERANCE * scale:
            return False
    return True
