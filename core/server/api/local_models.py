"""Cache of models for a server without pages; keeps the last two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...models.places import EMBEDDED_PREFIX, list_diffusion, list_embedded
from ...models.registry import load_model
from ...models.reporting import Report
from ...models.stopping import ShouldStop
from ...models.store import ModelStore

MOST_LOADED = 2


class LocalModels:
    """Offered models, each loaded at the first request for it.

    Args:
        others: folder or hub id of each offered name.
        only: offer only these (names from `others`, or places of models); empty offers all.
    """

    def __init__(self, others: Mapping[str, str], only: Sequence[str] = ()) -> None:
        self._others, self._only = others, tuple(only)
        self._store = ModelStore(self._load, MOST_LOADED)

    def names(self) -> list[str]:
        """Return the offered names, the target first."""
        if self._only:
            return list(self._only)
        embedded = sorted(list_embedded(), key=lambda name: (name != "target", name))
        names = [*embedded, *list_diffusion()]
        return [*(EMBEDDED_PREFIX + name for name in names), *self._others]

    def load(self, where: str, should_stop: Callable[[], bool] = lambda: False) -> Any:
        """Return the model; concurrent requests wait for the same load.

        Raises:
            ModelError: it can't be loaded.
            LoadingStoppedError: `should_stop` returned True.
        """
        return self._store.get(where, should_stop)

    def _load(self, where: str, should_stop: ShouldStop, report: Report) -> Any:
        model = load_model(
            self._others.get(where, where), should_stop=should_stop, on_progress=report
        )
        model.model_id = where
        return model
