"""The server ends soon after it was told to, whatever its threads do at the time."""

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

    Not once a cache of Streamlit's: that one can be cleared, and the thread would stay. Where a
    test stands in for the server, the process is the test's, with an exit code of its own.
    """
    if exists() and type(get_instance()) is Runtime:
        atexit.register(_leave)
        Thread(target=_wait_for_the_end, daemon=True, name="shutdown").start()


def _leave() -> None:
    """End without taking torch's modules apart, which takes a second or more."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _wait_for_the_end() -> None:
    """Set a clock that needs no turn of the interpreter, as soon as the server is told to end."""
    runtime = get_instance()
    while runtime.state not in _ENDING:
        time.sleep(_POLL_SECONDS)
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(_GRACE_SECONDS, exit=True, file=nowhere)
        time.sleep(2 * _GRACE_SECONDS)
