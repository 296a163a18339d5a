"""One sentence for everything that can be wrong with a model's files."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError

from core.decoding.errors import ModelError

_REASON_LENGTH = 160

# What transformers says, in lower case, and what is said here instead; the first match counts.
_KNOWN: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("couldn't connect", "connection error", "offline", "local cache"),
        "{model_id} is no local folder, and the hub can't be reached for it; check the network, or "
        "give a local folder or an embedded model.",
    ),
    (
        ("gated repo",),
        "{model_id} is a gated model of the hub; ask for access on its page and log in with "
        "`hf auth login`.",
    ),
    (
        ("valid model identifier", "valid repository name", "repo id must", "repo_id"),
        "There is neither a local folder nor a public hub model {model_id}; check the spelling, or "
        "log in with `hf auth login` if it is private.",
    ),
    (
        ("custom code", "trust_remote_code"),
        "{model_id} needs Python code of its own, which is never run here; use a model whose "
        "architecture transformers knows.",
    ),
    (
        ("does not recognize this architecture",),
        "{model_id} has an architecture that the installed transformers doesn't know; use another "
        "model, or a newer transformers.",
    ),
    (
        ("`model_type`",),
        "The configuration of {model_id} names no model_type; give the folder of a transformers "
        "model.",
    ),
    (
        ("ignore_mismatched_sizes",),
        "The weights of {model_id} have other shapes than its config.json says; get both from the "
        "same place.",
    ),
    (
        ("no file named model.safetensors", "loaded with `safetensors`"),
        "{model_id} has no safetensors weights, and pickled ones are never opened; use a model "
        "that has model.safetensors.",
    ),
    (
        ("out of memory", "not enough memory", "can't allocate memory"),
        "{model_id} doesn't fit into memory; use a smaller model, or dtype bfloat16.",
    ),
)


def explain(model_id: str, part: str, error: Exception) -> ModelError:
    """What a library said about a `part` of the model, as one sentence of ours."""
    said = f"{error} {type(error).__name__}".lower()
    for signs, sentence in _KNOWN:
        if any(sign in said for sign in signs):
            return ModelError(sentence.format(model_id=model_id))
    reason = " ".join(str(error).split())[:_REASON_LENGTH].rstrip(".") or type(error).__name__
    if isinstance(error, SafetensorError):
        return ModelError(f"A weights file of {model_id} is damaged ({reason}); get it again.")
    if isinstance(error, ImportError):
        return ModelError(
            f"{model_id} needs a library that isn't installed ({reason}); install it, or use "
            "another model."
        )
    return ModelError(
        f"The {part} of {model_id} can't be used ({reason}); get the model's files again, or use "
        "another model."
    )


def check_folder(folder: Path) -> None:
    """See that the folder holds a configuration and safetensors weights.

    Raises:
        ModelError: what is missing or can't be read.
    """
    try:
        if not folder.exists():
            raise ModelError(
                f"There is no folder {folder}; check the path, or give a hub id or embedded:NAME."
            )
        if not folder.is_dir():
            raise ModelError(f"{folder} is a file; give the folder that holds the model.")
        names = {path.name for path in folder.iterdir()}
        if not names:
            raise ModelError(f"The folder {folder} is empty; give the folder of a model.")
        if "config.json" not in names:
            raise ModelError(
                f"The folder {folder} holds no config.json; give the folder of a transformers "
                "model."
            )
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(
            f"The folder {folder} can't be read ({error.strerror}); check the path and its "
            "permissions."
        ) from None
    except ValueError:
        raise ModelError(
            f"{folder / 'config.json'} is not JSON text; get the model's files again."
        ) from None
    if not isinstance(config, dict):
        raise ModelError(f"{folder / 'config.json'} is no JSON object; get the files again.")
    _check_weight_files(folder, names)


def _check_weight_files(folder: Path, names: set[str]) -> None:
    if any(name.endswith(".safetensors") for name in names):
        return
    pickled = sorted(name for name in names if name.endswith((".bin", ".pt", ".pth", ".ckpt")))
    if pickled:
        raise ModelError(
            f"The folder {folder} holds pickled weights only ({pickled[0]}), which can run code "
            "when opened; save the model as safetensors."
        )
    raise ModelError(f"The folder {folder} holds no weights; put model.safetensors there.")
