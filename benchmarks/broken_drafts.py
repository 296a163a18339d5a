"""Drafts that are broken on purpose, over a real model, as engines' bug reports describe them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor


class BrokenContext:
    """A draft's context that says it holds the run's tokens.

    Args:
        context: the real one, after the prompt that it reads.
        ids: tokens of the run's prompt.
        change: function that its logits go through.
    """

    def __init__(
        self, context: Any, ids: Sequence[int], change: Callable[[Tensor], Tensor]
    ) -> None:
        self._context, self._change = context, change
        # Tokens that it holds beyond those that it says; below 0 if some are missing.
        self._more = context.length - len(ids)
        self._begun = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def length(self) -> int:
        return int(self._context.length - self._more)

    @property
    def logits(self) -> Tensor:
        return self._change(self._context.logits)

    def extend(self, ids: Any) -> Tensor:
        self._begun = True
        return self._change(self._context.extend(ids))

    def rollback(self, n: int) -> None:
        self._context.rollback(n)


class StarvedContext(BrokenContext):
    """A cache that loses two accepted tokens with every rejection (lablup/mlxcel #994)."""

    def rollback(self, n: int) -> None:
        lost = min(2, self._context.length - n - 1) if n and self._begun else 0
        self._context.rollback(n + lost)
        self._more -= lost


class StaleContext(BrokenContext):
    """A cache that keeps the rejected tokens (a block table that isn't cut, as in
    SafeAILab/EAGLE #52).
    """

    def rollback(self, n: int) -> None:
        if self._begun:
            self._more += n
        else:
            self._context.rollback(n)


class LateContext(BrokenContext):
    """A cache that lacks the last token: each prediction belongs to the position before."""

    def __init__(
        self, context: Any, ids: Sequence[int], change: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__(context, ids, change)
        self._ids = list(ids)
        context.rollback(1)

    @property
    def length(self) -> int:
        return len(self._ids)

    def extend(self, ids: Any) -> Tensor:
        self._ids += ids
        return self._change(self._context.extend(self._ids[self._context.length : -1]))

    def rollback(self, n: int) -> None:
        self._ids = self._ids[: len(self._ids) - n]
        self._context.rollback(max(0, self._context.length - (len(self._ids) - 1)))


class BrokenDraft:
    """A draft model that reads another prompt, whose logits are changed, or whose cache is wrong.

    Args:
        prompt: the ids that it reads in place of the run's prompt.
        change: the function that its logits go through.
        cache: the class of its context.
    """

    def __init__(
        self,
        model: Any,
        *,
        prompt: Sequence[int] = (),
        change: Callable[[Tensor], Tensor] = lambda logits: logits,
        cache: type[BrokenContext] = BrokenContext,
    ) -> None:
        self._model, self._prompt, self._change = model, list(prompt), change
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def start(self, prompt_ids: Sequence[int], **settings: Any) -> BrokenContext:
        context = self._model.start(self._prompt or prompt_ids, **settings)
        return self._cache(context, prompt_ids, self._change)
