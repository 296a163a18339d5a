"""Model wrappers of an evaluation: count forwards, and give a draft its own prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch

from ...decoding.diffusion.noise import EncodedText
from ...decoding.protocol import (
    Context,
    HiddenContext,
    LanguageModel,
    Layers,
    TokenRows,
    Wrapped,
    offers,
)


class Counted(Wrapped):
    """A model that counts its forwards; a prompt counts as one.

    `early_forwards` are those of its first layers as a model, each counted by its share of the
    layers.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.reset()

    def reset(self) -> None:
        """Begin to count anew."""
        self.forwards, self.early_forwards = 0, 0.0

    def count(self) -> None:
        """Count a forward."""
        self.forwards += 1

    def start(self, prompt_ids: Sequence[int], **options: Any) -> Context:
        """Return a context whose forwards are counted."""
        self.count()
        return self.watch(self._inner.start(prompt_ids, **options))

    @property
    def layers(self) -> Layers:
        """The layers of the model, with forwards counted; AttributeError if it gives none."""
        return cast(Layers, _CountedLayers(self._inner.layers, self))

    def watch(self, context: Context) -> Context:
        """Return the context with its forwards counted here."""
        kind = _CountedHidden if offers(context, HiddenContext) else _CountedContext
        return cast(Context, kind(context, self))

    def fill(self, ids: Sequence[int]) -> torch.Tensor:
        """Return the logits of a canvas of masks."""
        self.count()
        return cast(torch.Tensor, self._inner.fill(ids))

    def encode_text(self, ids: Sequence[int]) -> EncodedText:
        """Return the text before a canvas of noise, whose forwards are counted."""
        self.count()
        return cast(EncodedText, _CountedText(self._inner.encode_text(ids), self))

    def as_model(self) -> LanguageModel:
        """Return this wrapper typed as a model; other attributes are the wrapped model's."""
        return cast(LanguageModel, self)


class _CountedLayers(Wrapped):
    def __init__(self, layers: Layers, counter: Counted) -> None:
        super().__init__(layers)
        self._counter = counter

    def start(self, prompt_ids: Sequence[int], **options: Any) -> Context:
        self._counter.count()
        return self._counter.watch(self._inner.start(prompt_ids, **options))

    def first(self, count: int) -> LanguageModel:
        share = count / self._inner.count
        return _FirstLayers(self._inner.first(count), self._counter, share).as_model()


class _FirstLayers(Counted):
    """The first layers as a model, whose forwards the whole model counts by their share."""

    def __init__(self, model: LanguageModel, whole: Counted, share: float) -> None:
        super().__init__(model)
        self._whole, self._share = whole, share

    def count(self) -> None:
        self._whole.early_forwards += self._share


class _CountedText(Wrapped):
    def __init__(self, text: EncodedText, counter: Counted) -> None:
        super().__init__(text)
        self._counter = counter

    def extend(self, ids: Sequence[int]) -> None:
        self._counter.count()
        self._inner.extend(ids)

    def denoise(self, canvas: Sequence[int], conditioning: torch.Tensor | None) -> torch.Tensor:
        self._counter.count()
        return cast(torch.Tensor, self._inner.denoise(canvas, conditioning))


class _CountedContext(Wrapped):
    def __init__(self, context: Any, counter: Counted) -> None:
        super().__init__(context)
        self._counter = counter

    def extend(self, ids: TokenRows) -> torch.Tensor:
        self._counter.count()
        return cast(torch.Tensor, self._inner.extend(ids))

    def extend_tree(
        self,
        ids: Sequence[int],
        parents: Sequence[int],
        hidden: list[torch.Tensor] | None = None,
    ) -> torch.Tensor:
        self._counter.count()
        return cast(torch.Tensor, self._inner.extend_tree(ids, parents, hidden))

    def branch(self, rows: Sequence[int]) -> Context:
        return self._counter.watch(self._inner.branch(rows))


class _CountedHidden(_CountedContext):
    def extend_hidden(self, ids: TokenRows) -> torch.Tensor:
        self._counter.count()
        return cast(torch.Tensor, self._inner.extend_hidden(ids))

    def extend_both(self, ids: TokenRows) -> tuple[torch.Tensor, torch.Tensor]:
        self._counter.count()
        return cast("tuple[torch.Tensor, torch.Tensor]", self._inner.extend_both(ids))


class OwnPrompt(Wrapped):
    """A draft model that reads another prompt than the target.

    Speculative decoding gives a draft the target's positions; here they are shifted by the
    difference of the two prompts' lengths. Generated tokens are the same in both.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._shared, self._own = 0, list[int]()

    def read(self, target_ids: Sequence[int], own_ids: Sequence[int]) -> None:
        """Set the prompt that the next runs read in place of the target's."""
        self._shared, self._own = len(target_ids), list(own_ids)

    @property
    def context_window(self) -> int | None:
        window: int | None = self._inner.context_window
        return None if window is None else window + self._shared - len(self._own)

    def start(self, prompt_ids: Sequence[int], **options: Any) -> Context:
        """Return a context over the draft's own prompt with the target's positions."""
        started = self._inner.start([*self._own, *prompt_ids[self._shared :]], **options)
        return cast(Context, _Shifted(started, self._shared, self._own))

    def as_model(self) -> LanguageModel:
        """Return this wrapper typed as a model; other attributes are the wrapped model's."""
        return cast(LanguageModel, self)


class _Shifted(Wrapped):
    def __init__(self, context: Context, shared: int, own: list[int]) -> None:
        super().__init__(context)
        self._shared, self._own = shared, own

    @property
    def length(self) -> int:
        held: int = self._inner.length
        return held + self._shared - len(self._own)

    def extend(self, ids: TokenRows) -> torch.Tensor:
        """Extend the context; the draft's own tokens replace the last ones of the shared prompt."""
        flat = [int(token) for token in ids]  # type: ignore[arg-type]
        again = max(0, self._shared - self.length)
        last = self._own[len(self._own) - again :] if again else []
        return cast(torch.Tensor, self._inner.extend([*last, *flat[again:]]))

    def branch(self, rows: Sequence[int]) -> Context:
        return cast(Context, _Shifted(self._inner.branch(rows), self._shared, self._own))
