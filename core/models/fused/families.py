"""Differences of architectures' decoder layers from Llama's, as far as the fused step knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Family:
    """The differences that a layer's modules don't tell.

    Args:
        norms: names of the norms before and after attention, before and after the feed-forward
            network; empty where there is none.
        query_key_norm: queries and keys are normalised by `head`, or `whole`.
        one_plus: norms multiply by 1 + weight.
        by_kind: position embeddings depend on the layer's kind.
        parallel: the feed-forward network reads what attention reads, not what it adds.
        by_head: a head's query, key and value lie side by side.
    """

    norms: tuple[str, str, str, str] = ("input_layernorm", "", "post_attention_layernorm", "")
    query_key_norm: Literal["", "head", "whole"] = ""
    one_plus: bool = False
    by_kind: bool = False
    parallel: bool = False
    by_head: bool = False


_LLAMA = Family()
_AFTER = Family(("", "post_attention_layernorm", "", "post_feedforward_layernorm"), "whole")
_SANDWICH = (
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
)
# By transformers' class; used only after it gave transformers' logits on the very model.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "LlamaForCausalLM": _LLAMA,
        "MistralForCausalLM": _LLAMA,
        "Qwen2ForCausalLM": _LLAMA,
        "SmolLM3ForCausalLM": _LLAMA,
        "Phi3ForCausalLM": _LLAMA,
        "GraniteForCausalLM": _LLAMA,
        "StableLmForCausalLM": _LLAMA,
        "Starcoder2ForCausalLM": _LLAMA,
        "Qwen3ForCausalLM": replace(_LLAMA, query_key_norm="head"),
        "Olmo2ForCausalLM": _AFTER,
        "Olmo3ForCausalLM": replace(_AFTER, by_kind=True),
        "GemmaForCausalLM": replace(_LLAMA, one_plus=True),
        "Gemma2ForCausalLM": Family(_SANDWICH, one_plus=True),
        "Gemma3ForCausalLM": Family(_SANDWICH, "head", one_plus=True, by_kind=True),
        "NemotronForCausalLM": replace(_LLAMA, one_plus=True),
        "PhiForCausalLM": Family(("input_layernorm", "", "", ""), parallel=True),
        "GPTNeoXForCausalLM": replace(_LLAMA, by_head=True),
        "GPT2LMHeadModel": Family(("ln_1", "", "ln_2", "")),
    }
)
