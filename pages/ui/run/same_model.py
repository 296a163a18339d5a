"""Refusal of a loaded model that isn't the one that made a run."""

from __future__ import annotations

from typing import Any

from core import ModelError
from core.language import Message


def require_same(model: Any, revision: str, dtype: str, remedy: str) -> None:
    """Refuse a model of another version or number type than a run's; empty texts name none.

    Raises:
        ModelError: it differs; the sentence ends with the remedy.
    """
    from core.decoding.loop.same_model import is_of_dtype

    if revision and model.revision and revision != model.revision:
        raise ModelError(
            Message("This run was made with another version of the model: {remedy}.", remedy=remedy)
        )
    if not is_of_dtype(dtype, model):
        raise ModelError(
            Message(
                "This run was made in {dtype}, and its model is loaded here in {present}: "
                "{remedy}.",
                dtype=dtype,
                present=model.dtype,
                remedy=remedy,
            )
        )
