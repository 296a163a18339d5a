"""Loads that several sessions wait for: each can go, and the last one's going stops the load."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from core.decoding.errors import LoadingStoppedError
from core.models.reporting import Report, unheard

_POLL_SECONDS = 0.05


@dataclass(eq=False)
class _Load:
    waiting: int = 0
    progress: str = ""
    stopped: bool = False
    result: Future[Any] = field(default_factory=Future)


class SharedLoads:
    """The loads under way, by name; each in a thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loads: dict[str, _Load] = {}

    def wait_for(
        self,
        name: str,
        load: Callable[[], Any],
        should_stop: Callable[[], bool],
        report: Report = unheard,
    ) -> Any:
        """What `load()` returns or raises; a load of this name that is under way is shared.

        Args:
            report: is told how far it is.

        Raises:
            LoadingStoppedError: `should_stop` said so.
        """
        with self._lock:
            found = self._loads.get(name)
            if found is None or found.stopped:
                found = self._loads[name] = _Load()
                Thread(target=self._run, args=(name, found, load), daemon=True).start()
            found.waiting += 1
        try:
            while not found.result.done():
                if should_stop():
                    raise LoadingStoppedError
                if found.progress:
                    report(found.progress)
                wait([found.result], _POLL_SECONDS)
        finally:
            with self._lock:
                found.waiting -= 1
                found.stopped = not found.waiting
        return found.result.result()

    def nobody_waits_for(self, name: str) -> Callable[[], bool]:
        """Whether everybody has gone who waited for the load that is under way now."""
        found = self._loads.get(name)
        return lambda: found is not None and found.stopped

    def progress_of(self, name: str) -> Report:
        """Takes how far the load is that is under way now, for those who wait for it."""
        found = self._loads.get(name)

        def report(text: str) -> None:
            if found is not None:
                found.progress = text

        return report

    def _run(self, name: str, own: _Load, load: Callable[[], Any]) -> None:
        try:
            own.result.set_result(load())
        except BaseException as error:  # Of Streamlit's some are no Exception.
            own.result.set_exception(error)
        finally:
            with self._lock:
                if self._loads.get(name) is own:
                    del self._loads[name]
