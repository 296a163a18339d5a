"""Check the files of a model's folder before parsing: regular, bounded in size, inside it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ...decoding.errors import ModelError
from ...decoding.files import reason_of
from ...language import N_, Message
from ..places import kind_of_path

MIB = 2**20
CONFIG_FILE = "config.json"
WEIGHTS_FILE = "model.safetensors"
ADAPTER_FILE = "adapter_config.json"
INDEX_FILE = "model.safetensors.index.json"
# Largest size of files that are parsed whole, by name or else by suffix: several times the largest
# known files. Weights are not parsed whole.
MOST_BYTES = {
    CONFIG_FILE: 4 * MIB,
    "generation_config.json": MIB,
    INDEX_FILE: 32 * MIB,
    "tokenizer.json": 256 * MIB,
    ".json": 64 * MIB,
    ".jinja": MIB,
    ".txt": 64 * MIB,
    ".model": 64 * MIB,
    ".tiktoken": 64 * MIB,
}
TEMPLATES_FOLDER = "additional_chat_templates"
_MOST_ENTRIES = 10_000
_MOST_SHARDS = 2_000
_WEIGHTS = ".safetensors"
_PICKLED = (".bin", ".pt", ".pth", ".ckpt")
# torch's distributed checkpoints, which transformers would read with other code.
_DISTRIBUTED = re.compile(r"shard-\d{5}-model-\d{5}-of-\d{5}\.safetensors")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Configuration and weight files of a checked folder.

    Args:
        config: content of `config.json`.
        weights: paths of the weight files.
    """

    config: dict[str, Any]
    weights: tuple[Path, ...]


def _refused_file(path: Path, folder: str, words: str, **values: object) -> ModelError:
    return ModelError(Message(words, file=path.name, folder=folder, **values))


def check_folder(folder: Path, name: str) -> ModelFiles:
    """Check that the folder holds a configuration and safetensors weights, all regular files.

    Args:
        name: name of the folder in messages.

    Raises:
        ModelError: a file is missing or can't be read; the message names it.
    """
    with _readable(name):
        entries = _entries(folder, name)
        if CONFIG_FILE not in entries:
            raise ModelError(
                Message(
                    "The folder {name} holds no config.json; give the folder of a "
                    "transformers model.",
                    name=name,
                )
            )
        for entry in entries.values():
            _check_entry(entry, name)
        return ModelFiles(read_json(folder / CONFIG_FILE, name), _weights(folder, entries, name))


def check_small_files(folder: Path, name: str) -> None:
    """Check that all files that are parsed whole are regular and bounded in size.

    Raises:
        ModelError: the folder doesn't exist, or a file fails the check.
    """
    with _readable(name):
        for entry in _entries(folder, name).values():
            _check_entry(entry, name)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            Message(
                "The folder {name} can't be read ({reason}); check the path and its permissions.",
                name=name,
                reason=reason_of(error),
            )
        ) from None


def state_of(folder: Path) -> frozenset[tuple[str | int, ...]]:
    """Return the name and `stat` of each file; they change if a file or a link's target changes."""
    states = set[tuple[str | int, ...]]()
    with suppress(OSError):
        for path in islice(_walk(folder), _MOST_ENTRIES):
            with suppress(OSError):  # Broken link.
                it = path.stat()
                whole = (it.st_mode, it.st_dev, it.st_ino, it.st_size, it.st_mtime_ns)
                states.add((path.name, *whole))
    return frozenset(states)


def read_json(path: Path, name: str) -> dict[str, Any]:
    """Return the JSON object in a file; its size is limited by the file's name.

    Raises:
        ModelError: the file is too large, or holds no JSON object.
    """
    raw = _read_regular(path, most_bytes(path.name) or 0, name)
    try:
        value = json.loads(raw.decode("utf-8"))
    except RecursionError:
        raise _refused_file(
            path, name, N_("{file} of {folder} is nested too deep; get the model's files again.")
        ) from None
    except ValueError:
        raise _refused_file(
            path, name, N_("{file} of {folder} is not JSON text; get the model's files again.")
        ) from None
    if not isinstance(value, dict):
        raise _refused_file(
            path, name, N_("{file} of {folder} is no JSON object; get the files again.")
        )
    return value


def is_plain_name(text: object) -> bool:
    """Return True if the text is a file name without a folder."""
    return isinstance(text, str) and text == os.path.basename(text) and "\\" not in text


def _entries(folder: Path, name: str) -> dict[str, Path]:
    if not folder.exists():
        raise ModelError(
            Message(
                "There is no {kind_of_path} {name}; check the path, or give a hub id "
                "or embedded:NAME.",
                kind_of_path=kind_of_path(name),
                name=name,
            )
        )
    if not folder.is_dir():
        raise ModelError(
            Message("{name} is a file; give the folder that holds the model.", name=name)
        )
    entries = {path.name: path for path in islice(_walk(folder), _MOST_ENTRIES + 1)}
    if not entries:
        raise ModelError(
            Message("The folder {name} is empty; give the folder of a model.", name=name)
        )
    if len(entries) > _MOST_ENTRIES:
        raise ModelError(
            Message(
                "The folder {name} holds more than {most_entries:,} entries; give the "
                "folder of one model.",
                name=name,
                most_entries=_MOST_ENTRIES,
            )
        )
    return entries


