"""Mutate a file: replace a few of its values, or a few of its bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from typing import Any, TypeAlias

from hypothesis import strategies as st

Path: TypeAlias = tuple[Any, ...]
# Where an edit goes: a number that is taken modulo the number of places, often near the top.
_ANYWHERE = st.integers(0, 2**20)
_PLACE = st.one_of(st.integers(0, 60), _ANYWHERE, _ANYWHERE)
_DROP, _TWICE = object(), object()
# What stands in place of a value; a text that JSON would not write so is put in afterwards.
_RAW = {
    "@huge@": "1e99999999999999999999",
    "@tiny@": "1e-99999999999999999999",
    "@nan@": "NaN",
    "@infinite@": "-Infinity",
    "@digits@": "9" * 5000,
    "@deep@": "[" * 3000 + "]" * 3000,
    "@surrogate@": '"\\ud800"',
}
_VALUES: Sequence[Any] = (
    *(_DROP, _TWICE, *_RAW),
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-300, 1e308),
    *("", "0", "x", "x" * 3000, "\n", "\u202e", "\0", "<b>", "trace", "greedy", "beam"),
    *([], {}, [[]], [None], [0, 1], [""], {"": 0}, {"kind": "token"}, {"method": "sampling"}),
)
_EDITS = st.lists(
    st.tuples(
        _PLACE,
        st.one_of(st.sampled_from(_VALUES), st.integers(), st.floats(), st.text(max_size=20)),
    ),
    min_size=1,
    max_size=4,
)
_JUNK = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"\\",
    b"{",
    b"]",
    b",",
    b"\n",
    b"\r",
    b"1e9999",
    b"=",
)
_CUTS = st.lists(
    st.tuples(_PLACE, st.integers(0, 40), st.one_of(st.sampled_from(_JUNK), st.binary(max_size=8))),
    min_size=1,
    max_size=4,
)


def spoiled(seeds: Sequence[bytes], *, lines: bool = False) -> st.SearchStrategy[bytes]:
    """One of the files with something else at some of its places.

    Args:
        lines: each line is JSON, not the file as a whole.
    """
    which = st.integers(0, len(seeds) - 1)
    by_byte = st.tuples(which, _CUTS).map(lambda drawn: _cut(seeds[drawn[0]], drawn[1]))
    if not all(_is_json(seed, lines) for seed in seeds):
        return by_byte
    by_value = st.tuples(which, _EDITS).map(lambda drawn: _edited(seeds[drawn[0]], drawn[1], lines))
    return st.one_of(by_value, by_value, by_byte)


def _is_json(data: bytes, lines: bool) -> bool:
    try:
        _parsed(data, lines)
    except ValueError:
        return False
    return True


def _parsed(data: bytes, lines: bool) -> Any:
    return list(map(json.loads, data.splitlines())) if lines else json.loads(data)


def _edited(seed: bytes, edits: Sequence[tuple[int, Any]], lines: bool) -> bytes:
    data, paths = _parsed(seed, lines), _paths(seed, lines)
    for at, value in edits:
        # Where an earlier edit took the place away, this one has none.
        with suppress(KeyError, IndexError, TypeError):
            _edit(data, paths[at % len(paths)], value)
    text = "\n".join(map(json.dumps, data)) + "\n" if lines else json.dumps(data)
    for name, written in _RAW.items():
        text = text.replace(f'"{name}"', written)
    return text.encode()


@cache
def _paths(seed: bytes, lines: bool) -> Sequence[Path]:
    """The places of all values, near the top ones first: an edit there says most."""
    return sorted(_below(_parsed(seed, lines)), key=len)


def _below(data: Any, before: Path = ()) -> Iterator[Path]:
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*before, key)
        if isinstance(value, dict | list):
            yield from _below(value, (*before, key))


def _edit(data: Any, path: Path, value: Any) -> None:
    *parents, last = path
    for part in parents:
        data = data[part]
    if value is _DROP:
        del data[last]
    elif value is _TWICE:
        again = deepcopy(data[last])
        if isinstance(data, list):
            data.insert(last, again)
        else:
            data[f"{last}_"] = again
    else:
        data[last] = deepcopy(value)


def _cut(seed: bytes, cuts: Sequence[tuple[int, int, bytes]]) -> bytes:
    for at, length, junk in cuts:
        place = at % (len(seed) + 1)
        seed = seed[:place] + junk + seed[place + length :]
    return seed
