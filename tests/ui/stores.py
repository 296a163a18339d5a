"""Stores of models for pages that load none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.models.store import ModelStore


def uncached(load: Callable[[str], Any]) -> ModelStore:
    """Return a store that asks `load` for a model each time."""
    return ModelStore(lambda where, *_: load(where), most=0)
