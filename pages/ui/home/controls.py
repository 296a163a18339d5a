"""Controls of Home."""

from __future__ import annotations


def load_controls(_: object) -> None:
    """No file sets a control of Home."""
