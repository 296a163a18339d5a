"""Serialization between the app and a worker: loaded models go by name, all else by pickle.

Only the app's own processes write these bytes.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

from core.server.worker.reference import REFERENCES, ModelReference


class NotShareableError(Exception):
    """An argument holds a model that a worker can't load."""


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
    def persistent_id(self, obj: Any) -> tuple[str, ModelReference] | None:
        kind = type(obj)
        if kind.__name__ == "TokenNames":
            return "vocabulary", _reference_of_vocabulary(obj)
        if not hasattr(kind, "vocabulary") and kind.__name__ != "RewardModel":
            return None
        if obj not in REFERENCES:
            raise NotShareableError("a model is not shared")
        return "model", REFERENCES[obj]


def _reference_of_vocabulary(names: Any) -> ModelReference:
    for model, reference in list(REFERENCES.items()):
        if (model.model_id, model.revision) == (names.model_id, names.revision):
            return reference
    raise NotShareableError(f"{names.model_id} is not shared")


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, find_model: FindModel) -> None:
        super().__init__(file)
        self._find_model = find_model

    def persistent_load(self, pid: tuple[str, ModelReference]) -> Any:
        part, reference = pid
        model = self._find_model(reference)
        return model.vocabulary if part == "vocabulary" else model
