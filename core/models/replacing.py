"""Attributes of an object or a module that have other values for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(target: Any, **values: Any) -> Iterator[None]:
    """Set attributes, and set them back when the block ends."""
    originals = {name: getattr(target, name) for name in values}
    for name, value in values.items():
        setattr(target, name, value)
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(target, name, original)
