"""References of loaded models, by which a worker loads them again."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary


class ModelReference(NamedTuple):
    """Place that a model was loaded from, and the name that its traces have.

    Args:
        revision: of the loaded files; empty for any.
    """

    place: str
    name: str
    kind: Literal["model", "rewards"] = "model"
    revision: str = ""


REFERENCES: WeakKeyDictionary[Any, ModelReference] = WeakKeyDictionary()


def share(model: Any, reference: ModelReference) -> None:
    """Let a worker load this model again by its reference."""
    REFERENCES[model] = reference
