"""Reading weights tensor by tensor, so that it can be stopped between two of them.

transformers reads all of a model's files in one call that asks nobody. What it reads them through
asks here.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

from safetensors import safe_open
from transformers import PreTrainedModel

from core.decoding.errors import LoadingStoppedError
from core.models.stopping import ShouldStop, current

# As transformers does: a mapped file counts there as memory that is taken.
_OPTIONS = {"backend": "pread"} if sys.platform == "win32" else {}


def read_through_here() -> None:
    """Make transformers read weights in this way; again it changes nothing."""
    if getattr(PreTrainedModel, "_reads_stoppably", False):
        return
    load = PreTrainedModel._load_pretrained_model

    def load_stoppably(
        model: PreTrainedModel, state: Any, files: Any, *rest: Any, **options: Any
    ) -> Any:
        if state is not None:
            return load(model, state, files, *rest, **options)
        tensors = dict[str, _Tensor]()
        with ExitStack() as opened:
            for path in files:
                file = opened.enter_context(safe_open(path, framework="pt", **_OPTIONS))
                names: list[str] = file.keys()
                tensors |= {name: _Tensor(file.get_slice(name), current()) for name in names}
            return load(model, tensors, files, *rest, **options)

    PreTrainedModel._load_pretrained_model = staticmethod(load_stoppably)
    PreTrainedModel._reads_stoppably = True


class _Tensor:
    """One in a file: indexing reads it."""

    def __init__(self, stored: Any, should_stop: ShouldStop) -> None:
        self._stored = stored
        self._should_stop = should_stop

    def __getitem__(self, index: Any) -> Any:
        if self._should_stop():
            raise LoadingStoppedError
        return self._stored[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)
