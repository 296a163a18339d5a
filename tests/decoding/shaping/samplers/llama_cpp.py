"""llama.cpp's own samplers, by the C functions of the library that `xllamacpp` ships."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

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
        alive = [(token, logit, 0.0) for token, logit in enumerate(logits) if logit > -float("inf")]
        data = (_Token * len(alive))(*alive)
        tokens = _Tokens(data, len(alive), -1, False)
        self._library.llama_sampler_apply(self._sampler, ctypes.byref(tokens))
        left = [tokens.data[at] for at in range(tokens.size)]
        return Applied(
            {token.id: token.logit for token in left},
            {token.id: token.p for token in left},
            left[tokens.selected].id if tokens.selected >= 0 else None,
        )

    def accept(self, token_id: int) -> None:
        """Tell it which token was chosen."""
        self._library.llama_sampler_accept(self._sampler, ctypes.c_int32(token_id))