def _walk(folder: Path) -> Iterator[Path]:
    for place in (folder, folder / TEMPLATES_FOLDER):
        if place.is_dir():
            with os.scandir(place) as entries:  # Read lazily: the folder may be vast.
                yield from (Path(entry.path) for entry in entries)


def most_bytes(name: str) -> int | None:
    """Return the size limit of a file that is parsed whole; None for other files."""
    return MOST_BYTES.get(name, MOST_BYTES.get(os.path.splitext(name)[1]))


def _check_entry(path: Path, name: str) -> None:
    most = most_bytes(path.name)
    if most is None and not path.name.endswith(_WEIGHTS):
        return
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        raise _refused_file(
            path, name, N_("{file} of {folder} is no regular file; get the model's files again.")
        )
    if most is not None and state.st_size > most:
        raise _refused_file(
            path,
            name,
            N_(
                "{file} of {folder} has {st_size:,} bytes, more than the {most:,} that "
                "such a file may have; use another model."
            ),
            st_size=state.st_size,
            most=most,
        )


def _read_regular(path: Path, most: int, name: str) -> bytes:
    """Return a regular file's bytes; never block, even if a pipe has replaced the file."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _refused_file(
                path,
                name,
                N_("{file} of {folder} is no regular file; get the model's files again."),
            )
        raw = file.read(most + 1)
    if len(raw) > most:
        raise _refused_file(
            path,
            name,
            N_("{file} of {folder} has more than {most:,} bytes; use another model."),
            most=most,
        )
    return raw


def _weights(folder: Path, entries: dict[str, Path], name: str) -> tuple[Path, ...]:
    if any(_DISTRIBUTED.match(entry) for entry in entries):
        raise ModelError(
            Message(
                "The folder {name} holds a distributed checkpoint; save the model as "
                "model.safetensors.",
                name=name,
            )
        )
    if ADAPTER_FILE in entries:
        raise ModelError(
            Message(
                "The folder {name} holds an adapter ({adapter_file}), which names its "
                "model elsewhere; merge the two and give the folder of the whole model.",
                name=name,
                adapter_file=ADAPTER_FILE,
            )
        )
    if INDEX_FILE not in entries and not any(entry.endswith(_WEIGHTS) for entry in entries):
        if pickled := sorted(entry for entry in entries if entry.endswith(_PICKLED)):
            raise ModelError(
                Message(
                    "The folder {name} holds pickled weights only ({pickled}), which "
                    "can run code when opened; save the model as safetensors.",
                    name=name,
                    pickled=pickled[0],
                )
            )
        raise ModelError(
            Message("The folder {name} holds no weights; put model.safetensors there.", name=name)
        )
    if WEIGHTS_FILE in entries:
        names: list[str] = [WEIGHTS_FILE]
    elif INDEX_FILE in entries:
        names = shard_names(read_json(entries[INDEX_FILE], name), name)
    else:
        raise ModelError(
            Message(
                "The folder {name} holds safetensors, but no model.safetensors; give "
                "the folder of a transformers model.",
                name=name,
            )
        )
    for lacking in (shard for shard in names if shard not in entries):
        raise ModelError(
            Message(
                "{index_file} of {name} names {lacking}, which isn't there; get the "
                "model's files again.",
                index_file=INDEX_FILE,
                name=name,
                lacking=lacking,
            )
        )
    return tuple(folder / shard for shard in names)


def shard_names(index: dict[str, Any], name: str) -> list[str]:
    """Return the weight files that an index names, each once.

    Raises:
        ModelError: there is none, there are too many, or one lies outside the folder.
    """
    table = index.get("weight_map")
    files = list(table.values()) if isinstance(table, dict) else []
    names = list(dict.fromkeys(files)) if all(isinstance(file, str) for file in files) else []
    if not names or len(names) > _MOST_SHARDS:
        raise ModelError(
            Message(
                "{index_file} of {name} must name from 1 to {most_shards:,} weight "
                "files, not {names:,}; get the model's files again.",
                index_file=INDEX_FILE,
                name=name,
                most_shards=_MOST_SHARDS,
                names=len(names),
            )
        )
    for shard in names:
        if not is_plain_name(shard) or not shard.endswith(_WEIGHTS):
            raise ModelError(
                Message(
                    "{index_file} of {name} names {shard!r}, which is no weight file "
                    "of the same folder; get the model's files again.",
                    index_file=INDEX_FILE,
                    name=name,
                    shard=str(shard)[:80],
                )
            )
    return names


def weights_digest(folder: Path) -> str:
    """Return a short digest of each weight file's size, first and last megabyte."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        digest.update(f"{path.name}:{path.stat().st_size}".encode())
        digest.update(ends_of(path, MIB))
    return digest.hexdigest()[:12]


def ends_of(path: Path, size: int) -> bytes:
    """Return the first and the last bytes of a file, so many each; they may overlap."""
    with path.open("rb") as file:
        first = file.read(size)
        file.seek(max(0, path.stat().st_size - size))
        return first + file.read(size)
