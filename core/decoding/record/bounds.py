"""Bounds of stored fields and marks of their storage, as annotations that `layout` reads.

The records that bear them are plain: nothing is checked where a step is made, everything where a
file is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias

MAX_TEXT = 2_000_000
MAX_COUNT = 100_000_000
MAX_STEPS = 100_001
# What float32 holds, so that sums and other units of it stay finite.
MAX_NUMBER = 3.5e38


class Bounds(NamedTuple):
    """The interval of a number, or the length of a text, a tuple or a dict."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    max_length: int | None = None


class OneOf(NamedTuple):
    """The texts that are allowed."""

    names: tuple[str, ...]


class ByColumn(NamedTuple):
    """A tuple of records is stored as a list for each of their fields, which keeps files small."""


class Spread(NamedTuple):
    """A field whose record is stored as fields of the outer object, each only if it has a value."""


class LeftOut(NamedTuple):
    """A field that a file may lack; `when` says of a record whether its file does."""

    when: Callable[[Any], bool]


TokenId: TypeAlias = Annotated[int, Bounds(ge=0, le=MAX_COUNT)]
Index: TypeAlias = Annotated[int, Bounds(ge=0, le=MAX_COUNT)]
Rank: TypeAlias = Annotated[int, Bounds(ge=1, le=MAX_COUNT)]
Seed: TypeAlias = Annotated[int, Bounds(ge=0, le=2**63 - 1)]
FiniteNumber: TypeAlias = Annotated[float, Bounds(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Nats: TypeAlias = Annotated[float, Bounds(ge=0, le=MAX_NUMBER)]
Prob: TypeAlias = Annotated[float, Bounds(ge=0, le=1.001)]
Uniform: TypeAlias = Annotated[float, Bounds(ge=0, lt=1)]
Seconds: TypeAlias = Annotated[float, Bounds(ge=0, le=1e9)]
ShortText: TypeAlias = Annotated[str, Bounds(max_length=2_000)]
LongText: TypeAlias = Annotated[str, Bounds(max_length=MAX_TEXT)]
TokenIds: TypeAlias = Annotated[tuple[TokenId, ...], Bounds(max_length=MAX_STEPS)]
