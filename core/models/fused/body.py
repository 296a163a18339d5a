"""A model's weights as the fused step uses them, and what stands before and behind its layers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from core.models.fused.families import FAMILIES
from core.models.fused.layer import Layer, first_of, matrix_of, norm_of
from core.models.fused.products import product

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu2": lambda hidden: F.relu(hidden).square_(),
}


def activation_of(config: Any) -> str:
    """transformers' name of the function between the products of a feed-forward network."""
    names = ("hidden_activation", "hidden_act", "activation_function")
    return str(next(value for name in names if (value := getattr(config, name, None))))


class Body:
    """Weights and settings of a model that a step needs."""

    def __init__(self, model: Any, layer_types: list[str]) -> None:
        config, body = model.config, model.base_model
        self.family = FAMILIES[type(model).__name__]
        embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
        self.embedding = embedding.weight
        self._embedding_scale = float(
            getattr(embedding, "embed_scale", getattr(body, "embedding_multiplier", 1.0))
        )
        self._positions = body.wpe.weight if hasattr(body, "wpe") else None
        layers = first_of(body, "layers", "h")
        eps = getattr(config, "rms_norm_eps", 0.0)
        pairs = zip(layers, layer_types, strict=True)
        self.layers = [Layer(layer, self.family, kind, eps) for layer, kind in pairs]
        last = first_of(body, "norm", "final_layernorm", "final_layer_norm", "ln_f")
        self.norm = norm_of(last, self.family, eps)
        self.activation = ACTIVATIONS[activation_of(config)]
        self.head, self._head_bias = matrix_of(head)
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

    def matrices(self) -> list[Tensor]:
        """Return the matrices of a step, `[in, out]` each, in order: the least that it can cost."""
        of_layers = [(layer.qkv, layer.out, layer.gate_up, layer.down) for layer in self.layers]
        return [*(matrix for matrices in of_layers for matrix in matrices), self.head]

    def embedded(self, ids: Tensor, start: int) -> Tensor:
        """`[rows * n, width]`."""
        hidden = F.embedding(ids.reshape(-1), self.embedding)
        if self._embedding_scale != 1:
            hidden = hidden * self._embedding_scale
        if self._positions is not None:
            rows, added = ids.shape
            positions = self._positions[start : start + added]
            hidden = (hidden.view(rows, added, -1) + positions).view(rows * added, -1)
        return hidden

    def logits(self, normed: Tensor) -> Tensor:
        """`[rows * n, vocab]`."""
        logits = product(normed, self.head, self._head_bias)
        if self._divisor != 1:
            logits.div_(self._divisor)
        if self._last_cap:
            logits.div_(self._last_cap).tanh_().mul_(self._last_cap)
        return logits

    def rotation(self, kind: str, start: int, added: int) -> tuple[Tensor, Tensor]:
        """`[n, 1, turned dimensions]` each: one for all heads."""
        assert self._rotary is not None
        kind = kind if self.family.by_kind else ""
        if kind not in self._turns or start + added > len(self._turns[kind][0]):
            length = 2 * (start + added) + 128
            positions = torch.arange(length, device=self.embedding.device)[None]
            of_kind = (kind,) if kind else ()
            cos, sin = self._rotary(self.embedding, positions, *of_kind)
            half = sin.shape[-1] // 2
            signed = torch.cat((-sin[0, :, :half], sin[0, :, half:]), dim=-1)
            shape = (length, *([1] * (2 if self.family.by_head else 1)), -1)
            self._turns[kind] = cos[0].view(shape), signed.view(shape)
        cos, sin = self._turns[kind]
        return cos[start : start + added], sin[start : start + added]
