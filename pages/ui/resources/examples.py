"""The stored files that pages show before anything was run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from core.decoding.errors import DecodingError

T = TypeVar("T")
FOLDER = Path(__file__).parents[3] / "assets" / "traces"


def example(name: str, read: Callable[[str], T]) -> T | None:
    """What `read` makes of the file, once for each version of it; None where it can't be read."""
    path = FOLDER / name
    try:
        return _read((str(path), path.stat().st_mtime_ns), read)  # type: ignore[no-any-return]
    except (OSError, DecodingError):
        return None


@st.cache_resource(show_spinner=False, max_entries=8)
def _read(version: tuple[str, int], _reader: Callable[[str], Any]) -> Any:
    """Of one version of a file: its path, and when it was changed."""
    return _reader(version[0])
