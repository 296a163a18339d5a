"""Kinds of model folder that a stranger may hand over: how each is made from a good one."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from tests.models.builders import random_model, tiny_tokenizer

Break = Callable[[Path], object]
# What a kind is, to what the refusal says of it.
Kinds = dict[str, tuple[Break, str]]

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
TRAP = "sprung"  # A file that code of the folder would write.
DEEP = 200_000


def make_good(folder: Path) -> None:
    """A tiny Llama with its tokenizer."""
    random_model("llama").save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)


def edit(name: str, **changes: object) -> Break:
    """Set fields of a JSON file of the folder."""

    def change(folder: Path) -> None:
        path = folder / name
        values = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps(values | changes))

    return change


def write(name: str, content: str | bytes) -> Break:
    """Write a file of the folder anew."""
    raw = content.encode() if isinstance(content, str) else content
    return lambda folder: (folder / name).write_bytes(raw)


def instead(name: str, make: Callable[[Path], object]) -> Break:
    """Put something else in the place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return change


def fifo(name: str) -> Break:
    """A pipe that nobody writes to."""
    return instead(name, os.mkfifo)


def link(name: str, target: str) -> Break:
    """A link to elsewhere."""
    return instead(name, lambda path: path.symlink_to(target))


def sparse(name: str, size: int) -> Break:
    """A file of so many zeros, which take no room."""

    def make(path: Path) -> None:
        path.touch()
        os.truncate(path, size)

    return instead(name, make)


def indexed(shards: object) -> Break:
    """An index instead of the one weights file."""

    def change(folder: Path) -> None:
        (folder / WEIGHTS).rename(folder.parent / "outside.safetensors")
        (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": shards}))

    return change


def tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Break:
    """The weights with something done to them."""

    def rewrite(folder: Path) -> None:
        weights = load_file(folder / WEIGHTS)
        change(weights)
        save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})

    return rewrite


def header(change: Callable[[dict[str, Any]], object]) -> Break:
    """The weights file with another header over the same numbers."""

    def rewrite(folder: Path) -> None:
        raw = (folder / WEIGHTS).read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        entries = json.loads(raw[8 : 8 + length])
        new = json.dumps(change(entries) or entries).encode()
        content = struct.pack("<Q", len(new)) + new + raw[8 + length :]
        (folder / WEIGHTS).write_bytes(content)

    return rewrite


def appended(name: str, more: bytes) -> Break:
    """Something behind a file's end."""
    return lambda folder: (folder / name).open("ab").write(more)


def cut(name: str) -> Break:
    """Half of a file."""
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size // 2)


def another(kind: str, **fields: Any) -> Break:
    """The weights and configuration of another tiny model, with fields of the latter changed."""

    def change(folder: Path) -> None:
        random_model(kind).save_pretrained(folder)
        edit(CONFIG, **fields)(folder)

    return change


def with_trap(*names: str) -> Break:
    """Python files that write a file when they are run."""

    def make(folder: Path) -> None:
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(f"open({str(folder.parent / TRAP)!r}, 'w').close()\n")

    return make


def both(*changes: Break) -> Break:
    """One after the other."""
    return lambda folder: [change(folder) for change in changes]


def pickled(folder: Path) -> None:
    """Weights that write a file when they are unpickled, and no others."""
    sprung = str(folder.parent / TRAP)

    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str, str]]:
            return (open, (sprung, "w"))

    (folder / WEIGHTS).unlink()
    torch.save({"x": Trap()}, folder / "pytorch_model.bin")
