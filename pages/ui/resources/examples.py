"""Stored examples that pages show before the first run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from core.decoding.errors import DecodingError
from core.installation import ASSETS

T = TypeVar("T")
FOLDER = ASSETS / "traces"


def example(name: str, read: Callable[[str], T]) -> T | None:
    """Return `read`'s result for the file, cached by version; None if it can't be read."""
    path = FOLDER / name
    try:
        return _read((str(path), path.stat().st_mtime_ns), read)  # type: ignore[no-any-return]
    except (OSError, DecodingError):
        return None


# One entry for each stored example: with fewer, a tour of all pages reads each file again.
@st.cache_resource(show_spinner=False, max_entries=32)
def _read(version: tuple[str, int], _reader: Callable[[str], Any]) -> Any:
    """Read one version of a file, identified by its path and modification time."""
    return _reader(version[0])
