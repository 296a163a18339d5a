"""Check a refusal to load: one sentence for a user."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.decoding.errors import ModelError
from core.models.registry import load_model


def refusal(where: str | Path, **options: str) -> str:
    """The one sentence that `load_model` refuses with."""
    with pytest.raises(ModelError) as caught:
        load_model(where, **options)
    text = str(caught.value)
    assert "\n" not in text and "Traceback" not in text and len(text) < 450
    assert text.endswith((".", ")."))
    assert caught.value.__cause__ is None
    return text
