"""Log-probabilities of a run's tokens, over the whole vocabulary, as its trace has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torch import Tensor

from core.decoding.autoregressive.engine import Picker
from core.decoding.config import MethodConfig
from core.decoding.protocol import Context, LanguageModel, OnLogits, TokenRows, Wrapped
from core.decoding.record.trace import TokenStep
from core.server.api.final import Final
from core.server.api.logprobs import TokenLogprobs, Wanted
from core.server.api.reading import certain, read, read_raw


class Tap(Wrapped):
    """A model whose last logits can be read: those that the step at hand was made of.

    Args:
        on_prompt: each as `on_logits` of `LanguageModel.start`.
    """

    def __init__(self, model: LanguageModel, on_prompt: Sequence[OnLogits] = ()) -> None:
        super().__init__(model)
        self._on_prompt = on_prompt
        self.row: Tensor | None = None

    def start(
        self, prompt_ids: Sequence[int], *, on_logits: OnLogits | None = None, **options: Any
    ) -> Context:
        def both(first: int, logits: Tensor) -> None:
            for listener in (*self._on_prompt, on_logits):
                if listener is not None:
                    listener(first, logits)

        context = self._inner.start(prompt_ids, on_logits=both, **options)
        self.row = context.logits[0]
        return cast(Context, _TappedContext(context, self))


class _TappedContext(Wrapped):
    def __init__(self, context: Context, tap: Tap) -> None:
        super().__init__(context)
        self._tap = tap

    def extend(self, ids: TokenRows) -> Tensor:
        logits: Tensor = self._inner.extend(ids)
        self._tap.row = logits[0, -1]
        return logits


class StepReader:
    """Log-probabilities of the steps of a run that emits one token a step, from its own logits.

    Args:
        prompt_ids: of the run.
    """

    def __init__(
        self, tap: Tap, prompt_ids: Sequence[int], config: MethodConfig, wanted: Wanted
    ) -> None:
        self._tap, self._ids = tap, list(prompt_ids)
        self._count = wanted.count(tap.vocab_size)
        # Draws from a generator of its own; the stages before the draw are those of the run.
        self._model = cast(LanguageModel, tap)
        self._picker = Picker(self._model, config.chooser) if wanted.mode == "final" else None

    def read(self, step: TokenStep) -> TokenLogprobs:
        """Call it between this step and the next."""
        row = self._tap.row
        assert row is not None
        self._ids.append(step.token_id)
        if self._picker is None:
            return read_raw(self._model, row, step.token_id, self._count)
        if step.origin in ("forced", "server"):
            return certain(step.token_id, self._count)
        picked = self._picker.pick(step.index, row, self._ids[:-1])
        return read(picked.stages[-1], step.token_id, self._count)


class Scorer:
    """Log-probabilities of tokens that another method emitted: from a forward pass of its own.

    Args:
        final: reads the final ones; None for raw ones.
    """

    def __init__(
        self,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        wanted: Wanted,
        final: Final | None = None,
    ) -> None:
        self._count = wanted.count(model.vocab_size)
        self._model, self._context, self._final = model, model.start(prompt_ids), final
        self._ids, self._first = list(prompt_ids), len(prompt_ids)

    def read(self, token_ids: Sequence[int]) -> tuple[TokenLogprobs, ...]:
        """Of the next tokens."""
        if not token_ids:
            return ()
        before = self._context.logits[0]
        after = self._context.extend(list(token_ids))[0]
        return tuple(map(self._read, [before, *after[:-1]], token_ids))

    def _read(self, row: Tensor, token_id: int) -> TokenLogprobs:
        ids = self._ids
        if self._final is None:
            found = read_raw(self._model, row, token_id, self._count)
        else:
            found = self._final(len(ids) - self._first, row, ids, token_id, self._count)
        ids.append(token_id)
        return found


class PromptReader:
    """Raw log-probabilities of a prompt's tokens, from its own forward pass."""

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], wanted: Wanted) -> None:
        self._model, self._ids = model, prompt_ids
        self._count = wanted.count(model.vocab_size)
        self.tokens: list[TokenLogprobs] = []
        # 1 for the most probable token of its place.
        self.ranks: list[int] = []

    def __call__(self, first: int, logits: Tensor) -> None:
        """Take in consecutive positions, `[n, vocab]`."""
        for at, row in enumerate(logits, start=first + 1):
            if at < len(self._ids):
                token_id = self._ids[at]
                self.tokens.append(read_raw(self._model, row, token_id, self._count))
                self.ranks.append(1 + int((row > row[token_id]).sum()))
