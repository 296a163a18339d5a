"""Models for a server without pages: those that are offered, the last two kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from core.models.places import EMBEDDED_PREFIX, list_embedded
from core.models.registry import alone, load_model

MOST_LOADED = 2


class LocalModels:
    """Loads a model when it is first asked for.

    Args:
        others: folders and hub ids by the name that is offered.
        only: offer these alone, names of `others` or places of models; empty for all there are.
    """

    def __init__(self, others: Mapping[str, str], only: Sequence[str] = ()) -> None:
        self._others, self._only = others, tuple(only)
        self._loaded: OrderedDict[str, Any] = OrderedDict()
        self._lock = Lock()

    def names(self) -> list[str]:
        """Return the names that are offered, the target first."""
        if self._only:
            return list(self._only)
        embedded = sorted(list_embedded(), key=lambda name: (name != "target", name))
        return [*(EMBEDDED_PREFIX + name for name in embedded), *self._others]

    def load(self, where: str, should_stop: Callable[[], bool] = lambda: False) -> Any:
        """Return the model; whoever asks for it while it is loaded waits.

        Raises:
            ModelError: it can't be loaded.
            LoadingStoppedError: `should_stop` said so.
        """
        with alone(f"offered as {where}", should_stop):
            model = self._loaded.get(where)
            if model is None:
                model = load_model(self._others.get(where, where), should_stop=should_stop)
                model.model_id = where
            with self._lock:
                self._loaded[where] = model
                self._loaded.move_to_end(where)
                while len(self._loaded) > MOST_LOADED:
                    self._loaded.popitem(last=False)
        return model
