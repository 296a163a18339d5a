"""Header of a GGUF file, read by llama.cpp's `gguf`; a child process bounds it (`source`)."""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFValueType, LlamaFileType
from gguf.gguf_reader import READER_SUPPORTED_VERSIONS
from transformers.integrations.gguf import is_gguf_arch_supported
from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

from ...decoding.errors import ModelError
from ...decoding.files import reason_of
from ...decoding.validation import shortened
from ...language import N_, Message
from ..places import begins_as_gguf

_KNOWN = (*GGUF_SUPPORTED_ARCHITECTURES, "command-r", "qwen2moe", "qwen3moe", "gpt-oss")
# Tokens that end a run: of the text, of a turn, of a message, and three of filling in.
_ENDS = ("eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep")
# Keys that name the model that a file was made from, and its base models.
_SOURCES = [f"general.source.{name}" for name in ("huggingface.repository", "repo_url", "url")]
_BASE_MODELS = [
    f"general.base_model.{at}.{name}" for at in range(8) for name in ("repo_url", "url")
]
_LONGEST_NAME = 200
_TEXT_LENGTH = struct.Struct("<Q")


class GgufHeader(TypedDict):
    """Facts about a file that a conversion needs before it begins.

    Args:
        parameters: numbers in all tensors.
        largest: numbers in the largest tensor.
        data_start: where the tensors' bytes begin.
        end_ids: the tokens that it names as ends.
        sources: names or addresses of the model that it was made from, as it has them.
        base_models: the same of the models that this one was trained from.
    """

    quantization: str
    parameters: int
    largest: int
    data_start: int
    end_ids: list[int]
    sources: list[str]
    base_models: list[str]


class _HeaderReader(GGUFReader):
    """The library's reader without items of arrays and without tensors.

    For a vocabulary of 128,000 tokens the library takes 5 s of the processor, their lengths alone
    0.06 s.
    """

    rows: list[tuple[int, int, int]]
    """Of each tensor: how many numbers, their type, and where they begin behind the header."""

    def _get_field_parts(self, start: int, raw_type: int) -> tuple[int, list[Any], list[int], Any]:
        if raw_type != GGUFValueType.ARRAY:
            parts = super()._get_field_parts(start, int(raw_type))
            return cast("tuple[int, list[Any], list[int], Any]", parts)
        raw = self.data.data
        kind, count = struct.unpack_from("<IQ", raw, start)
        end = start + 12
        if kind == GGUFValueType.STRING:
            for _ in range(count):
                end += _TEXT_LENGTH.size + _TEXT_LENGTH.unpack_from(raw, end)[0]
        else:
            end += count * np.dtype(self.gguf_scalar_to_np[GGUFValueType(kind)]).itemsize
        return end - start, [], [], [GGUFValueType.ARRAY]

    def _build_tensors(self, _start: int, fields: list[Any]) -> None:
        self.rows = [
            (math.prod(shape.tolist()), int(kind[0]), int(offset[0]))
            for *_, shape, kind, offset in (field.parts for field in fields)
        ]

    def value(self, key: str) -> Any:
        """The value of a key; None where it isn't there, or is an array."""
        field = self.get_field(key)
        return field.contents() if field and field.parts[3:] else None


def read_header(path: str, name: str) -> GgufHeader:
    """Read the header of a file that holds one whole model of a known architecture.

    Args:
        name: the file in a sentence.

    Raises:
        ModelError: what is wrong with it.
    """
    file = Path(path)
    if not begins_as_gguf(file):
        raise ModelError(
            Message(
                "{name} is a file, but no GGUF file; give a .gguf file, or the folder "
                "that holds the model.",
                name=name,
            )
        )
    try:
        with file.open("rb") as opened:
            version = int.from_bytes(opened.read(8)[4:], "little")
        if version not in READER_SUPPORTED_VERSIONS:  # Another order of bytes, too.
            raise ValueError(f"version {version} of the format; 2 and 3 are known")
        reader = _HeaderReader(path)
        architecture = reader.value("general.architecture")
        if not isinstance(architecture, str):
            raise ValueError("it names no architecture")
    except MemoryError:
        raise
    except OSError as error:
        raise ModelError(
            Message(
                "{name} can't be read ({reason}); check the file.",
                name=name,
                reason=reason_of(error),
            )
        ) from None
    except Exception as error:
        raise ModelError(
            Message(
                "The GGUF header of {name} is damaged or cut off ({reason}); get the file again.",
                name=name,
                reason=_reason(error),
            )
        ) from None
    _check_kind(reader, architecture, name)
    _check_tensors(reader, file.stat().st_size, name)
    numbers = [count for count, *_ in reader.rows]
    ends = [reader.value(f"tokenizer.ggml.{end}_token_id") for end in _ENDS]
    return {
        "quantization": _quantization(reader.value("general.file_type")),
        "parameters": sum(numbers),
        "largest": max(numbers),
        "data_start": int(reader.data_offset),
        "end_ids": [end for end in ends if isinstance(end, int)],
        "sources": _texts(reader, _SOURCES),
        "base_models": _texts(reader, _BASE_MODELS),
    }


def _texts(reader: _HeaderReader, keys: list[str]) -> list[str]:
    """Return the texts of these keys that are short and printable."""
    texts = list[str]()
    for key in keys:
        with suppress(UnicodeDecodeError):
            value = reader.value(key)
            if isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isprintable():
                texts.append(value)
    return texts


def _reason(error: Exception) -> str:
    if isinstance(error, IndexError | struct.error):
        return N_("it ends too soon")
    if isinstance(error, UnicodeDecodeError):
        return N_("a name in it is no text")
    return shortened(" ".join(str(error).split()), 100)


def _check_kind(reader: _HeaderReader, architecture: str, name: str) -> None:
    """Refuse a part of a model, and an architecture that transformers can't read."""
    splits = reader.value("split.count")
    if isinstance(splits, int) and splits > 1:
        raise ModelError(
            Message(
                "{name} is one of the {splits} files of a model; join them with "
                "llama.cpp's llama-gguf-split --merge.",
                name=name,
                splits=splits,
            )
        )
    if architecture not in _KNOWN and not is_gguf_arch_supported(architecture):
        raise ModelError(
            Message(
                "{name} has the architecture {architecture}, which transformers can't "
                "read from GGUF; use another model, or its safetensors.",
                name=name,
                architecture=architecture[:40],
            )
        )


def _check_tensors(reader: _HeaderReader, size: int, name: str) -> None:
    """Refuse a file whose tensors are of an unknown type or lie beyond its end."""
    if not reader.rows:
        raise ModelError(
            Message("{name} holds no tensors; give the file of a whole model.", name=name)
        )
    end = 0
    for count, kind, offset in reader.rows:
        try:
            block, width = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        except (KeyError, ValueError):
            raise ModelError(
                Message(
                    "{name} holds numbers of ggml's type {kind}, which isn't known "
                    "here; use another quantization.",
                    name=name,
                    kind=kind,
                )
            ) from None
        end = max(end, int(reader.data_offset) + offset + count // block * width)
    if end > size:
        raise ModelError(
            Message(
                "{name} is cut off: its tensors end at byte {end:,}, and it has "
                "{size:,}; get it again.",
                name=name,
                end=end,
                size=size,
            )
        )


def _quantization(file_type: object) -> str:
    """ggml's name of the file's quantization, such as `Q4_K_M`."""
    if file_type not in {int(kind) for kind in LlamaFileType}:
        return "unknown quantization"
    return LlamaFileType(file_type).name.removeprefix("MOSTLY_").removeprefix("ALL_")
