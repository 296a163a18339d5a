"""Shutdown within a bounded time, whatever the server's threads do."""

from __future__ import annotations

import atexit
import faulthandler
import os
import sys
import time
from contextlib import suppress
from functools import cache
from threading import Thread

from streamlit.runtime import Runtime, exists, get_instance
from streamlit.runtime.runtime import RuntimeState

_POLL_SECONDS = 0.2
_GRACE_SECONDS = 2.0
_ENDING = (RuntimeState.STOPPING, RuntimeState.STOPPED)


@cache
def watch() -> None:
    """Bound the time from the end of the server to the end of its process, once a process.

    Streamlit's cache can be cleared while the thread stays, so it isn't used here. If a test
    replaces the server, the process is the test's, with an exit code of its own.
    """
    if exists() and type(get_instance()) is Runtime:
        atexit.register(_leave)
        Thread(target=_wait_for_the_end, daemon=True, name="shutdown").start()


def _leave() -> None:
    """End the process without unloading torch's modules, which takes a second or more.

    Exit functions that were registered before this one would have run after it: they run first.
    """
    atexit.unregister(_leave)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _wait_for_the_end() -> None:
    """Start a timeout that works without the GIL, as soon as the server is told to end."""
    runtime = get_instance()
    while runtime.state not in _ENDING:
        time.sleep(_POLL_SECONDS)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(_GRACE_SECONDS, exit=True, file=nowhere)
        time.sleep(2 * _GRACE_SECONDS)
