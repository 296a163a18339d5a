"""Drafts that are broken on purpose, over a real model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor


class BrokenDraft:
    """A draft model that reads another prompt, or whose logits are changed.

    Args:
        prompt: the ids that it reads in place of the run's prompt.
        change: the function that its logits go through.
    """

    def __init__(
        self,
        model: Any,
        *,
        prompt: Sequence[int] = (),
        change: Callable[[Tensor], Tensor] = lambda logits: logits,
    ) -> None:
        self._model, self._prompt, self._change = model, list(prompt), change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def start(self, prompt_ids: Sequence[int], **settings: Any) -> _BrokenContext:
        context = self._model.start(self._prompt or prompt_ids, **settings)
        return _BrokenContext(context, context.length - len(prompt_ids), self._change)


class _BrokenContext:
    """A context that says it holds the run's prompt."""

    def __init__(self, context: Any, more: int, change: Callable[[Tensor], Tensor]) -> None:
        self._context, self._more, self._change = context, more, change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def length(self) -> int:
        return int(self._context.length - self._more)

    @property
    def logits(self) -> Tensor:
        return self._change(self._context.logits)

    def extend(self, ids: Any) -> Tensor:
        return self._change(self._context.extend(ids))
