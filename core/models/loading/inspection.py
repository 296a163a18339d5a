"""Read a model's configuration and tokenizer, and build it without memory for its weights.

transformers does this as the untrusted files direct, so a foreign folder is read in a child process
first (`inspect`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

import torch
from safetensors import safe_open
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
)
from transformers.quantizers.auto import AutoHfQuantizer

from ...decoding.errors import ModelError
from ...language import Message
from ..heads.mtp_layers import count_mtp_layers, without_weights
from .errors import explain, explaining
from .folder import check_folder, is_plain_name, read_json
from .tokenizer_bounds import check_growth

# Block diffusion models on a canvas of random tokens, whose classes also read images.
NOISE_TYPES = ("diffusion_gemma",)
LOCAL: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
_FLOATING = ("F", "BF")
Head: TypeAlias = Literal["writes", "scores"]
"""What a model is for: text token by token, or a number for a whole text."""
AUTO: dict[Head, Any] = {
    "writes": AutoModelForCausalLM,
    "scores": AutoModelForSequenceClassification,
}


def auto_class(head: Head, config: PreTrainedConfig) -> Any:
    """Return the class of transformers that builds a model with this head."""
    return AutoModelForImageTextToText if config.model_type in NOISE_TYPES else AUTO[head]


class Inspected(TypedDict):
    """Sizes of a model: numbers in all weights, numbers in the largest weight, bytes of buffers."""

    parameters: int
    largest: int
    buffer_bytes: int


def inspect(folder: str, model_id: str, head: Head = "writes") -> Inspected:
    """Read everything of a model except its weights, and return its sizes.

    Raises:
        ModelError: a file is invalid; the message names the fault.
    """
    where = Path(folder)
    config = load_config(where, model_id, head)
    _check_file_names(where, model_id)
    check_growth(load_tokenizer(where, model_id), model_id)
    if (where / "generation_config.json").exists():
        with explaining(model_id, "generation configuration"):
            GenerationConfig.from_pretrained(where, local_files_only=True)
    try:
        with torch.device("meta"):  # Allocates no memory.
            model = auto_class(head, config).from_config(config, trust_remote_code=False)
    except MemoryError:
        raise
    except Exception as error:
        raise explain(model_id, "configuration", error) from None
    _build_mtp_layers(model)
    quantization = getattr(config, "quantization_config", None)
    if quantization is None or not AutoHfQuantizer.supports_quant_method(quantization):
        _check_tensors(where, model_id, model)
    sizes = [weight.numel() for weight in model.parameters()]
    buffers = sum(buffer.numel() * buffer.element_size() for buffer in model.buffers())
    return {"parameters": sum(sizes), "largest": max(sizes, default=0), "buffer_bytes": buffers}


def _build_mtp_layers(model: PreTrainedModel) -> None:
    """Build the layers that predict further tokens too, so that this process's limits bound them.

    A fault in them is told to whoever drafts with them: the model itself can be used.
    """
    if not count_mtp_layers(model):
        return
    try:
        without_weights(model)
    except MemoryError:
        raise
    except Exception:
        return


def inspect_tokenizer(folder: str, model_id: str) -> bool:
    """Read a tokenizer alone; return True.

    Raises:
        ModelError: a file is invalid; the message names the fault.
    """
    where = Path(folder)
    _check_file_names(where, model_id)
    check_growth(load_tokenizer(where, model_id), model_id)
    return True


def load_config(folder: Path, model_id: str, head: Head = "writes") -> PreTrainedConfig:
    """Return the configuration of a model with this head.

    Raises:
        ModelError: the model has another head, or its configuration can't be read.
    """
    with explaining(model_id, "configuration"):
        config = AutoConfig.from_pretrained(folder, **LOCAL)
    if head == "scores":
        _require_scores(config, model_id)
        return config
    kind = config.model_type
    if kind in NOISE_TYPES:
        return config
    writes = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and not config.is_encoder_decoder
    # Encoders such as BERT can be loaded with a language-modelling head that looks both ways.
    encodes = type(config) in MODEL_FOR_MASKED_LM_MAPPING or kind == "bert-generation"
    if not writes or (encodes and not getattr(config, "is_decoder", False)):
        raise ModelError(
            Message(
                "{model} is a model of type {kind}, which doesn't write text token by "
                "token; use a decoder-only causal language model.",
                model=model_id,
                kind=kind,
            )
        )
    return config


def _require_scores(config: PreTrainedConfig, model_id: str) -> None:
    """Raise ModelError unless the model gives a text one number, or one for each of two labels."""
    name = next(iter(config.architectures or ()), "")
    known = type(config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    if not known or not name.endswith("ForSequenceClassification"):
        raise ModelError(
            Message(
                "{model} is no reward model: its config.json names no class for "
                "sequence classification; give one such as embedded:reward.",
                model=model_id,
            )
        )
    if config.num_labels not in (1, 2):
        raise ModelError(
            Message(
                "{model} tells {num_labels} classes apart; a reward model gives one "
                "number, or two (wrong, right).",
                model=model_id,
                num_labels=config.num_labels,
            )
        )


def load_tokenizer(folder: Path, model_id: str) -> PreTrainedTokenizerBase:
    """Return the tokenizer, after a test encoding.

    Raises:
        ModelError: it can't be read, or encodes to nothing.
    """
    with explaining(model_id, "tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(folder, **LOCAL)
        usable = len(tokenizer) > 1 and tokenizer.encode("a b", add_special_tokens=False)
    if not usable:
        raise ModelError(
            Message(
                "The tokenizer of {model} has no vocabulary; put tokenizer.json (or "
                "the files that its class needs) beside the weights.",
                model=model_id,
            )
        )
    return tokenizer


def _check_file_names(folder: Path, model_id: str) -> None:
    """Refuse tokenizer settings that name files outside the folder."""
    path = folder / "tokenizer_config.json"
    settings = read_json(path, model_id) if path.exists() else {}
    for key, value in settings.items():
        if key.endswith("_file") and value is not None and not is_plain_name(value):
            raise ModelError(
                Message(
                    "tokenizer_config.json of {model} names a {key} outside its "
                    "folder; get the model's files again.",
                    model=model_id,
                    key=key,
                )
            )


def _check_tensors(folder: Path, model_id: str, model: PreTrainedModel) -> None:
    """Check the shape and the kind of number of each stored weight against the model.

    transformers itself checks weights that have another name in the files.
    """
    expected = dict(model.named_parameters())
    with explaining(model_id, "weights"):
        for path in check_folder(folder, model_id).weights:
            with safe_open(path, framework="pt") as file:
                for name in sorted(expected.keys() & set(file.keys())):
                    stored, weight = file.get_slice(name), expected[name]
                    kind = stored.get_dtype()
                    if weight.is_floating_point() and not kind.startswith(_FLOATING):
                        raise ModelError(
                            Message(
                                "The weights of {model} hold {name} as {kind}, which "
                                "is no floating-point type; get the model's files "
                                "again.",
                                model=model_id,
                                name=name,
                                kind=kind,
                            )
                        )
                    if math.prod(stored.get_shape()) != weight.numel():
                        raise explain(model_id, "weights", ValueError("ignore_mismatched_sizes"))
