"""A look at a GGUF file before anything of it is read: its header, walked in bounds.

The layout is llama.cpp's (ggml, docs/gguf.md, versions 2 and 3): magic, version, two counts, the
metadata, and a table of tensors, then the tensors' bytes.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.decoding.errors import ModelError

SUFFIX = ".gguf"
MAGIC = b"GGUF"
_LENGTH = struct.Struct("<Q")  # of a text
_VERSIONS = (2, 3)
# Several times what the largest known models have.
_MOST_HEADER_BYTES = 2**28
_MOST_ENTRIES = 65_536
_MOST_DIMENSIONS = 4
_MOST_NUMBERS = 2**44
_MOST_TEXT = 2**24  # Of a chat template or a name that is kept; longer texts are walked over.
_ALIGNMENT = "general.alignment"
_ARCHITECTURE = "general.architecture"
_FILE_TYPE = "general.file_type"
_SPLITS = "split.count"
# Tokens that end a run: of the text, of a turn, of a message, and three of filling in.
_ENDS = tuple(
    f"tokenizer.ggml.{name}_token_id"
    for name in ("eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep")
)
# Formats of `struct` by ggml's number of a type of metadata; 8 is a text, 9 an array.
_FORMATS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
_TEXT, _ARRAY = 8, 9


def kind_of_path(text: str) -> str:
    """What a path is meant to lead to, by how it is written."""
    return "file" if text.lower().endswith(SUFFIX) else "folder"


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A row of the table: `kind` is ggml's number of the type, `offset` counts from the data."""

    name: str
    numbers: int
    kind: int
    offset: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a file says of itself.

    Args:
        architecture: llama.cpp's name of it.
        file_type: ggml's number of the quantization; None where it isn't said.
        splits: files that the model is cut into.
        data_start: where the tensors' bytes begin.
        end_ids: the tokens that it names as ends.
    """

    architecture: str
    file_type: int | None
    splits: int
    tensors: tuple[TensorRow, ...]
    data_start: int
    end_ids: frozenset[int] = frozenset()

    @property
    def parameters(self) -> int:
        """Numbers in all tensors."""
        return sum(tensor.numbers for tensor in self.tensors)

    @property
    def largest(self) -> int:
        """Numbers in the largest tensor."""
        return max((tensor.numbers for tensor in self.tensors), default=0)


class _DamagedError(Exception):
    """What the header's bytes can't mean; the reason within a sentence."""


def begins_as_gguf(path: Path) -> bool:
    """Whether it is a regular file that begins as GGUF files do."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            return stat.S_ISREG(os.fstat(descriptor).st_mode) and file.read(4) == MAGIC
    except (OSError, ValueError):
        return False


def read_header(path: Path, name: str) -> GgufHeader:
    """The header of a file.

    Args:
        name: the file in a sentence.

    Raises:
        ModelError: what is wrong with it.
    """
    if not begins_as_gguf(path):
        raise ModelError(
            f"{name} is a file, but no GGUF file; give a .gguf file, or the folder that holds the "
            "model."
        )
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
            return header_in(raw, name)
    except OSError as error:
        raise ModelError(f"{name} can't be read ({error.strerror}); check the file.") from None


def header_in(raw: bytes | mmap.mmap, name: str) -> GgufHeader:
    """The header that a file's bytes begin with; the tensors must lie within the bytes.

    Raises:
        ModelError: what is wrong with it.
    """
    try:
        header = _walk(raw)
    except (_DamagedError, struct.error, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, _DamagedError) else "it ends too soon"
        if isinstance(error, UnicodeDecodeError):
            reason = "a name in it is no text"
        raise ModelError(
            f"The GGUF header of {name} is damaged or cut off ({reason}); get the file again."
        ) from None
    _check_tensors(header, len(raw), name)
    return header


class _Cursor:
    """A place in the bytes that moves on as they are read."""

    def __init__(self, raw: bytes | mmap.mmap) -> None:
        self.raw = raw
        self.at = 0
        self.end = min(len(raw), _MOST_HEADER_BYTES)

    def numbers(self, layout: str) -> tuple[int | float, ...]:
        """Little-endian numbers of these formats."""
        found = struct.unpack_from(f"<{layout}", self.raw, self.at)
        self.skip(struct.calcsize(f"<{layout}"))
        return found

    def whole(self, layout: str) -> int:
        """One whole number."""
        return int(self.numbers(layout)[0])

    def skip(self, count: int) -> None:
        """Move on by so many bytes."""
        if count > self.end - self.at:
            raise _DamagedError("it ends too soon")
        self.at += count

    def skip_texts(self, count: int) -> None:
        """Move on behind so many texts: a vocabulary has a hundred thousand."""
        at = self.at
        for _ in range(count):  # Each takes eight bytes at least, so that the end comes in time.
            at += _LENGTH.size + _LENGTH.unpack_from(self.raw, at)[0]
            if at > self.end:
                raise _DamagedError("it ends too soon")
        self.at = at

    def text(self) -> str:
        """A text, its length before it."""
        length = self.whole("Q")
        begin = self.at
        self.skip(length)
        if length > _MOST_TEXT:
            raise _DamagedError(f"a text of {length:,} bytes")
        return bytes(self.raw[begin : self.at]).decode("utf-8")


