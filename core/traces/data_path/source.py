"""Read the source code of a recorded function from its file."""

from __future__ import annotations

import linecache
from functools import lru_cache
from importlib.util import find_spec
from inspect import getblock
from pathlib import Path

from ...installation import PACKAGE

# Libraries whose modules are recorded.
_LIBRARIES = ("transformers", "torch")
LONGEST = 400


@lru_cache(maxsize=256)
def source_of(file: str, line: int) -> str:
    """Return the source lines of a function, by the file and line of its `FunctionCall`.

    Return at most `LONGEST` lines; empty if the file isn't this project's or a model library's, or
    doesn't have the line.
    """
    path = _path_of(file)
    lines = linecache.getlines(str(path)) if path is not None else []
    if not 0 < line <= len(lines):
        return ""
    try:
        block = getblock(lines[line - 1 :])
    except (IndentationError, SyntaxError):
        return ""
    more = ["    ...\n"] if len(block) > LONGEST else []
    return "".join([*block[:LONGEST], *more])


def _path_of(file: str) -> Path | None:
    """Return the path of a Python file below `core` or in a library; None for any other."""
    name = Path(file)
    if name.suffix != ".py" or name.is_absolute() or ".." in name.parts:
        return None
    if name.parts[0] == "core":
        return PACKAGE.joinpath(*name.parts[1:])
    if name.parts[0] not in _LIBRARIES:
        return None
    spec = find_spec(name.parts[0])
    return Path(spec.origin).parents[1] / name if spec and spec.origin else None
