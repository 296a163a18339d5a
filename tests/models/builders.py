"""Tiny models with random weights and a tiny tokenizer, made in memory in milliseconds."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    DiffusionGemmaConfig,
    DiffusionGemmaForBlockDiffusion,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from core.models.running.masked import MaskedModel
from core.models.running.noise import NoiseModel
from core.models.transformers_model import TransformersModel

KINDS = (
    *("llama", "qwen2", "gpt2", "mistral", "gemma", "gpt_neox", "gemma2", "gemma3_text"),
    *("qwen3", "phi3", "smollm3", "olmo2"),
)
# One for each kind of layer: rotated and learned positions, sliding layers alone and beside others.
OFTEN = {"llama", "gpt2", "mistral", "gemma3_text"}
SLIDING_WINDOW = 8
TINY_TEXT = (
    "Once upon a time there was a small red fox. The fox had a hat, and the hat was blue.\n"
    'Why? Because 12 + 30 = 42. She said: "it\'s déjà vu", and the fox laughed, ha ha ha!\n'
)

_BASE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
    "initializer_range": 0.15,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
_GROUPED = {"num_key_value_heads": 2}
_GEMMA = {**_GROUPED, "head_dim": 8}
_OF_KIND: dict[str, dict[str, Any]] = {
    "llama": _GROUPED,
    "qwen2": _GROUPED,
    "gpt2": {},
    "mistral": {**_GROUPED, "sliding_window": SLIDING_WINDOW},
    "gemma": _GEMMA,
    "gpt_neox": {},
    "phi": {**_GROUPED, "partial_rotary_factor": 0.5},
    "stablelm": _GROUPED,
    "starcoder2": {**_GROUPED, "sliding_window": None},
    "granite": {
        **_GROUPED,
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.5,
        "attention_multiplier": 0.2,
        "logits_scaling": 2.0,
    },
    "nemotron": {**_GROUPED, "head_dim": 8},
    "olmo3": {**_GROUPED, "layer_types": ["full_attention"] * 2},
    "qwen3": {**_GROUPED, "head_dim": 16},
    "phi3": _GROUPED,
    "smollm3": {**_GROUPED, "no_rope_layers": [1, 0]},
    "olmo2": _GROUPED,
    "gemma2": {**_GEMMA, "sliding_window": SLIDING_WINDOW},
    "gemma3_text": {
        **_GEMMA,
        "sliding_window": SLIDING_WINDOW,
        "layer_types": ["sliding_attention", "full_attention"],
    },
}


def random_model(kind: str, vocab: int = 300, seed: int = 0, **overrides: Any) -> PreTrainedModel:
    """A tiny transformers model of `kind` (one of `KINDS`) in float32; any config field goes.

    Sliding windows hold `SLIDING_WINDOW` tokens, so that short tests run past them.
    """
    fields = {**_BASE, **_OF_KIND.get(kind, {}), "vocab_size": vocab, **overrides}
    config = AutoConfig.for_model(kind, **fields)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config).eval()


@cache
def tiny_tokenizer(vocab: int = 300, special_tokens: tuple[str, ...] = ()) -> Any:
    """A byte-level BPE tokenizer of at most `vocab` tokens; id 0 is `<|endoftext|>`, its EOS."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=["<|endoftext|>", *special_tokens],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([TINY_TEXT], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|endoftext|>")


def forward_shapes(model: TransformersModel) -> list[tuple[int, ...]]:
    """Shapes of the ids of the forwards that the model makes from now on."""
    assert model.supports_cache  # Found out once, by forwards of its own.
    shapes: list[tuple[int, ...]] = []
    forward = model._forward

    def counted(ids: torch.Tensor, *rest: Any) -> Any:
        shapes.append(tuple(ids.shape))
        return forward(ids, *rest)

    model._forward = counted  # type: ignore[method-assign]
    return shapes


def random_language_model(
    kind: str = "llama",
    vocab: int = 300,
    seed: int = 0,
    *,
    lay_out_weights: bool = True,
    fuse_single_tokens: bool = True,
    **overrides: Any,
) -> TransformersModel:
    """`random_model` with `tiny_tokenizer`, as a `LanguageModel`."""
    return TransformersModel(
        random_model(kind, vocab, seed, **overrides),
        tiny_tokenizer(min(vocab, 300)),
        model_id=f"random {kind}",
        lay_out_weights=lay_out_weights,
        fuse_single_tokens=fuse_single_tokens,
    )


@cache
def random_masked_model() -> MaskedModel:
    """A tiny bidirectional model with random weights; its mask token is the last one."""
    return MaskedModel(
        random_model("llama", 301, is_causal=False, mask_token_id=300),
        tiny_tokenizer(),
        model_id="random diffusion",
    )


@cache
def random_noise_model(seed: int = 0) -> NoiseModel:
    """A tiny `diffusion_gemma` with random weights and canvases of 8 tokens."""
    torch.manual_seed(seed)
    text = {
        "vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "global_head_dim": 16,
        "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 16, "sliding_window": 16,
        "max_position_embeddings": 512, "eos_token_id": 0, "pad_token_id": None,
        "bos_token_id": None, "initializer_range": 0.3,
        "layer_types": ["sliding_attention", "full_attention"],
    }  # fmt: skip
    vision = {
        "model_type": "gemma4_vision", "hidden_size": 16, "intermediate_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8,
        "position_embedding_size": 16,
    }  # fmt: skip
    config = DiffusionGemmaConfig(
        text_config=text, vision_config=vision, canvas_length=8,
        image_token_id=299, boi_token_id=298, eoi_token_id=297,
    )  # fmt: skip
    model = DiffusionGemmaForBlockDiffusion(config)
    return NoiseModel(model, tiny_tokenizer(), model_id="random diffusion_gemma")
