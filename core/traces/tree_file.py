"""Read and write the file of a tree of runs; the file is untrusted."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ..decoding.record.layout import RecordLayout
from ..decoding.record.tree import RunTree
from ..decoding.serial import CODECS, KINDS, require_header
from .file import parsed
from .schema.trace import RULES


@cache
def _layout() -> RecordLayout[RunTree]:
    return RecordLayout(RunTree, CODECS, RULES, KINDS)


def tree_json(tree: RunTree) -> str:
    """Return the text of the tree's file."""
    plain = _layout().plain(tree)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def read_tree(source: bytes | str | Path, *, max_bytes: int | None = None) -> RunTree:
    """Validate and read a tree of runs, as `read_trace` reads a trace.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    return tree_of(parsed(source, max_bytes))


def tree_of(data: Any) -> RunTree:
    """Return the tree in a parsed file.

    Raises:
        TraceError: the file is invalid; the message names the fault.
    """
    require_header(data, RunTree)
    return _layout().read(data)
