"""Name of the model that a GGUF file was made from: its folder's, or the one of its header."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...decoding.errors import ModelError
from ...language import N_, Message
from ..loading.folder import check_folder
from ..places import EMBEDDED_PREFIX, list_embedded
from ..stopping import ShouldStop, never
from .source import header_of

_HUB = re.compile(
    r"(?:https?://(?:www\.)?(?:huggingface\.co|hf\.co)/)?"
    r"(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}?)(?:\.git)?/?"
)


class Original(NamedTuple):
    """The model that a file was made from.

    Args:
        where: a folder, a hub id or `embedded:NAME`, as `load_model` takes it.
        known_by: what names it, in a sentence.
    """

    where: str
    known_by: str


def original_of(file: Path, name: str, should_stop: ShouldStop = never) -> Original:
    """Return the model that a GGUF file was made from.

    It is the checkpoint in the file's folder; else the source that the file's header names; else
    the only base model that the header names.

    Args:
        name: the file in a sentence.

    Raises:
        ModelError: none of them is known, or the header can't be read.
        LoadingStoppedError: `should_stop` returned True.
    """
    with suppress(ModelError):
        check_folder(file.parent, str(file.parent))
        return Original(str(file.parent), Message("The checkpoint beside {name} is", name=name))
    header = header_of(file, name, should_stop)
    for texts, words in (
        (header["sources"], N_("{name} names as its source")),
        (header["base_models"], N_("{name} names as its base model")),
    ):
        names = list(dict.fromkeys(filter(None, map(model_named, texts))))
        if len(names) == 1:
            return Original(names[0], Message(words, name=name))
    raise ModelError(
        Message(
            "{name} doesn't name the model that it was made from, and its folder holds "
            "no checkpoint: give that model, as a folder or a hub id, to side B.",
            name=name,
        )
    )


def model_named(text: str) -> str:
    """Return the hub id or the embedded model that a text of a header names; empty for none.

    No path: a file from elsewhere must not choose a folder of this machine.
    """
    text = text.strip()
    if text.removeprefix(EMBEDDED_PREFIX) in list_embedded() and text.startswith(EMBEDDED_PREFIX):
        return text
    match = _HUB.fullmatch(text)
    return match["repo"] if match else ""
