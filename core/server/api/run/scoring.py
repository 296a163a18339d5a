"""Log-probabilities of a run's tokens, over the whole vocabulary, as in its trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from torch import Tensor

from ....decoding.config import MethodConfig
from ....decoding.loop.second import WithDraft
from ....decoding.protocol import Context, LanguageModel, OnLogits, TokenRows, Wrapped
from ....decoding.record.steps import TokenStep
from ..answer.logprobs import TokenLogprobs
from ..request.plan import LogprobsOptions
from .reading import TokenReader, certain, read_raw, reader_of


class Tap(Wrapped):
    """Model wrapper that keeps the last logits of the first context, the run's own.

    Later contexts are those of second forwards.

    Args:
        on_prompt: callbacks, as `on_logits` in `LanguageModel.start`.
    """

    def __init__(self, model: LanguageModel, on_prompt: Sequence[OnLogits] = ()) -> None:
        super().__init__(model)
        self._on_prompt = on_prompt
        self.row: Tensor | None = None

    def start(
        self, prompt_ids: Sequence[int], *, on_logits: OnLogits | None = None, **options: Any
    ) -> Context:
        if self.row is not None:
            return cast(Context, self._inner.start(prompt_ids, on_logits=on_logits, **options))

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
    """Log-probabilities of a run with one token per step, from the run's own logits."""

    def __init__(
        self,
        tap: Tap,
        draft: LanguageModel | None,
        prompt_ids: Sequence[int],
        config: MethodConfig,
        options: LogprobsOptions,
    ) -> None:
        model = cast(LanguageModel, tap)
        if draft is not None:
            model = cast(LanguageModel, WithDraft(model, draft))
        self._tap, self._ids, self._options = tap, list(prompt_ids), options
        self._answer_from: int | None = None
        self._read = reader_of(model, config, options, answer_from=lambda: self._answer_from)

    def read(self, step: TokenStep) -> TokenLogprobs:
        """Return a step's log-probabilities; call it before the next step."""
        row, token_id = self._tap.row, step.token_id
        assert row is not None
        if self._answer_from is None and step.phase == "answer":
            self._answer_from = step.index
        if self._options.mode == "final" and step.origin in ("forced", "server"):
            scored = certain(token_id, self._options.count(self._tap.vocab_size))
        else:
            scored = self._read(step.index, row, self._ids, token_id)
        self._ids.append(token_id)
        return scored


class Scorer:
    """Log-probabilities of the tokens of any method, from an extra forward pass."""

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], read: TokenReader) -> None:
        self._context, self._read_one = model.start(prompt_ids), read
        self._ids, self._first = list(prompt_ids), len(prompt_ids)

    def read(self, token_ids: Sequence[int]) -> tuple[TokenLogprobs, ...]:
        """Return the log-probabilities of the next tokens."""
        if not token_ids:
            return ()
        before = self._context.logits[0]
        after = self._context.extend(list(token_ids))[0]
        tokens = []
        for row, token_id in zip([before, *after[:-1]], token_ids, strict=True):
            index = len(self._ids) - self._first
            tokens.append(self._read_one(index, row, self._ids, token_id))
            self._ids.append(token_id)
        return tuple(tokens)


class PromptReader:
    """Raw log-probabilities of a prompt's tokens, from its own forward pass."""

    def __init__(
        self, model: LanguageModel, prompt_ids: Sequence[int], options: LogprobsOptions
    ) -> None:
        self._model, self._ids = model, prompt_ids
        self._count = options.count(model.vocab_size)
        self.tokens: list[TokenLogprobs] = []
        # Rank of each token, 1 for the most probable at its position.
        self.ranks: list[int] = []

    def __call__(self, first: int, logits: Tensor) -> None:
        """Read consecutive positions, logits `[n, vocab]`."""
        for at, row in enumerate(logits, start=first + 1):
            if at < len(self._ids):
                token_id = self._ids[at]
                self.tokens.append(read_raw(self._model, row, token_id, self._count))
                self.ranks.append(1 + int((row > row[token_id]).sum()))
