"""Short text of a value: its type and shape, a number, or a text cut at 80 characters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import islice
from typing import Any

import torch

LONGEST = 80
_FEW = 5
# Types of record fields and of sequence items that are shown.
_SHOWN = (int, float, str, torch.Tensor)
_WRITERS: dict[type[Any], Callable[[Any], str]] = {}


def short(value: Any) -> str:
    """Return one line of at most `LONGEST` characters, plus two quotation marks for a text."""
    kind = type(value)
    write = _WRITERS.get(kind)
    if write is None:
        write = _WRITERS[kind] = _writer(kind)
    return write(value)


def _writer(kind: type[Any]) -> Callable[[Any], str]:
    """Return the formatter of a type; cached, since a run has thousands of values."""
    plain: dict[type, Callable[[Any], str]] = {
        bool: repr,
        int: lambda value: _cut(repr(value)),
        float: "{:.6g}".format,
        type(None): repr,
        str: lambda value: repr(_cut(value)),
        bytes: lambda value: f"{len(value)} bytes",
    }
    if kind in plain:
        return plain[kind]
    if issubclass(kind, torch.Tensor):
        return _tensor
    names = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if names is not None:
        return lambda value: _record(value, dict.fromkeys(names, MISSING))
    if is_dataclass(kind):
        defaults = {field.name: _default(field) for field in fields(kind)}
        return lambda value: _record(value, defaults)
    if hasattr(kind, "get_seq_length"):
        return lambda value: f"{kind.__name__} of {value.get_seq_length()} tokens"
    if issubclass(kind, Mapping):
        return lambda value: f"{kind.__name__} of {len(value)}"
    if issubclass(kind, Sequence | Set):
        return _many
    if issubclass(kind, type):
        return lambda value: str(value.__qualname__)
    return lambda _: kind.__name__


def _default(field: Field[Any]) -> object:
    make = field.default_factory
    return field.default if make is MISSING else make()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _tensor(value: torch.Tensor) -> str:
    dtype = str(value.dtype).removeprefix("torch.")
    if value.ndim == 0 and value.device.type == "cpu":
        return f"{dtype} {value.item():.6g}"
    return f"{dtype} {list(value.shape)}"


def _record(value: object, defaults: Mapping[str, object]) -> str:
    """Return a record's class and its first few numbers, texts, tensors and settings records;
    fields with default values are left out."""
    shown: list[str] = []
    for name, default in defaults.items():
        field_value = getattr(value, name, None)
        nested = default is not MISSING and is_dataclass(field_value)
        if (nested or isinstance(field_value, _SHOWN)) and (
            default is MISSING or isinstance(field_value, torch.Tensor) or field_value != default
        ):
            shown.append(f"{name}={short(field_value)}")
            if len(shown) == _FEW:
                break
    return _cut(f"{type(value).__name__}({', '.join(shown)})")


def _many(value: Sequence[object] | Set[object]) -> str:
    """Return the length of a collection, with its first items if they are numbers or texts."""
    name, count = type(value).__name__, len(value)
    first = list(islice(value, _FEW))
    if not first or not isinstance(first[0], _SHOWN):
        kind = f" {type(first[0]).__name__}" if first else ""
        return f"{name} of {count}{kind}"
    more = ", …" if count > len(first) else ""
    return _cut(f"{name} of {count}: {', '.join(map(short, first))}{more}")
