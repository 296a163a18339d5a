"""Load a model for a command, with a progress line on the terminal."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import Any

from ..language import tr
from ..language.columns import cut, left, text_columns
from .output import say

# Messages with this beginning stay on screen: they announce files on the disk.
_STAYS = "Converting once"


def load(where: str, dtype: str | None = None, device: str | None = None) -> Any:
    """Return the model, by any name that `decode` takes or by one in `DECODING_EXPLORER_MODELS`.

    Raises:
        ConfigError: a setting can't be read.
        ModelError: as `load_model`.
    """
    from .. import load_model
    from ..server.settings import place_of

    line = _Line()
    try:
        model = load_model(place_of(where), dtype=dtype, device=device, on_progress=line.tell)
        model.model_id = where
    finally:
        line.clear()
    if described := getattr(model, "described", ""):
        say(tr(described))
    return model


class _Line:
    """Progress line that a terminal overwrites; elsewhere, only lasting messages are printed."""

    def __init__(self) -> None:
        self._width = 0

    def tell(self, text: str) -> None:
        """Show a progress message."""
        if text.startswith(_STAYS):
            self.clear()
            say(tr(text))
        elif sys.stderr.isatty():
            shown = cut(tr(text), get_terminal_size().columns - 1)
            sys.stderr.write("\r" + left(shown, self._width))
            sys.stderr.flush()
            self._width = max(self._width, text_columns(shown))

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
