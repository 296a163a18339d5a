"""Critical sections that a rerun must not interrupt: a callback, the collecting of a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner import get_script_run_ctx


@contextmanager
def critical() -> Iterator[None]:
    """Delay the browser's next request until the block ends; only callbacks may rerun in it.

    Otherwise Streamlit stops a run for a new request at any access to the session's state, even in
    a callback: the report that the first figure is drawn would undo a press of Run.
    """
    context = get_script_run_ctx(suppress_warning=True)
    requests = context.script_requests if context else None
    if requests is None or "on_scriptrunner_yield" in vars(requests):
        yield
        return
    requests.on_scriptrunner_yield = lambda: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        del requests.on_scriptrunner_yield
