"""Functions that a worker process calls for the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock


class Fatal:
    """An argument that ends the process that reads it, twice."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[[Path], object], tuple[Path]]:
        return _end_twice, (self.file,)


def _end_twice(file: Path) -> None:
    with file.open("a") as deaths:
        deaths.write("x")
    if file.stat().st_size < 3:
        os._exit(1)


def hand_over(_model: object, *, on_value: Callable[[object], object]) -> None:
    """Call back with a value that has no pickle."""
    on_value(Lock())


def wait_for_stop(*, on_begin: Callable[[], object], should_stop: Callable[[], bool]) -> None:
    """Call back, then hold the turn until the call is stopped."""
    on_begin()
    while not should_stop():
        time.sleep(0.01)
