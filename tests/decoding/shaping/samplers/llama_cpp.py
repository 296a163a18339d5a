"""llama.cpp's own samplers, by the C functions of the library that `xllamacpp` ships."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

needs_llama_cpp = pytest.mark.skipif(
    find_spec("xllamacpp") is None, reason="xllamacpp, whose library has the samplers, is missing"
)
_TYPES = {"f": ctypes.c_float, "i": ctypes.c_int32, "u": ctypes.c_uint32, "p": ctypes.c_void_p}


class _Token(ctypes.Structure):
    _fields_ = (("id", ctypes.c_int32), ("logit", ctypes.c_float), ("p", ctypes.c_float))


class _Tokens(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.POINTER(_Token)),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("sorted", ctypes.c_bool),
    )


class Applied(NamedTuple):
    """Logits and probabilities by token that a sampler left, and the token that it drew, if any."""

    logits: dict[int, float]
    probs: dict[int, float]
    drawn: int | None


def _library() -> Any:
    """Return the loaded library; a second load returns the same."""
    import xllamacpp

    (path,) = Path(xllamacpp.__file__).parent.glob("xllamacpp*.so")
    return ctypes.CDLL(str(path))


class Sampler:
    """A sampler of llama.cpp.

    Args:
        name: the function's name after `llama_sampler_init_`.
        types: a letter for each argument: f(loat), i(nt32), u(int32), p(ointer).
    """

    def __init__(self, name: str, types: str, *arguments: Any) -> None:
        self._library = _library()
        make = getattr(self._library, f"llama_sampler_init_{name}")
        make.restype, make.argtypes = ctypes.c_void_p, [_TYPES[letter] for letter in types]
        self._sampler = ctypes.c_void_p(make(*arguments))

    def apply(self, logits: Sequence[float]) -> Applied:
        """Apply it to logits; removed tokens (-inf) are left out, as in llama.cpp's chain."""
        numbers = np.asarray(logits, dtype=np.float32)
        alive = np.flatnonzero(numbers > -np.inf)
        data = np.zeros(len(alive), dtype=_Token)
        data["id"], data["logit"] = alive, numbers[alive]
        tokens = _Tokens(data.ctypes.data_as(ctypes.POINTER(_Token)), len(alive), -1, False)
        self._library.llama_sampler_apply(self._sampler, ctypes.byref(tokens))
        left = np.ctypeslib.as_array(tokens.data, (tokens.size,))
        ids = left["id"].tolist()
        return Applied(
            dict(zip(ids, left["logit"].tolist(), strict=True)),
            dict(zip(ids, left["p"].tolist(), strict=True)),
            ids[tokens.selected] if tokens.selected >= 0 else None,
        )

    def accept(self, token_id: int) -> None:
        """Tell it which token was chosen."""
        self._library.llama_sampler_accept(self._sampler, ctypes.c_int32(token_id))


class _Parameters(ctypes.Structure):
    """llama.cpp's parameters of a model, larger than they are; only its own functions read them."""

    _fields_ = (("raw", ctypes.c_char * 512),)


class Vocabulary:
    """The vocabulary of a GGUF file, by llama.cpp; the loaded model stays in memory."""

    def __init__(self, path: Path) -> None:
        self._library = library = _library()
        library.llama_model_default_params.restype = _Parameters
        library.llama_model_load_from_file.restype = ctypes.c_void_p
        library.llama_model_load_from_file.argtypes = [ctypes.c_char_p, _Parameters]
        library.llama_model_get_vocab.restype = ctypes.c_void_p
        library.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        library.llama_token_to_piece.argtypes = [
            *(ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p),
            *(ctypes.c_int32, ctypes.c_int32, ctypes.c_bool),
        ]
        library.llama_tokenize.argtypes = [
            *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p),
            *(ctypes.c_int32, ctypes.c_bool, ctypes.c_bool),
        ]
        library.llama_log_set(_SILENT, None)
        model = library.llama_model_load_from_file(
            str(path).encode(), library.llama_model_default_params()
        )
        self.pointer = library.llama_model_get_vocab(model)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token."""
        buffer = ctypes.create_string_buffer(256)
        size = self._library.llama_token_to_piece(self.pointer, token_id, buffer, 256, 0, True)
        return buffer.raw[:size]

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without special tokens."""
        ids, raw = (ctypes.c_int32 * 1000)(), text.encode()
        count = self._library.llama_tokenize(
            self.pointer, raw, len(raw), ids, len(ids), False, False
        )
        return list(ids[:count])


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _SILENT(*_: object) -> None:
    """Take llama.cpp's log."""


def dry_sampler(
    vocabulary: Vocabulary, numbers: tuple[float, float, int, int], breakers: Sequence[str]
) -> Sampler:
    """Return llama.cpp's DRY: multiplier, base, allowed length and range, and breakers."""
    texts = (ctypes.c_char_p * len(breakers))(*(text.encode() for text in breakers))
    return Sampler("dry", "pffiipi", vocabulary.pointer, *numbers, texts, len(breakers))
