"""GGUF files of random Llamas, made with `gguf`'s writer as llama.cpp makes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFWriter,
    LlamaFileType,
    get_tensor_name_map,
    quantize,
)
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tests.models.builders import random_model, tiny_tokenizer

KINDS = {
    "F32": (GGMLQuantizationType.F32, LlamaFileType.ALL_F32),
    "F16": (GGMLQuantizationType.F16, LlamaFileType.MOSTLY_F16),
    "Q4_1": (GGMLQuantizationType.Q4_1, LlamaFileType.MOSTLY_Q4_1),
    "Q8_0": (GGMLQuantizationType.Q8_0, LlamaFileType.MOSTLY_Q8_0),
}
TEMPLATE = (
    "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"
)


def gguf_llama(seed: int = 0) -> PreTrainedModel:
    """The random model that the files hold."""
    return random_model("llama", 300, seed, hidden_size=64, bos_token_id=None)


def write_gguf(
    path: Path,
    kind: str = "F32",
    seed: int = 0,
    ends: Mapping[str, int] = MappingProxyType({}),
    **said: Any,
) -> Path:
    """A file of `gguf_llama(seed)`.

    Args:
        kind: of the matrices; norms are F32, as llama.cpp's converter writes them.
        ends: tokens that end a run, by llama.cpp's names of them (`eot`, `eom`).
        said: metadata to add, by key with `_` for `.`; of the writer's own methods a wrong value.
    """
    writer = GGUFWriter(path, said.pop("architecture", "llama"))
    _write_tokenizer(writer, tiny_tokenizer(300), 300)
    writer.add_bos_token_id(0)
    writer.add_chat_template(TEMPLATE)
    for name, token_id in ends.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", token_id)
    for key, value in said.items():
        writer.add_uint32(key.replace("_", "."), value)
    return _write_model(writer, gguf_llama(seed), kind, path)


def write_gguf_of(
    path: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    kind: str = "F32",
    texts: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """A file of a Llama with a byte-level tokenizer that splits digits, as llama.cpp reads it.

    Args:
        kind: of the matrices.
        texts: metadata to add, by key.
    """
    writer = GGUFWriter(path, "llama")
    _write_tokenizer(writer, tokenizer, model.config.vocab_size, "smollm")
    writer.add_chat_template(tokenizer.get_chat_template())
    for key, text in texts.items():
        writer.add_string(key, text)
    return _write_model(writer, model, kind, path)


def _write_model(writer: GGUFWriter, model: PreTrainedModel, kind: str, path: Path) -> Path:
    quantization, file_type = KINDS[kind]
    _write_metadata(writer, model.config, file_type)
    names = get_tensor_name_map(MODEL_ARCH.LLAMA, model.config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        array = _permuted(name, weight.numpy(), model.config)
        tensor_type = quantization if array.ndim == 2 else GGMLQuantizationType.F32
        stored = names.get_name(name, try_suffixes=(".weight",))
        writer.add_tensor(stored, quantize(array, tensor_type), raw_dtype=tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _write_metadata(writer: GGUFWriter, config: Any, file_type: LlamaFileType) -> None:
    writer.add_name("A random one")
    writer.add_file_type(file_type)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)


def _write_tokenizer(
    writer: GGUFWriter, tokenizer: PreTrainedTokenizerBase, size: int, splitting: str = "default"
) -> None:
    """Args: `splitting` is llama.cpp's name of the way that a text is cut into words."""
    backend = json.loads(tokenizer.backend_tokenizer.to_str())
    vocab = backend["model"]["vocab"] | {
        added["content"]: added["id"] for added in backend["added_tokens"]
    }
    tokens = sorted(vocab, key=vocab.__getitem__)
    tokens += [f"[PAD{place}]" for place in range(len(tokens), size)]
    special = {added["content"] for added in backend["added_tokens"] if added["special"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splitting)
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in backend["model"]["merges"]])
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)


def _permuted(name: str, weight: np.ndarray, config: Any) -> np.ndarray:
    """Queries and keys with the two halves of each head interleaved (llama.cpp's order)."""
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    count = next((heads_of_part for part, heads_of_part in heads.items() if part in name), 0)
    if not count:
        return weight
    halves = weight.reshape(count, 2, weight.shape[0] // count // 2, weight.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(weight.shape))
