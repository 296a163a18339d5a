"""Annotations for bounds and storage of record fields, which `layout` reads.

Records themselves check nothing when a step is made; all bounds are checked when a file is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias

MAX_TEXT = 2_000_000
MAX_COUNT = 100_000_000
MAX_STEPS = 100_001
# About float32's largest number, so that sums and unit conversions stay finite.
MAX_NUMBER = 3.5e38


class Bounds(NamedTuple):
    """Interval of a number, or of the length of a text, tuple or dict."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    min_length: int | None = None
    max_length: int | None = None


class OneOf(NamedTuple):
    """Allowed texts."""

    names: tuple[str, ...]


class ByColumn(NamedTuple):
    """Stores a tuple of records as one list for each field, which keeps files small."""


class Spread(NamedTuple):
    """Stores a record's fields in the outer object, each only if it has a value."""


class LeftOut(NamedTuple):
    """A field that may be missing in a file; `when` says whether a record's file omits it."""

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
