"""Folders of tiny models with random weights and MTP layers, as released checkpoints have them.

Each is saved by `save_pretrained` as a deeper model, whose last layers become the blocks of the MTP
layers under the names that the released checkpoints of the architecture use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

from tests.models.builders import SLIDING_WINDOW, tiny_tokenizer

VOCAB, WIDTH = 300, 32
# The only likely tokens, so that random layers agree with the model now and then.
LIKELY = range(5, 8)
_FILE = "model.safetensors"
_SMALL = {
    "vocab_size": VOCAB,
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "moe_intermediate_size": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "initializer_range": 0.15,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
    "num_experts_per_tok": 2,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
}
_WINDOW = {"sliding_window": SLIDING_WINDOW}
_GROUPS = {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1}
_LATENT = {
    **_GROUPS,
    "num_key_value_heads": 4,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
}
_RELEASED = ("enorm", "hnorm", "eh_proj", "shared_head.norm")


@dataclass(frozen=True)
class MtpKind:
    """An architecture whose MTP layers transformers runs.

    Args:
        depth: number of the model's layers. Transformers finds the MTP layers of some by their
            number in the released checkpoint, which follows the model's last layer.
        layers: number of MTP layers.
        fields: of the configuration, from the number of layers.
        own: fields of the configuration that name the MTP layers.
        block: prefix of a block in the files, with its number `{k}` and its place `{at}`.
        extra: prefix of its norms and projection.
        names: of the norms of embedding and hidden state, the projection, and the last norm.
        chain: name of a norm that all layers share.
    """

    depth: int
    layers: int
    fields: Callable[[int], dict[str, Any]]
    own: dict[str, Any]
    block: str = "model.layers.{at}."
    extra: str = "model.layers.{at}."
    names: tuple[str, ...] = _RELEASED
    chain: str = ""


def _experts(depth: int) -> dict[str, Any]:
    layer_types = ["full_attention", *["sliding_attention"] * (depth - 1)]
    return {**_WINDOW, "num_experts": 4, "layer_types": layer_types}


def _pictures(depth: int) -> dict[str, Any]:
    """A model that also reads pictures; only its text part is used."""
    types = ["full_attention", "sliding_attention"] * depth
    text = {**_SMALL, **_WINDOW, "layer_types": types[:depth], "share_expert_dim": 16}
    text |= {"num_hidden_layers": depth, "mlp_layer_types": ["dense", *["sparse"] * (depth - 1)]}
    vision = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    vision |= {"num_attention_heads": 2, "image_size": 28}
    return {"text_config": text, "vision_config": vision}


def _convolved(depth: int) -> dict[str, Any]:
    types = ["hybrid_sliding", *["hybrid"] * (depth - 1)]
    dense = ["sparse", *["dense"] * (depth - 1)]
    fields = {"layer_types": types, "mlp_layer_types": dense, "logits_mup_width_multiplier": 2.0}
    return {**_WINDOW, **fields, "unpadded_vocab_size": VOCAB, "rel_extent": 16, "d_rel": 8}


def _recurrent(depth: int) -> dict[str, Any]:
    types = [*["linear_attention"] * 40, *["full_attention"] * (depth - 40)]
    return {**_LATENT, "num_local_experts": 4, "layer_types": types}


_ONE = {"num_nextn_predict_layers": 1}
MTP_KINDS = {
    "deepseek_v3": MtpKind(61, 1, lambda _: _LATENT, _ONE),
    "glm4_moe": MtpKind(46, 1, lambda _: _GROUPS, _ONE),
    "mellum": MtpKind(
        *(2, 1, _experts, _ONE),
        block="mtp.layers.{k}.",
        extra="mtp.",
        names=("pre_fc_norm_embedding", "pre_fc_norm_hidden", "fc", "norm"),
    ),
    "step3p7": MtpKind(2, 3, _pictures, {}),
    "inkling_text": MtpKind(
        *(2, 2, _convolved, {"num_mtp_layers": 2}),
        block="model.mtp.layers.{k}.transformer_block.",
        extra="model.mtp.layers.{k}.",
        names=("embed_norm", "hidden_norm", "input_proj"),
    ),
    "bailing_hybrid": MtpKind(
        *(42, 1, _recurrent),
        {**_ONE, "mtp_layer_types": ["full_attention"], "mtp_mlp_layer_types": ["sparse"]},
    ),
}


def _config(name: str, depth: int, **own: Any) -> Any:
    kind = MTP_KINDS[name]
    fields = kind.fields(depth)
    if name == "step3p7":
        text = fields["text_config"]
        if depth == kind.depth:  # Released files have the types of all layers in one list.
            longer = kind.fields(depth + kind.layers)["text_config"]
            for types in ("layer_types", "mlp_layer_types"):
                text[types] = longer[types]
            text["num_nextn_predict_layers"] = kind.layers
        return AutoConfig.for_model(name, **fields)
    return AutoConfig.for_model(
        name,
        **{**_SMALL, "tie_word_embeddings": False, **fields, "num_hidden_layers": depth, **own},
    )


def mtp_folder(name: str, where: Path, *, seed: int = 0, vocab: int = VOCAB) -> Path:
    """Write a model with MTP layers into a folder, with a tokenizer; return the folder."""
    kind = MTP_KINDS[name]
    deeper = _config(name, kind.depth + kind.layers, vocab_size=vocab)
    if name == "bailing_hybrid":
        deeper.mlp_layer_types = [*deeper.mlp_layer_types[:-1], "sparse"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        auto = AutoModelForImageTextToText if name == "step3p7" else AutoModelForCausalLM
        model = auto.from_config(deeper)
        with torch.no_grad():
            # A logit's spread is about its row's length, as hidden states are normed.
            head = model.get_output_embeddings().weight
            lengths = [4.0 if at in LIKELY or vocab < 9 else 0.4 for at in range(len(head))]
            head.copy_(F.normalize(head) * torch.tensor(lengths)[:, None])
        model.save_pretrained(where)
        weights = load_file(where / _FILE)
        for k in range(kind.layers):
            weights |= _mtp_layer(kind, weights, k)
    moved = {name for name in weights if _block_of(kind, name) is not None and "mtp" not in name}
    released = kind.block == "model.layers.{at}."
    save_file({n: w for n, w in weights.items() if released or n not in moved}, where / _FILE)
    _config(name, kind.depth, **kind.own, vocab_size=vocab).save_pretrained(where)
    tiny_tokenizer().save_pretrained(where)
    return where


def _block_of(kind: MtpKind, name: str) -> int | None:
    """Return which MTP layer's block a tensor of the deeper model belongs to."""
    for k in range(kind.layers):
        if f"layers.{kind.depth + k}." in name:
            return k
    return None


def _mtp_layer(kind: MtpKind, weights: dict[str, Tensor], k: int) -> dict[str, Tensor]:
    """Return the tensors of MTP layer k under the names of released files."""
    at = kind.depth + k
    block, extra = (text.format(k=k, at=at) for text in (kind.block, kind.extra))
    layer: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if _block_of(kind, name) == k and "mtp" not in name:
            layer[block + name.split(f"layers.{at}.")[1]] = weight
    for name in kind.names:
        is_norm = "norm" in name
        shape = (WIDTH,) if is_norm else (WIDTH, 2 * WIDTH)
        layer[f"{extra}{name}.weight"] = torch.rand(shape) + 0.5 if is_norm else torch.randn(shape)
    return layer
