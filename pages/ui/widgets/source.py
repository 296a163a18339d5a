"""The files of the app's components."""

from __future__ import annotations

from functools import cache
from pathlib import Path

HERE = Path(__file__).parents[1]


@cache
def source(*names: str) -> str:
    """The text of a component's files, by their paths below `pages/ui`; scripts can translate."""
    names = ("widgets/tr.js", *names) if names[-1].endswith(".js") else names
    return "".join((HERE / name).read_text(encoding="utf-8") for name in names)
