"""Loading several models at once, though transformers changes what all threads share meanwhile.

While it builds a model and while it finishes one, transformers replaces functions of torch and of
its own classes, and torch's default dtype: a second model that is built beside it comes out with
weights that were never read. Both take milliseconds, whatever the weights' size, and happen under
one lock here; files are read without it.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

from transformers import PreTrainedModel

_BUILDING = RLock()


def hold_while_building() -> None:
    """Make transformers hold the lock in the two places; call it once a process."""
    contexts = PreTrainedModel.get_init_context.__func__
    finish = PreTrainedModel._finalize_model_loading

    def get_init_context(cls: type, *args: Any, **options: Any) -> list[Any]:
        return [_BUILDING, *contexts(cls, *args, **options)]

    def finalize(*args: Any, **options: Any) -> Any:
        with _BUILDING:
            return finish(*args, **options)

    PreTrainedModel.get_init_context = classmethod(get_init_context)
    PreTrainedModel._finalize_model_loading = staticmethod(finalize)
