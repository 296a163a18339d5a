"""Silence the libraries during loading: the app itself reports progress and errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from logging import CRITICAL, getLogger
from threading import Lock

from transformers.utils import logging


class _Quiet:
    """Number of loads in progress, and the stack that restores the libraries' output at the end."""

    lock = Lock()
    loads = 0
    undo = ExitStack()


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the libraries' warnings and progress bars; errors are still raised."""
    with _Quiet.lock:
        if _Quiet.loads == 0:
            hub_logger = getLogger("huggingface_hub")
            _Quiet.undo.callback(logging.set_verbosity, logging.get_verbosity())
            _Quiet.undo.callback(hub_logger.setLevel, hub_logger.level)
            if logging.is_progress_bar_enabled():
                _Quiet.undo.callback(logging.enable_progress_bar)
            _Quiet.undo.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            logging.set_verbosity(CRITICAL)
            logging.disable_progress_bar()
            hub_logger.setLevel(CRITICAL)
        _Quiet.loads += 1
    try:
        yield
    finally:
        with _Quiet.lock:
            _Quiet.loads -= 1
            if _Quiet.loads == 0:
                _Quiet.undo.close()