def _walk(raw: bytes | mmap.mmap) -> GgufHeader:
    cursor = _Cursor(raw)
    if bytes(raw[:4]) != MAGIC:
        raise _DamagedError("it doesn't begin with GGUF")
    cursor.skip(4)
    version = cursor.whole("I")
    if version not in _VERSIONS:
        raise _DamagedError(f"version {version} of the format; 2 and 3 are known")
    tensors, entries = cursor.whole("Q"), cursor.whole("Q")
    if max(tensors, entries) > _MOST_ENTRIES:
        raise _DamagedError(f"{tensors:,} tensors and {entries:,} entries")
    said = dict(_metadata(cursor, entries))
    rows = tuple(_row(cursor) for _ in range(tensors))
    architecture = said.get(_ARCHITECTURE)
    if not isinstance(architecture, str):
        raise _DamagedError("it names no architecture")
    alignment = _whole(said, _ALIGNMENT) or 32
    if not 1 <= alignment <= 2**20:
        raise _DamagedError(f"an alignment of {alignment:,}")
    return GgufHeader(
        architecture,
        _whole(said, _FILE_TYPE),
        _whole(said, _SPLITS) or 1,
        rows,
        -(-cursor.at // alignment) * alignment,
        frozenset(end for key in _ENDS if (end := _whole(said, key)) is not None),
    )


def _whole(said: dict[str, object], key: str) -> int | None:
    found = said.get(key)
    return found if isinstance(found, int) else None


def _metadata(cursor: _Cursor, entries: int) -> Iterator[tuple[str, object]]:
    """Keys with their values; of an array only that it is there."""
    for _ in range(entries):
        key = cursor.text()
        kind = cursor.whole("I")
        if kind == _TEXT:
            yield key, cursor.text()
        elif kind == _ARRAY:
            _skip_array(cursor)
            yield key, None
        else:
            yield key, cursor.numbers(_format(kind))[0]


def _skip_array(cursor: _Cursor) -> None:
    kind, count = cursor.whole("I"), cursor.whole("Q")
    if kind != _TEXT:
        cursor.skip(count * struct.calcsize(f"<{_format(kind)}"))
        return
    cursor.skip_texts(count)


def _format(kind: int) -> str:
    if kind not in _FORMATS:
        raise _DamagedError(f"a value of type {kind}")
    return _FORMATS[kind]


def _row(cursor: _Cursor) -> TensorRow:
    name = cursor.text()
    dimensions = cursor.whole("I")
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise _DamagedError(f"a tensor of {dimensions:,} dimensions")
    shape = cursor.numbers(f"{dimensions}Q")
    numbers = math.prod(int(length) for length in shape)
    if not 0 < numbers <= _MOST_NUMBERS:
        raise _DamagedError(f"a tensor of {numbers:,} numbers")
    return TensorRow(name, numbers, cursor.whole("I"), cursor.whole("Q"))


def _check_tensors(header: GgufHeader, size: int, name: str) -> None:
    """Every tensor is of a known type and lies in the file."""
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    ends = [header.data_start]
    for tensor in header.tensors:
        try:
            block, width = GGML_QUANT_SIZES[GGMLQuantizationType(tensor.kind)]
        except (KeyError, ValueError):
            raise ModelError(
                f"{name} holds numbers of ggml's type {tensor.kind}, which isn't known here; use "
                "another quantization."
            ) from None
        ends.append(header.data_start + tensor.offset + tensor.numbers // block * width)
    if not header.tensors:
        raise ModelError(f"{name} holds no tensors; give the file of a whole model.")
    if max(ends) > size:
        raise ModelError(
            f"{name} is cut off: its tensors end at byte {max(ends):,}, and it has {size:,}; get "
            "it again."
        )


def quantization(header: GgufHeader) -> str:
    """ggml's name of the file's quantization, such as `Q4_K_M`."""
    from gguf import LlamaFileType

    if header.file_type not in {int(kind) for kind in LlamaFileType}:
        return "unknown quantization"
    named = LlamaFileType(int(header.file_type or 0)).name
    return named.removeprefix("MOSTLY_").removeprefix("ALL_")
