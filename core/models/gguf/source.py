"""From a GGUF file to the folder of its conversion, made where there is none yet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from core.decoding.errors import ModelError
from core.models.gguf.cache import (
    being_converted,
    cache_root,
    check_room,
    content_of,
    converted,
    key_of,
    moved,
)
from core.models.gguf.header import SUFFIX, GgufHeader, read_header
from core.models.isolation import client
from core.models.isolation.client import LimitError, RequestLimits
from core.models.loading.folder import CONFIG_FILE
from core.models.loading.memory import check_memory, free_bytes, in_words, reserved
from core.models.reporting import current_report
from core.models.stopping import ShouldStop

_SHOWN = 4
# Bytes that transformers holds of the largest tensor while it converts it, a number of it.
_WHILE_CONVERTED = 12
# What a conversion may take beside weights: the parsed header, a tokenizer.
_BESIDE_BYTES, _BESIDE_HEADER = 2**29, 128
_CPU_SECONDS, _SECONDS = 1_800, 4 * 3_600.0


def gguf_in(where: Path, name: str) -> Path | None:
    """The GGUF file that a path leads to, itself or alone in its folder; None where none does.

    Raises:
        ModelError: the folder holds several.
    """
    if os.path.isfile(where):  # Unlike a path's own method it answers for any text.
        return where
    if not os.path.isdir(where) or os.path.exists(where / CONFIG_FILE):
        return None
    found = sorted(path for path in where.glob(f"*{SUFFIX}") if os.path.isfile(path))
    if len(found) > 1:
        others = ", ..." if len(found) > _SHOWN else ""
        names = ", ".join(path.name for path in found[:_SHOWN])
        raise ModelError(
            f"The folder {name} holds {len(found)} GGUF files ({names}{others}); name one of them."
        )
    return found[0] if found else None


def converted_folder(
    file: Path, model_id: str, name: str, dtype: str, should_stop: ShouldStop
) -> Path:
    """The folder of safetensors that a file was converted to, now or before.

    Args:
        name: the file in a sentence.
        dtype: of the weights in the folder.

    Raises:
        ModelError: the file is none that can be used here, or there is no room for it.
        LoadingStoppedError: `should_stop` said so.
    """
    header = read_header(file, name)
    _check_kind(header, name)
    size = 4 if dtype == "float32" else 2
    check_memory(model_id, size * header.parameters)
    key = key_of(file, dtype)
    if folder := converted(key) or moved(key, content_of(file), dtype):
        return folder
    needed = size * header.parameters + _WHILE_CONVERTED * header.largest
    check_memory(model_id, needed)
    check_room(name, size * header.parameters)
    current_report()(_announcement(header, needed, size))
    with reserved(model_id, needed, should_stop), being_converted(key) as out:
        _convert(file, name, out, dtype, _limits(header, needed), should_stop)
        if key_of(file, dtype) != key:
            raise ModelError(f"{name} changed while it was converted; load the model again.")
    return cache_root() / key


def _announcement(header: GgufHeader, needed: int, size: int) -> str:
    return (
        f"Converting once: {header.parameters:,} parameters take {in_words(needed)} of memory "
        f"({in_words(free_bytes())} are free) and {in_words(size * header.parameters)} in "
        f"{cache_root()}"
    )


def _check_kind(header: GgufHeader, name: str) -> None:
    """See that it is one whole model of an architecture that transformers reads.

    Raises:
        ModelError: what it is instead.
    """
    from transformers.integrations.gguf import is_gguf_arch_supported
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

    if header.splits > 1:
        raise ModelError(
            f"{name} is one of the {header.splits} files of a model; join them with llama.cpp's "
            "llama-gguf-split --merge."
        )
    known = (*GGUF_SUPPORTED_ARCHITECTURES, "command-r", "qwen2moe", "qwen3moe", "gpt-oss")
    if header.architecture not in known and not is_gguf_arch_supported(header.architecture):
        raise ModelError(
            f"{name} has the architecture {header.architecture[:40]}, which transformers can't "
            "read from GGUF; use another model, or its safetensors."
        )


def _limits(header: GgufHeader, needed: int) -> RequestLimits:
    beside = _BESIDE_BYTES + _BESIDE_HEADER * header.data_start
    return RequestLimits(_CPU_SECONDS, _SECONDS, needed + beside)


def _convert(
    file: Path, name: str, out: Path, dtype: str, limits: RequestLimits, should_stop: ShouldStop
) -> None:
    arguments: dict[str, Any] = {
        "path": str(file.absolute()),
        "name": name,
        "out": str(out),
        "dtype": dtype,
    }
    if not client.AVAILABLE:
        from core.models.gguf.conversion import convert_gguf

        convert_gguf(**arguments)
        return
    try:
        client.ask("convert_gguf", limits, should_stop, **arguments)
    except LimitError as error:
        raise ModelError(
            f"Converting {name} {error.reason}; get the file again, or use another one."
        ) from None
