"""A model's weights as the fused step uses them, and what stands before and behind its layers.

A product of a few rows with a matrix takes as long as reading the matrix from memory. `torch.mm` of
so few rows may read it with one thread only; the matrix's parts, multiplied as a batch, are read by
all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .families import FAMILIES, Family

# A smaller matrix stays in a processor's cache, where one thread is as quick.
_LEAST_ELEMENTS = 300_000
# The parts' products, which are added up, take at most the matrix's numbers divided by this.
_LEAST_SHARE = 4


def product(rows: Tensor, matrix: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows @ matrix + bias, `[n, out]` of `[n, in]` and `[in, out]`."""
    if bias is not None:
        return add_product(bias, rows, matrix)
    by_parts = _product_by_parts(rows, matrix)
    return torch.mm(rows, matrix) if by_parts is None else by_parts


def add_product(
    start: Tensor,
    rows: Tensor,
    matrix: Tensor,
    *,
    beta: Literal[0, 1] = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """start + alpha * rows @ matrix, as `torch.addmm`; with `beta` 0 without what start holds."""
    by_parts = _product_by_parts(rows, matrix)
    if by_parts is None:
        return torch.addmm(start, rows, matrix, beta=beta, alpha=alpha, out=out)
    if beta == 0:
        return torch.mul(by_parts, alpha, out=out)
    return torch.add(start, by_parts, alpha=alpha, out=out)


def _product_by_parts(rows: Tensor, matrix: Tensor) -> Tensor | None:
    """Return rows @ matrix by parts of the matrix; None where `torch.mm` is as quick."""
    if matrix.numel() < _LEAST_ELEMENTS or matrix.device.type != "cpu":
        return None
    if not (rows.is_contiguous() and matrix.is_contiguous()):
        return None
    count, width = rows.shape
    parts = _parts_for(count, width, torch.get_num_threads())
    if parts == 1:
        return None
    split = rows.view(count, parts, width // parts).transpose(0, 1)
    return torch.bmm(split, matrix.view(parts, width // parts, -1)).sum(0)


@lru_cache(maxsize=1024)
def _parts_for(rows: int, width: int, threads: int) -> int:
    most = min(threads, width // (_LEAST_SHARE * rows))
    return next((parts for parts in range(most, 1, -1) if width % parts == 0), 1)


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
    """Return the module's matrices of the first known set of names, joined as `[in, sum of out]`.

    The module's own weights become views of the result, so memory holds them once.
    """
    names = next(names for names in known if all(hasattr(module, name) for name in names))
    parts = [getattr(module, name) for name in names]
    matrices, biases = zip(*map(matrix_of, parts), strict=True)
    joined, start = torch.cat(matrices, dim=1).contiguous(), 0
    for part, matrix in zip(parts, matrices, strict=True):
        view = joined[:, start : start + matrix.shape[1]]
        part.weight.data = view.t() if isinstance(part, nn.Linear) else view
        start += matrix.shape[1]
    return joined, None if biases[0] is None else torch.cat(biases)


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
        self.most_length: float = config.sliding_window if sliding else math.inf

    def matrices(self) -> list[Tensor]:
        """Return the matrices of a step, `[in, out]` each, in order: the least that it can cost."""
        of_layers = [(layer.qkv, layer.out, layer.gate_up, layer.down) for layer in self.layers]
        return [*(matrix for matrices in of_layers for matrix in matrices), self.head]

    def embedded(self, ids: Tensor, start: int, places: Tensor | None = None) -> Tensor:
        """`[rows * n, width]`; the positions follow on `start`, or are `places`."""
        hidden = F.embedding(ids.reshape(-1), self.embedding)
        if self._embedding_scale != 1:
            hidden = hidden * self._embedding_scale
        if self._positions is not None:
            rows, added = ids.shape
            where = slice(start, start + added) if places is None else places
            positions = self._positions[where]
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

    def rotation(
        self, kind: str, start: int, added: int, places: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """`[n, 1, turned dimensions]` each: one for all heads; of the positions from `start` on, or
        of `places`, which lie among them.
        """
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
        where = slice(start, start + added) if places is None else places
        return cos[where], sin[where]
