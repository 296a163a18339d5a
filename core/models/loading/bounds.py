"""Limits on a configuration's numbers, checked before anything is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...decoding.errors import ModelError
from ...decoding.validation import brief
from ...language import N_, Message
from .folder import is_plain_name

# Upper limits, several times the largest known models. For any other name, the memory and time that
# building the model on the meta device may take is the limit (`inspection`).
_LAYERS = (
    *("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"),
    "encoder_layers",
)
# Layers that predict further tokens; the largest known model has 8.
_MTP_LAYERS = ("num_mtp_layers", "num_nextn_predict_layers", "mtp_num_hidden_layers")
_HEADS = (
    *("num_attention_heads", "num_key_value_heads", "num_heads", "n_head", "n_heads"),
    "decoder_attention_heads",
)
_WIDTHS = (
    *("hidden_size", "n_embd", "d_model", "intermediate_size", "n_inner", "ffn_dim", "d_ff"),
    *("head_dim", "moe_intermediate_size", "decoder_ffn_dim"),
)
_POSITIONS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "n_ctx",
)
# Recurrent models pad every prompt to a multiple of it; -1 means none.
_CHUNKS = ("chunk_size", "mamba_chunk_size")
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
MOST: dict[str, int] = {
    **dict.fromkeys(_LAYERS, 1_000),
    **dict.fromkeys(_MTP_LAYERS, 64),
    **dict.fromkeys(_HEADS, 4_096),
    **dict.fromkeys(_WIDTHS, 2**20),
    **dict.fromkeys(_POSITIONS, 2**27),
    **dict.fromkeys(_EXPERTS, 2**20),  # Some are rows of a table; memory limits the others.
    **dict.fromkeys(_CHUNKS, 2**14),
    "vocab_size": 2**22,
}
_MOST_INTEGER = 2**53  # Every JSON parser keeps such integers exact.
# Entries of one list or object: transformers copies and checks each entry many times.
_MOST_ENTRIES = 10_000
_NAMES = ("id2label", "label2id")  # One entry per class, unused by language models.
# Fields in which transformers accepts a hub repository with its own code.
_IMPLEMENTATIONS = ("attn_implementation", "experts_implementation")


_OUTSIDE = N_(
    "config.json of {name} says {key} = {given}; it must lie in "
    "[{least}, {most}]. Get the model's files again, or use "
    "another model."
)


def _refused(name: str, words: str, **values: object) -> ModelError:
    return ModelError(Message(words, name=name, **values))


def check_config(config: dict[str, Any], name: str) -> None:
    """Check a configuration for numbers out of bounds and for references to other places.

    Raises:
        ModelError: a field is invalid; the message names the field, its value and the limit.
    """
    for key, value in _fields(config):
        if isinstance(value, int) and not isinstance(value, bool):
            most = MOST.get(key, _MOST_INTEGER)
            least = (-1 if key in _CHUNKS else 0) if key in MOST else -_MOST_INTEGER
            if not least <= value <= most:
                raise _refused(
                    name,
                    _OUTSIDE,
                    key=key,
                    given=brief(value),
                    least=least,
                    most=most,
                )
        if isinstance(value, dict | list) and len(value) > _MOST_ENTRIES and key not in _NAMES:
            raise _refused(
                name,
                N_(
                    "config.json of {name} gives {key} {value:,} entries, more than "
                    "the {most_entries:,} that it may have; use another model."
                ),
                key=key,
                value=len(value),
                most_entries=_MOST_ENTRIES,
            )
        stripped = key.removeprefix("_").removesuffix("_internal")
        if stripped in _IMPLEMENTATIONS and "/" in str(value):
            raise _refused(
                name,
                N_(
                    "{name} needs code of its own ({key}), which is never run here; "
                    "use a model whose architecture transformers knows."
                ),
                key=key,
            )
    weights = config.get("transformers_weights")
    if weights is not None and not (is_plain_name(weights) and weights.endswith(".safetensors")):
        raise _refused(
            name,
            N_(
                "config.json of {name} names the weights {given}, which is no "
                "safetensors file of the same folder; get the model's files again."
            ),
            given=brief(weights),
        )
    if config.get("fusion_config"):
        raise _refused(
            name,
            N_(
                "config.json of {name} changes how other models are built "
                "(fusion_config), which is never done here; use another model."
            ),
        )


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every field at any depth as (name, value); items of a list have the list's name."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, item_value = waiting.pop()
        if isinstance(item_value, dict):
            waiting.extend((str(name), item) for name, item in item_value.items())
        elif isinstance(item_value, list):
            waiting.extend((key, item) for item in item_value)
        if key:
            yield key, item_value
