"""Read weights tensor by tensor, with progress reports and a stop between tensors.

transformers reads all files of a model in one call without callbacks. The tensor objects that it
reads through call back here.
"""

from __future__ import annotations

import math
import sys
import time
from contextlib import ExitStack
from typing import Any

from safetensors import safe_open
from transformers import PreTrainedModel

from ...language import Message
from ..reporting import current_report
from ..stopping import current, raise_if_stopped

# As in transformers: on Windows a mapped file counts as used memory.
_OPTIONS = {"backend": "pread"} if sys.platform == "win32" else {}
_TELLING_SECONDS = 0.1


def read_through_here() -> None:
    """Make transformers read weights through this module; call it once per process."""
    load = PreTrainedModel._load_pretrained_model

    def load_stoppably(
        model: PreTrainedModel, state: Any, files: Any, *rest: Any, **options: Any
    ) -> Any:
        if state is not None:
            return load(model, state, files, *rest, **options)
        tensors, progress = dict[str, _Tensor](), _Progress()
        with ExitStack() as opened:
            for path in files:
                file = opened.enter_context(safe_open(path, framework="pt", **_OPTIONS))
                names: list[str] = file.keys()
                tensors |= {name: _Tensor(file.get_slice(name), progress) for name in names}
            return load(model, tensors, files, *rest, **options)

    PreTrainedModel._load_pretrained_model = staticmethod(load_stoppably)


class _Progress:
    """Progress of one load, whose tensors are read by several threads."""

    def __init__(self) -> None:
        self.should_stop = current()
        self._report = current_report()
        self._read = self._all = 0
        self._told = time.monotonic()

    def expect(self, numbers: int) -> None:
        """Add to the count of numbers to read."""
        self._all += numbers

    def advance(self, numbers: int) -> None:
        """Add to the count of numbers read; a lost update between threads only delays a report."""
        self._read += numbers
        now = time.monotonic()
        if now - self._told > _TELLING_SECONDS:
            self._told = now
            share = min(self._read / max(self._all, 1), 1)
            self._report(Message("Reading weights: {share:.0%}", share=share))


class _Tensor:
    """Tensor in a file, which indexing reads."""

    def __init__(self, stored: Any, progress: _Progress) -> None:
        self._stored = stored
        self._progress = progress
        self._numbers = math.prod(stored.get_shape())
        progress.expect(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        raise_if_stopped(self._progress.should_stop)
        part = self._stored[index]
        self._progress.advance(self._numbers)
        return part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)
