"""Download a model from the hub: one commit, bounded size."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from huggingface_hub import constants, snapshot_download, try_to_load_from_cache

from ...decoding.errors import ModelError
from ...language import Message
from ..hub_id import hub_id
from .errors import explain, explaining
from .folder import (
    CONFIG_FILE,
    INDEX_FILE,
    TEMPLATES_FOLDER,
    WEIGHTS_FILE,
    most_bytes,
    read_json,
    shard_names,
)
from .memory import check_disk


def hub_answers() -> bool:
    """Return True if the hub can be reached; its client would retry for 23 seconds."""
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


def is_cached(model_id: str) -> bool:
    """Return whether a model of the hub was downloaded before.

    Raises:
        ModelError: the text can be no hub id.
    """
    repo, revision = hub_id(model_id)
    path = try_to_load_from_cache(
        repo, CONFIG_FILE, cache_dir=constants.HF_HUB_CACHE, revision=revision
    )
    return isinstance(path, str)


def fetch(model_id: str, online: bool, cache_dir: str, weights: bool = True) -> str:
    """Return the folder that holds the model's files of one commit; its name is the commit.

    The commit is the revision in the id, else the newest; offline, the cached commit. Only files
    that a load reads are downloaded: configuration, tokenizer, and the safetensors that
    transformers would choose. Runs in a child process, which can be killed.

    Raises:
        ModelError: there is no such model, it can't be reached, or a file is too large.
    """
    repo, revision = hub_id(model_id)
    with explaining(model_id, "files"):
        if not online:
            path = try_to_load_from_cache(repo, CONFIG_FILE, cache_dir=cache_dir, revision=revision)
            if not isinstance(path, str):
                raise OSError("couldn't connect, and not in the local cache")
            return str(Path(path).parent)
        plan = snapshot_download(repo, revision=revision, cache_dir=cache_dir, dry_run=True)
        sizes = {file.filename: file.file_size or 0 for file in plan if _is_wanted(file.filename)}
        commit = plan[0].commit_hash if plan else None
        for name, size in sizes.items():
            most = most_bytes(Path(name).name)
            if most is not None and size > most:
                raise ModelError(
                    Message(
                        "{name} of {model} has {size:,} bytes, more than the {most:,} "
                        "that such a file may have; use another model.",
                        name=name,
                        model=model_id,
                        size=size,
                        most=most,
                    )
                )
        small = [name for name in sizes if not name.endswith(".safetensors")]
        folder = _download(repo, cache_dir, commit, small)
        if not weights:
            return str(folder)
        large = _weights_of(model_id, sizes, folder)
        missing = (
            file.file_size or 0 for file in plan if file.filename in large and not file.is_cached
        )
        check_disk(Path(cache_dir), sum(missing), model_id)
        return str(_download(repo, cache_dir, commit, large))


def _is_wanted(name: str) -> bool:
    folder, _, last = name.rpartition("/")
    if folder:
        return folder == TEMPLATES_FOLDER and last.endswith(".jinja")
    return last.endswith(".safetensors") or most_bytes(last) is not None


def _weights_of(model_id: str, sizes: dict[str, int], folder: Path) -> list[str]:
    """Return the weight files that transformers chooses; raise ModelError without safetensors."""
    if WEIGHTS_FILE in sizes:
        return [WEIGHTS_FILE]
    if INDEX_FILE in sizes:
        return shard_names(read_json(folder / INDEX_FILE, model_id), model_id)
    raise explain(model_id, "files", OSError(f"no file named {WEIGHTS_FILE}"))


def _download(repo: str, cache_dir: str, commit: Any, names: Iterable[str]) -> Path:
    # Escape each name, so that the pattern matches only this name.
    patterns = [re.sub(r"([*?\[])", r"[\1]", name) for name in names]
    return Path(
        snapshot_download(repo, revision=commit, cache_dir=cache_dir, allow_patterns=patterns)
    )
