"""From a GGUF file to the folder of its conversion, made where there is none yet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...decoding.errors import ModelError
from ...decoding.files import reason_of
from ...installation import require_extra
from ...language import N_, Message
from ..isolation.client import LimitError, RequestLimits, ask
from ..loading.folder import CONFIG_FILE
from ..loading.memory import check_disk, check_memory, free_bytes, in_words, reserved
from ..places import GGUF_SUFFIX
from ..reporting import current_report
from ..stopping import ShouldStop
from .cache import (
    being_converted,
    cache_root,
    content_of,
    converted,
    key_of,
    moved,
)

if TYPE_CHECKING:
    from .header import GgufHeader

_SHOWN = 4
# Bytes that transformers holds of the largest tensor while it converts it, a number of it.
_WHILE_CONVERTED = 12
# Memory of a conversion beside weights: the parsed header, a tokenizer.
_BESIDE_BYTES, _BESIDE_HEADER = 2**29, 128
_HEADER_LIMITS = RequestLimits(cpu_seconds=10, seconds=60.0, memory_bytes=2**29)
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
    files = sorted(path for path in where.glob(f"*{GGUF_SUFFIX}") if os.path.isfile(path))
    if len(files) > 1:
        more = ", ..." if len(files) > _SHOWN else ""
        names = ", ".join(path.name for path in files[:_SHOWN])
        raise ModelError(
            Message(
                "The folder {name} holds {files} GGUF files ({names}{more}); name one of them.",
                name=name,
                files=len(files),
                names=names,
                more=more,
            )
        )
    return files[0] if files else None


def converted_folder(
    file: Path, model_id: str, name: str, dtype: str, should_stop: ShouldStop
) -> Path:
    """The folder of safetensors that a file was converted to, now or before.

    Args:
        name: the file in a sentence.
        dtype: of the weights in the folder.

    Raises:
        ModelError: the file is none that can be used here, or there is no room for it.
        LoadingStoppedError: `should_stop` returned True.
    """
    try:
        key = key_of(file, dtype)
    except OSError as error:
        raise ModelError(
            Message(
                "{name} can't be read ({reason}); check the file.",
                name=name,
                reason=reason_of(error),
            )
        ) from None
    if folder := converted(key):
        check_memory(model_id, sum(path.stat().st_size for path in folder.glob("*.safetensors")))
        return folder
    require_extra("gguf", "gguf", ModelError)
    arguments = _arguments(file, name)
    header = header_of(file, name, should_stop)
    bytes_of_weights = (4 if dtype == "float32" else 2) * header["parameters"]
    check_memory(model_id, bytes_of_weights)
    if folder := moved(key, content_of(file), dtype):
        return folder
    needed = bytes_of_weights + _WHILE_CONVERTED * header["largest"]
    check_memory(model_id, needed)
    words = N_(
        "{subject} takes {needed} once it is converted, and {free} are free on the disk; make "
        "room, or use a smaller model."
    )
    check_disk(cache_root(), bytes_of_weights, name, words)
    current_report()(
        Message(
            "Converting once: {parameters:,} parameters take {memory} of memory ({free} are free) "
            "and {disk} in {folder}",
            parameters=header["parameters"],
            memory=in_words(needed),
            free=in_words(free_bytes()),
            disk=in_words(bytes_of_weights),
            folder=cache_root(),
        )
    )
    with reserved(model_id, needed, should_stop), being_converted(key) as out:
        _convert(arguments | {"out": str(out), "dtype": dtype}, header, needed, should_stop)
        if key_of(file, dtype) != key:
            raise ModelError(
                Message("{name} changed while it was converted; load the model again.", name=name)
            )
    return cache_root() / key


def header_of(file: Path, name: str, should_stop: ShouldStop) -> GgufHeader:
    """Return the header of a file, which a child process reads.

    Raises:
        ModelError, LoadingStoppedError: as `converted_folder`.
    """
    arguments = _arguments(file, name)
    header: GgufHeader = _asked("Reading", "read_header", _HEADER_LIMITS, should_stop, arguments)
    return header


def _arguments(file: Path, name: str) -> dict[str, Any]:
    return {"path": str(file.absolute()), "name": name}


def _convert(
    arguments: dict[str, Any], header: GgufHeader, needed: int, should_stop: ShouldStop
) -> None:
    beside = _BESIDE_BYTES + _BESIDE_HEADER * header["data_start"]
    limits = RequestLimits(_CPU_SECONDS, _SECONDS, needed + beside)
    _asked("Converting", "convert_gguf", limits, should_stop, arguments)


def _asked(
    verb: str,
    task: str,
    limits: RequestLimits,
    should_stop: ShouldStop,
    arguments: dict[str, Any],
) -> Any:
    try:
        return ask(task, limits, should_stop, **arguments)
    except LimitError as error:
        raise ModelError(
            Message(
                "{verb} {arguments} {reason}; get the file again, or use another one.",
                verb=verb,
                arguments=arguments["name"],
                reason=error.reason,
            )
        ) from None
