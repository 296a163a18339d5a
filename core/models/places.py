"""Embedded models, and names of models that are paths on this machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..installation import ASSETS

EMBEDDED_PREFIX = "embedded:"
GGUF_SUFFIX = ".gguf"
EMBEDDED_TARGET = "embedded:target"
DEFAULT_DRAFT = "embedded:draft"
# Embedded draft of each source that needs one.
DEFAULT_DRAFTS = {"model": DEFAULT_DRAFT, "head": "embedded:head", "other_tokenizer": DEFAULT_DRAFT}
EMBEDDED_FOLDER = ASSETS / "models"


def list_embedded() -> list[str]:
    """Names of the models that come with the project, for `load_model("embedded:NAME")`, and write
    one token after the other.
    """
    filling = list_diffusion()
    return [name for name in _folders_with("generation_config.json") if name not in filling]


def list_diffusion() -> list[str]:
    """Names of the embedded models that fill masks: bidirectional ones."""
    return [
        name
        for name in _folders_with("generation_config.json")
        if '"is_causal": false' in embedded_folder(name).joinpath("config.json").read_text("utf-8")
    ]


def list_heads() -> list[str]:
    """Names of the embedded draft heads."""
    kind = '"model_type": "decoding_explorer_draft_head"'
    return [
        name
        for name in list_stored()
        if kind in embedded_folder(name).joinpath("config.json").read_text("utf-8")
    ]


def list_stored() -> list[str]:
    """Names of all embedded models, with those that don't write, such as a reward model."""
    return _folders_with("config.json")


def _folders_with(name: str) -> list[str]:
    return sorted(path.parent.name for path in EMBEDDED_FOLDER.glob(f"*/{name}"))


def embedded_folder(name: str) -> Path:
    """Return the folder of an embedded model."""
    return EMBEDDED_FOLDER / name


def looks_like_path(text: str) -> bool:
    """Return True for a path; `owner/name` is one only if it exists."""
    written_so = text.startswith(("/", ".", "~")) or "\\" in text or text.count("/") > 1
    try:
        return written_so or text.endswith(("/", GGUF_SUFFIX)) or Path(text).exists()
    except OSError:  # Too long for a file name.
        return False


def kind_of_path(text: str) -> str:
    """Return "file" for a name of a GGUF file, else "folder"."""
    return "file" if text.lower().endswith(GGUF_SUFFIX) else "folder"


def begins_as_gguf(path: Path) -> bool:
    """Return True for a regular file that begins as GGUF files do."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            return stat.S_ISREG(os.fstat(descriptor).st_mode) and file.read(4) == b"GGUF"
    except (OSError, ValueError):
        return False
