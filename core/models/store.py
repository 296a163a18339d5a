"""Cache of loaded models, shared by all sessions and requests of a process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, TypeAlias

from .reporting import Report, unheard
from .stopping import ShouldStop, never, raise_if_stopped

# Loads the model of a name; stops when the function returns True, and reports its progress.
LoadModel: TypeAlias = Callable[[str, ShouldStop, Report], Any]

_POLL_SECONDS = 0.05


@dataclass(eq=False)
class _Entry:
    """A model that is loaded, or being loaded for `waiting` callers."""

    model: Future[Any] = field(default_factory=Future)
    waiting: int = 0
    progress: str = ""

    def report(self, text: str) -> None:
        self.progress = text

    @property
    def is_abandoned(self) -> bool:
        return not (self.waiting or self.model.done())


class ModelStore:
    """Models by name: each is loaded once, in a thread of its own, and the last used are kept.

    Args:
        load: loads a model that isn't there.
        most: number of loaded models that are kept; 0 loads one each time.
    """

    def __init__(self, load: LoadModel, most: int) -> None:
        self._load, self._most = load, most
        self._lock = Lock()
        self._entries: dict[str, _Entry] = {}  # The one used last stands last.

    def get(self, name: str, should_stop: ShouldStop = never, report: Report = unheard) -> Any:
        """Return the model; callers that come while it is loaded wait for the same load.

        A load ends early when the last caller has stopped waiting. The error of a load reaches all
        of its callers, and the next caller loads again.

        Raises:
            LoadingStoppedError: `should_stop` returned True.
        """
        entry = self._joined(name)
        try:
            while not entry.model.done():
                raise_if_stopped(should_stop)
                if entry.progress:
                    report(entry.progress)
                wait([entry.model], _POLL_SECONDS)
        finally:
            with self._lock:
                entry.waiting -= 1
        return entry.model.result()

    def drop(self, name: str) -> None:
        """Forget a model, also one that is being loaded: the next caller loads it again."""
        with self._lock:
            self._entries.pop(name, None)

    def empty(self) -> None:
        """Forget all models."""
        with self._lock:
            self._entries.clear()

    def loaded(self) -> list[str]:
        """Names of the loaded models, the one used last at the end."""
        return [name for name, entry in list(self._entries.items()) if entry.model.done()]

    def _joined(self, name: str) -> _Entry:
        """The entry of a name, with one caller more; starts its load where there is none."""
        with self._lock:
            entry = self._entries.pop(name, None)
            if entry is not None and not entry.is_abandoned:
                entry.waiting += 1
            else:
                entry = _Entry(waiting=1)
                Thread(target=self._run, args=(name, entry), daemon=True).start()
            self._entries[name] = entry
            return entry

    def _run(self, name: str, entry: _Entry) -> None:
        try:
            model = self._load(name, lambda: entry.is_abandoned, entry.report)
        except BaseException as error:  # Some errors of Streamlit are no `Exception`.
            with self._lock:
                if self._entries.get(name) is entry:
                    del self._entries[name]
                entry.model.set_exception(error)
            return
        with self._lock:  # Callers come back when those that are too many are gone.
            entry.model.set_result(model)
            names = self.loaded()
            for oldest in names[: max(0, len(names) - self._most)]:
                del self._entries[oldest]
