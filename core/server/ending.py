"""Shutdown of a server: callbacks that run before its connections close."""

from __future__ import annotations

import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType


@asynccontextmanager
async def ended_by_signals(end: Callable[[], None]) -> AsyncIterator[None]:
    """Call `end` as soon as a signal ends the server, before the server's own handler.

    The server waits for answers that are under way before its lifespan ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        end()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
