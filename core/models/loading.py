"""From a folder or a hub id to a `TransformersModel`, or to one sentence on why not."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from logging import CRITICAL, getLogger
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_MASKED_LM_MAPPING,
)
from transformers.utils import logging

from core.decoding.errors import ModelError
from core.decoding.validation import brief
from core.models.load_errors import check_folder, explain
from core.models.transformers_model import TransformersModel

_HUB_ID = re.compile(r"[A-Za-z0-9_][\w.-]*(/[\w.-]+)?\Z")
_LONGEST_HUB_ID = 96
_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_DEVICES = ("cpu", "cuda", "mps", "xpu")
_DIGEST_BYTES = 2**20


def load_transformers_model(
    source: str | Path,
    model_id: str,
    dtype: str | torch.dtype | None,
    device: str | torch.device | None,
) -> TransformersModel:
    """Load from a folder (`source` is a Path) or from the hub.

    Raises:
        ModelError: for everything that can go wrong, in one sentence.
    """
    target = _device(device)
    number_type = _dtype(dtype, target)
    if isinstance(source, Path):
        check_folder(source)
    elif len(source) > _LONGEST_HUB_ID or not _HUB_ID.match(source):
        raise ModelError(
            f"{model_id[:_LONGEST_HUB_ID]!r} is neither a folder nor a hub id; give a local "
            "folder, OWNER/NAME or embedded:NAME."
        )
    with _quiet():
        origin: dict[str, Any] = {
            "trust_remote_code": False,
            "local_files_only": isinstance(source, Path) or not hub_answers(),
        }
        config = _load_config(source, model_id, origin)
        # All files of one commit; and where there are no safetensors, transformers asks the hub's
        # conversion service for some only if no commit is named.
        if commit := _commit(source, config):
            origin["revision"] = commit
        tokenizer = _load_tokenizer(source, model_id, origin)
        hf_model = _load_weights(source, model_id, origin, config, number_type)
        if len(tokenizer) > hf_model.get_input_embeddings().weight.shape[0]:
            raise ModelError(
                f"The tokenizer of {model_id} has {len(tokenizer)} tokens, more than the model's "
                f"{hf_model.get_input_embeddings().weight.shape[0]} embeddings; use the tokenizer "
                "that the model was trained with."
            )
        revision = _digest(source) if isinstance(source, Path) else commit
        return _assemble(hf_model, tokenizer, target, model_id, revision)


def _device(device: str | torch.device | None) -> torch.device:
    try:
        target = torch.device("cpu" if device is None else device)
        if target.type not in _DEVICES:
            raise RuntimeError
        torch.empty(1, device=target)
    except (AssertionError, RuntimeError, TypeError):
        raise ModelError(
            f"The device {str(device)!r} can't be used on this machine; give cpu, or cuda or mps "
            "where there is one."
        ) from None
    return target


def _dtype(dtype: str | torch.dtype | None, device: torch.device) -> torch.dtype | Literal["auto"]:
    if dtype is None:
        return torch.float32 if device.type == "cpu" else "auto"
    name = str(dtype).removeprefix("torch.")
    if name not in _DTYPES:
        raise ModelError(f"dtype must be one of {', '.join(_DTYPES)}, got {brief(name)}.")
    return _DTYPES[name]


def hub_answers() -> bool:
    """Whether the hub can be reached; asked first, because its client retries for 23 seconds."""
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() in ("1", "true", "yes", "on"):
        return False
    if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
        return True  # A direct connection would prove nothing.
    endpoint = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    port = endpoint.port or (80 if endpoint.scheme == "http" else 443)
    try:
        socket.create_connection((endpoint.hostname or "", port), timeout=3).close()
    except OSError:
        return False
    return True


def _load_config(source: str | Path, model_id: str, origin: dict[str, Any]) -> PreTrainedConfig:
    try:
        config = AutoConfig.from_pretrained(source, **origin)
    except Exception as error:
        raise explain(model_id, "configuration", error) from None
    kind = config.model_type
    writes = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING and not config.is_encoder_decoder
    # Encoders such as BERT can be loaded with a language-modelling head that looks both ways.
    encodes = type(config) in MODEL_FOR_MASKED_LM_MAPPING or kind == "bert-generation"
    if not writes or (encodes and not getattr(config, "is_decoder", False)):
        raise ModelError(
            f"{model_id} is a model of type {kind}, which doesn't write text token by token; use a "
            "decoder-only causal language model."
        )
    return config


def _load_tokenizer(
    source: str | Path, model_id: str, origin: dict[str, Any]
) -> PreTrainedTokenizerBase:
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **origin)
        usable = len(tokenizer) > 1 and tokenizer.encode("a b", add_special_tokens=False)
    except Exception as error:
        raise explain(model_id, "tokenizer", error) from None
    if not usable:
        raise ModelError(
            f"The tokenizer of {model_id} has no vocabulary; put tokenizer.json (or the files "
            "that its class needs) beside the weights."
        )
    return tokenizer


def _load_weights(
    source: str | Path,
    model_id: str,
    origin: dict[str, Any],
    config: PreTrainedConfig,
    dtype: torch.dtype | Literal["auto"],
) -> PreTrainedModel:
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            source,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            output_loading_info=True,
            **origin,
        )
    except Exception as error:
        raise explain(model_id, "weights", error) from None
    lacking = sorted(str(name) for name in report["missing_keys"])
    if lacking:
        raise ModelError(
            f"The weights of {model_id} are incomplete: {len(lacking)} tensors are missing, "
            f"{lacking[0]} among them; get the model's files again."
        )
    return model


def _assemble(
    hf_model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    device: torch.device,
    model_id: str,
    revision: str,
) -> TransformersModel:
    """The model on its device, after one token has gone through it."""
    try:
        model = TransformersModel(
            hf_model.to(device), tokenizer, model_id=model_id, revision=revision
        )
        broken = bool(model.start([0]).logits.isnan().any())
    except ModelError:
        raise
    except Exception as error:
        raise explain(model_id, "first step", error) from None
    if broken:
        raise ModelError(
            f"The weights of {model_id} give logits that are no numbers; get its files again, or "
            "load it in float32."
        )
    return model


def _commit(source: str | Path, config: PreTrainedConfig) -> str:
    """The hub's commit that the config came from; empty for a folder."""
    return "" if isinstance(source, Path) else str(getattr(config, "_commit_hash", None) or "")


def _digest(folder: Path) -> str:
    """A short digest of each weight file's size, first and last megabyte."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as file:
            digest.update(file.read(_DIGEST_BYTES))
            file.seek(max(0, size - _DIGEST_BYTES))
            digest.update(file.read(_DIGEST_BYTES))
    return digest.hexdigest()[:12]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps the libraries' warnings and progress bars off the terminal; errors are ours to tell."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    hub_logger = getLogger("huggingface_hub")
    hub_level = hub_logger.level
    logging.set_verbosity(CRITICAL)
    logging.disable_progress_bar()
    hub_logger.setLevel(CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        hub_logger.setLevel(hub_level)
        if bars:
            logging.enable_progress_bar()
