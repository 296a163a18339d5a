"""References of loaded models, by which a worker loads them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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


class UnloadedModel:
    """Model that a worker takes by its reference; a look into it loads it in this process too.

    Args:
        find: returns this process's model for the reference.
    """

    def __init__(self, reference: ModelReference, find: Callable[[ModelReference], Any]) -> None:
        self.reference, self._find = reference, cache(find)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(self.reference), name)


def receive(model: Any) -> None:
    """Do nothing: a worker that calls it has loaded the model."""
    del model


REFERENCES: WeakKeyDictionary[Any, ModelReference] = WeakKeyDictionary()


def share(model: Any, reference: ModelReference) -> None:
    """Let a worker load this model again by its reference."""
    REFERENCES[model] = reference
