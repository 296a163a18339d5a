"""Plotly's script for saved pages: the bundle for bars, lines and heatmaps."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64encode
from functools import cache

from ...installation import ASSETS

VERSION = "4.1.1"
NAME = f"plotly-cartesian-{VERSION}.min.js"
_FILE = ASSETS / "plotly" / f"{NAME}.gz"


@cache
def script() -> bytes:
    """Return the script, as saved beside the pages that share it."""
    return gzip.decompress(packed())


@cache
def packed() -> bytes:
    """Return the script compressed with gzip."""
    return _FILE.read_bytes()


@cache
def digest() -> str:
    """Return the script's hash for a content security policy and an `integrity` attribute."""
    return sha256(script())


def sha256(content: bytes) -> str:
    """Return `sha256-...` in base64."""
    return f"sha256-{b64encode(hashlib.sha256(content).digest()).decode()}"
