"""Lock for loading several models at once, since transformers changes state of all threads.

While it builds a model and while it finishes one, transformers replaces functions of torch and of
its own classes, and torch's default dtype: a model built at the same time would get weights that
were never read. Both take milliseconds for any size of weights, and hold one lock; files are read
without the lock.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

from transformers import PreTrainedModel

_BUILDING = RLock()


def hold_while_building() -> None:
    """Make transformers hold the lock in the two places; call it once per process."""
    contexts = PreTrainedModel.get_init_context.__func__
    finish = PreTrainedModel._finalize_model_loading

    def get_init_context(cls: type, *args: Any, **options: Any) -> list[Any]:
        return [_BUILDING, *contexts(cls, *args, **options)]

    def finalize(*args: Any, **options: Any) -> Any:
        with _BUILDING:
            return finish(*args, **options)

    PreTrainedModel.get_init_context = classmethod(get_init_context)
    PreTrainedModel._finalize_model_loading = staticmethod(finalize)
