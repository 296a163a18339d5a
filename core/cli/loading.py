"""Loading a model for a command: how far it is stands on one line of a terminal."""

from __future__ import annotations

import sys
from typing import Any

from core.cli.output import say

# What is told once and stays, because it says what the disk will hold.
_STAYS = "Converting once"


def load(where: str, dtype: str | None = None, device: str | None = None) -> Any:
    """The model; by a name of `DECODING_EXPLORER_MODELS` too, which a trace then says.

    Raises:
        ConfigError: a setting can't be read.
        ModelError: as `load_model`.
    """
    from core import load_model
    from core.server.settings import place_of

    line = _Line()
    try:
        model = load_model(place_of(where), dtype=dtype, device=device, on_progress=line.tell)
        model.model_id = where
    finally:
        line.clear()
    if described := getattr(model, "described", ""):
        say(described)
    return model


class _Line:
    """The line of a terminal that is written over; elsewhere only what stays is said."""

    def __init__(self) -> None:
        self._width = 0

    def tell(self, text: str) -> None:
        """Say how far it is."""
        if text.startswith(_STAYS):
            self.clear()
            say(text)
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = max(self._width, len(text))

    def clear(self) -> None:
        """Leave nothing of it behind."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
