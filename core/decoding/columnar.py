"""Rows of equal fields as columns, which keeps a trace file small, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def to_columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """A list for each field."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def to_rows(names: Sequence[str], columns: dict[str, list[Any]]) -> Iterator[tuple[Any, ...]]:
    """The inverse of `to_columns`; raises ValueError where the columns differ in length."""
    return zip(*(columns[name] for name in names), strict=True)
