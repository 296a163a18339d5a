"""Plotly's script for saved pages: the bundle of bars, lines and heatmaps."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path

VERSION = "4.1.1"
NAME = f"plotly-cartesian-{VERSION}.min.js"
_FILE = Path(__file__).parents[3] / "assets" / "plotly" / f"{NAME}.gz"


@cache
def script() -> bytes:
    """The script, as it lies beside pages that share it."""
    return gzip.decompress(packed())


@cache
def packed() -> bytes:
    """The same, compressed (gzip)."""
    return _FILE.read_bytes()


@cache
def digest() -> str:
    """The script's hash as a policy and an `integrity` name it."""
    return sha256(script())


def sha256(content: bytes) -> str:
    """`sha256-...` in base64."""
    return f"sha256-{b64encode(hashlib.sha256(content).digest()).decode()}"
