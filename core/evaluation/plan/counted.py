"""Models as an evaluation runs them: forwards counted, and a draft with a prompt of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch

from core.decoding.protocol import (
    Context,
    HiddenContext,
    LanguageModel,
    OnLogits,
    TokenRows,
)


class Counted:
    """A model that counts its forwards; a prompt is one."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.forwards = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> Context:
        """As the model's."""
        self.forwards += 1
        return self.watch(self._model.start(prompt_ids, use_cache=use_cache, on_logits=on_logits))

    def watch(self, context: Context) -> Context:
        """The context, its forwards counted here."""
        kind = _CountedHidden if isinstance(context, HiddenContext) else _CountedContext
        return cast(Context, kind(context, self))

    def as_model(self) -> LanguageModel:
        """Itself; what isn't counted is the model's own."""
        return cast(LanguageModel, self)


class _CountedContext:
    def __init__(self, context: Any, counter: Counted) -> None:
        self._context, self._counter = context, counter

    def extend(self, ids: TokenRows) -> torch.Tensor:
        self._counter.forwards += 1
        logits: torch.Tensor = self._context.extend(ids)
        return logits

    def branch(self, rows: Sequence[int]) -> Context:
        return self._counter.watch(self._context.branch(rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


class _CountedHidden(_CountedContext):
    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        self._counter.forwards += 1
        hidden: torch.Tensor = self._context.extend_hidden(ids)
        return hidden


class OwnPrompt:
    """A draft that reads a prompt of its own where the target reads another.

    Speculative decoding counts a draft's positions as the target's; here they are shifted by the
    difference of the two prompts. Generated tokens are the same in both.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._shared, self._own = 0, list[int]()

    def read(self, target_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """What the next runs read in place of the target's prompt."""
        self._shared, self._own = len(target_ids), list(own_ids)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def context_window(self) -> int | None:
        window = self._model.context_window
        return None if window is None else window + self._shared - len(self._own)

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> Context:
        """A context over the draft's own prompt that speaks of the target's positions."""
        ids = [*self._own, *prompt_ids[self._shared :]]
        started = self._model.start(ids, use_cache=use_cache, on_logits=on_logits)
        return cast(Context, _Shifted(started, self._shared, self._own))

    def as_model(self) -> LanguageModel:
        """Itself; all but the prompt is the model's own."""
        return cast(LanguageModel, self)


class _Shifted:
    def __init__(self, context: Context, shared: int, own: list[int]) -> None:
        self._context, self._shared, self._own = context, shared, own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    @property
    def length(self) -> int:
        return self._context.length + self._shared - len(self._own)

    def extend(self, ids: TokenRows) -> torch.Tensor:
        """What is said of the prompt's last token is said of the own one's."""
        flat = [int(token) for token in ids]  # type: ignore[arg-type]
        again = max(0, self._shared - self.length)
        own = self._own[len(self._own) - again :] if again else []
        return self._context.extend([*own, *flat[again:]])

    def branch(self, rows: Sequence[int]) -> Context:
        return cast(Context, _Shifted(self._context.branch(rows), self._shared, self._own))
