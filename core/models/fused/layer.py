"""One decoder layer's weights and norms, as the fused step uses them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.models.fused.families import Family

Norm = Callable[[Tensor], Tensor]

_QKV = (("q_proj", "k_proj", "v_proj"), ("qkv_proj",), ("query_key_value",), ("c_attn",))
_INTO = (("gate_proj", "up_proj"), ("gate_up_proj",), ("up_proj",), ("fc1",), ("c_fc",),
         ("dense_h_to_4h",))  # fmt: skip
_OUT_OF = ("o_proj", "dense", "c_proj", "down_proj", "fc2", "dense_4h_to_h")


class Layer:
    """One layer; `transformers`' own modules become views of the joined weights.

    Args:
        layer: transformers' module.
        kind: of its attention.
        eps: of norms by root mean square.
    """

    def __init__(self, layer: Any, family: Family, kind: str, eps: float) -> None:
        attention, mlp = first_of(layer, "self_attn", "attention", "attn"), layer.mlp
        self.qkv, self.bias = _join(attention, _QKV)
        self.gate_up, self.gate_up_bias = _join(mlp, _INTO)
        self.out, self.out_bias = matrix_of(first_of(attention, *_OUT_OF))
        self.down, self.down_bias = matrix_of(first_of(mlp, *_OUT_OF))
        self.gated = self.gate_up.shape[1] == 2 * self.down.shape[0]
        norms = [getattr(layer, name) if name else None for name in family.norms]
        self.before, self.after, self.mlp_before, self.mlp_after = (
            norm_of(norm, family, eps) for norm in norms
        )
        self.query_norm = self.key_norm = None
        if family.query_key_norm:
            self.query_norm = norm_of(attention.q_norm, family, eps)
            self.key_norm = norm_of(attention.k_norm, family, eps)
        self.parallel = family.parallel or bool(getattr(layer, "use_parallel_residual", False))
        self.residual_scale = float(getattr(layer, "residual_multiplier", 1.0))
        self.head_dim = int(first_of(attention, "head_dim", "head_size"))
        self.scaling = float(attention.scaling)
        self.turns = bool(getattr(attention, "use_rope", True))
        self.kind = kind


def first_of(module: Any, *names: str) -> Any:
    """The first of these attributes that there is."""
    return next(getattr(module, name) for name in names if hasattr(module, name))


class RootMeanSquare:
    """A root mean square norm over the last dimension.

    `F.rms_norm` takes six operations on a CPU; by the Euclidean length of the row it takes four:
    x * scale / sqrt(mean(x^2) + eps) = x * scale * sqrt(n) / hypot(|x|, sqrt(n * eps)).
    """

    def __init__(self, scale: Tensor, eps: float) -> None:
        width = len(scale)
        self.scale = scale * math.sqrt(width)
        self.least = width * eps
        self._least = scale.new_tensor(math.sqrt(self.least))

    def __call__(self, hidden: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(hidden, dim=-1, keepdim=True)
        return torch.mul(hidden, self.scale).div_(length.hypot_(self._least))


def norm_of(norm: Any, family: Family, eps: float) -> Norm | None:
    """Return the norm that a module of transformers computes; None where there is none."""
    if norm is None:
        return None
    weight: Tensor = norm.weight.detach()
    scale = 1 + weight if family.one_plus else weight
    if isinstance(norm, nn.LayerNorm):
        bias = None if norm.bias is None else norm.bias.detach()
        return partial(
            F.layer_norm, normalized_shape=(len(scale),), weight=scale, bias=bias, eps=norm.eps
        )
    return RootMeanSquare(scale, eps)


def matrix_of(module: Any) -> tuple[Tensor, Tensor | None]:
    """`[in, out]` and `[out]`; GPT-2's modules hold their weight so, `nn.Linear` turned."""
    weight = module.weight.t() if isinstance(module, nn.Linear) else module.weight
    return weight.detach(), None if module.bias is None else module.bias.detach()


def _join(module: Any, known: tuple[tuple[str, ...], ...]) -> tuple[Tensor, Tensor | None]:
    """The first known matrices side by side, `[in, sum of out]`; no second copy is kept."""
    names = next(names for names in known if all(hasattr(module, name) for name in names))
    parts = [getattr(module, name) for name in names]
    matrices, biases = zip(*map(matrix_of, parts), strict=True)
    joined, start = torch.cat(matrices, dim=1).contiguous(), 0
    for part, matrix in zip(parts, matrices, strict=True):
        view = joined[:, start : start + matrix.shape[1]]
        part.weight.data = view.t() if isinstance(part, nn.Linear) else view
        start += matrix.shape[1]
    return joined, None if biases[0] is None else torch.cat(biases)
