"""The file of a tree of runs, which anyone may have written."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from core.decoding.record.layout import RecordLayout
from core.decoding.record.tree import RunTree
from core.decoding.serial import CODECS, KINDS, require_header
from core.traces.file import parsed
from core.traces.schema.trace import RULES


@cache
def _layout() -> RecordLayout[RunTree]:
    return RecordLayout(RunTree, CODECS, RULES, KINDS)


def tree_json(tree: RunTree) -> str:
    """The text of the tree's file."""
    plain = _layout().plain(tree)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def read_tree(source: bytes | str | Path, *, max_bytes: int | None = None) -> RunTree:
    """Validate and read a tree of runs, as `read_trace` reads a trace.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    return tree_of(parsed(source, max_bytes))


def tree_of(data: Any) -> RunTree:
    """Return the tree of a file that was parsed.

    Raises:
        TraceError: one sentence that says what is wrong with the file.
    """
    require_header(data, RunTree)
    return _layout().read(data)
