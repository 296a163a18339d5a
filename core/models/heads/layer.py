"""A draft head: one layer over a target's last hidden states and the embedding of the next token.

The input is that of DeepSeek-V3's multi-token prediction (two norms, one projection); later tokens
of a draft read the head's own hidden state in place of the target's, as in EAGLE (Li et al. 2024).
Embedding and output head are the target's.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from ...decoding.files import write_file
from ..loading.folder import weights_digest

WEIGHTS, SETTINGS = "head.safetensors", "config.json"
MODEL_TYPE = "decoding_explorer_draft_head"


@dataclass(frozen=True, slots=True)
class HeadShape:
    """Widths of a head; `hidden_size` is the target's."""

    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    rope_theta: float
    eps: float


class KeysValues(NamedTuple):
    """Keys with their rotary angles, and values, `[rows, kv_heads, n, head_dim]` each."""

    keys: Tensor
    values: Tensor


class HeadLayer(nn.Module):
    """Mixes a hidden state with a token's embedding and runs one decoder layer."""

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        width, self.shape = shape.hidden_size, shape
        self.head_dim = width // shape.heads
        kv_width = self.head_dim * shape.kv_heads
        self.norm_hidden, self.norm_embedding, self.norm_attention, self.norm_mlp, self.norm = (
            nn.RMSNorm(width, shape.eps) for _ in range(5)
        )
        self.mix = nn.Linear(2 * width, width, bias=False)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, kv_width, bias=False)
        self.value = nn.Linear(width, kv_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, shape.intermediate_size, bias=False)
        self.up = nn.Linear(width, shape.intermediate_size, bias=False)
        self.down = nn.Linear(shape.intermediate_size, width, bias=False)

    def mixed(self, hidden: Tensor, embedded: Tensor) -> Tensor:
        """Return the layer's input `[rows, n, width]`."""
        parts = self.norm_hidden(hidden), self.norm_embedding(embedded)
        joined: Tensor = self.mix(torch.cat(parts, dim=-1))
        return joined

    def project(self, mixed: Tensor, positions: Tensor) -> tuple[Tensor, KeysValues]:
        """Return queries `[rows, heads, n, head_dim]`, and keys and values of the new tokens."""
        normed = self.norm_attention(mixed)
        angles = _angles(positions, self.head_dim, self.shape.rope_theta)
        query, key, value = (
            part(normed).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        return _turned(query, angles), KeysValues(_turned(key, angles), value)

    def finish(self, mixed: Tensor, attended: Tensor) -> Tensor:
        """Return hidden states `[rows, n, width]` after the last norm: the output head's input.

        Args:
            attended: `[rows, heads, n, head_dim]`.
        """
        hidden = mixed + self.out(attended.transpose(1, 2).flatten(2))
        normed = self.norm_mlp(hidden)
        hidden = hidden + self.down(F.silu(self.gate(normed)) * self.up(normed))
        last: Tensor = self.norm(hidden)
        return last

    def forward(
        self, hidden: Tensor, embedded: Tensor, positions: Tensor, past: KeysValues | None
    ) -> tuple[Tensor, KeysValues]:
        """Return hidden states of new tokens `[rows, n, width]`, and all keys and values.

        Args:
            hidden: hidden state of the token before each new one; 0 before the first token.
            embedded: embedding of each new token.
        """
        mixed = self.mixed(hidden, embedded)
        query, new = self.project(mixed, positions)
        held = new if past is None else KeysValues(*map(_joined, past, new))
        count, total = query.shape[2], held.keys.shape[2]
        seen = torch.ones(count, total, dtype=torch.bool).tril(total - count)
        attended = F.scaled_dot_product_attention(
            query, held.keys, held.values, attn_mask=seen.to(query.device), enable_gqa=True
        )
        return self.finish(mixed, attended), held


def _joined(past: Tensor, new: Tensor) -> Tensor:
    return torch.cat([past, new], dim=2)


def _angles(positions: Tensor, head_dim: int, theta: float) -> tuple[Tensor, Tensor]:
    """Return cosine and sine `[rows, 1, n, head_dim]`."""
    steps = torch.arange(0, head_dim, 2, device=positions.device).float() / head_dim
    turns = positions[:, None, :, None].float() / theta**steps
    turns = torch.cat([turns, turns], dim=-1)
    return turns.cos(), turns.sin()


def _turned(heads: Tensor, angles: tuple[Tensor, Tensor]) -> Tensor:
    cosine, sine = angles
    first, second = heads.chunk(2, dim=-1)
    return (heads * cosine + torch.cat([-second, first], dim=-1) * sine).to(heads.dtype)


def is_head(folder: Path) -> bool:
    """Return True for a folder with a draft head."""
    try:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(settings, dict) and settings.get("model_type") == MODEL_TYPE


def read_head(folder: Path) -> tuple[HeadLayer, str]:
    """Return a stored head in float32, and the digest of the target that it was trained on."""
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    layer = HeadLayer(HeadShape(**settings["shape"]))
    layer.load_state_dict(load_file(folder / WEIGHTS))
    return layer.float().eval(), settings["target"]


def store_head(layer: HeadLayer, folder: Path, target: Path) -> None:
    """Write a head in float16, with the digest of its target."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.half() for name, weight in layer.state_dict().items()}
    save_file(weights, folder / WEIGHTS)
    settings = {
        "model_type": MODEL_TYPE,
        "shape": asdict(layer.shape),
        "target": weights_digest(target),
    }
    write_file(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")
