"""Serialization between the app and a worker: loaded models go by name, all else by pickle.

Only the app's own processes write these bytes.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal, TypeAlias

from .reference import REFERENCES, ModelReference, UnloadedModel


class NotShareableError(Exception):
    """An argument holds a model that a worker can't load."""


SharedPart: TypeAlias = Literal["model", "vocabulary"]
FindModel = Callable[[ModelReference], Any]


def dump(value: Any) -> bytes:
    """Serialize a value.

    Raises:
        NotShareableError: it holds a model that was not shared, or something without a pickle.
    """
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotShareableError(str(error)) from error
    return buffer.getvalue()


def load(data: bytes, find_model: FindModel) -> Any:
    """Return the value that `dump` serialized."""
    return _Unpickler(io.BytesIO(data), find_model).load()


class _Pickler(pickle.Pickler):
    # A `persistent_id` would be called for each number and text too: 38 ms in a run of 100 tokens.
    def reducer_override(self, obj: Any) -> Any:
        kind: type = type(obj)
        part = _part_of(kind)
        if part is None:
            return NotImplemented
        reference = _reference_of(obj) if part == "model" else _reference_of_vocabulary(obj)
        return find_shared, (part, reference)


@cache
def _part_of(kind: type) -> SharedPart | None:
    """Return the part of a model that objects of a type are; None for plain data."""
    if kind.__name__ == "TokenNames":
        return "vocabulary"
    is_model = hasattr(kind, "vocabulary") or kind.__name__ in ("RewardModel", "UnloadedModel")
    return "model" if is_model else None


def _reference_of(model: Any) -> ModelReference:
    if isinstance(model, UnloadedModel):
        return model.reference
    if model not in REFERENCES:
        raise NotShareableError("a model is not shared")
    return REFERENCES[model]


def _reference_of_vocabulary(names: Any) -> ModelReference:
    for model, reference in list(REFERENCES.items()):
        if (model.model_id, model.revision) == (names.model_id, names.revision):
            return reference
    raise NotShareableError(f"{names.model_id} is not shared")


def find_shared(part: SharedPart, reference: ModelReference, find_model: FindModel) -> Any:
    """Return the model of a reference, or its vocabulary; called where a pickle names it."""
    model = find_model(reference)
    return model.vocabulary if part == "vocabulary" else model


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, find_model: FindModel) -> None:
        super().__init__(file)
        self._find_model = find_model

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return partial(found, find_model=self._find_model) if found is find_shared else found
