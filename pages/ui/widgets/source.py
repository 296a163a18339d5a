"""The files of the app's components."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HERE = Path(__file__).parents[1]


@cache
def source(name: str) -> str:
    """The text of a component's file, by its path below `pages/ui`."""
    return (HERE / name).read_text(encoding="utf-8")
