"""Draft by a second model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

import torch
from torch import Tensor

from ....language import Message
from ...errors import ContextLengthError
from ...protocol import Context, LanguageModel, offers
from ..config import Speculative
from ..distributions import PositionShaper, Rows, join
from ..types import CacheSizes
from ..vocabularies import require_same_vocabulary
from .proposal import Noise, Proposal


class HasReach(Protocol):
    """A model that can draft so many tokens only."""

    def reach(self, length: int) -> int:
        """Return the number of tokens that it can draft after a text of `length` tokens, apart from
        its context window.
        """
        ...


def room_after(model: LanguageModel, length: int) -> float:
    """Return the number of tokens that a draft can propose after a text of `length` tokens:
    infinite without a context window, negative behind its end.
    """
    window = model.context_window
    room = math.inf if window is None else window - length + 1
    return min(room, model.reach(length)) if offers(model, HasReach) else room


def started_context(
    model: LanguageModel, prompt_ids: Sequence[int], config: Speculative
) -> Context:
    """Return a draft's context that holds the prompt without its last token.

    Raises:
        PromptError: the prompt doesn't fit into the draft's context window.
    """
    window = model.context_window
    if window is not None and len(prompt_ids) > window:
        raise ContextLengthError(
            Message(
                "The prompt has {count} tokens, the draft's context window holds {window}: "
                "shorten the prompt, or take another draft.",
                count=len(prompt_ids),
                window=window,
            ),
            len(prompt_ids),
            window,
        )
    context = model.start(prompt_ids, use_cache=config.use_cache)
    context.rollback(1)
    return context


def same_vocabulary(
    target: LanguageModel, draft: LanguageModel | None, _: Speculative
) -> LanguageModel:
    """Return the draft.

    Raises:
        ModelError: the vocabularies differ.
    """
    assert draft is not None
    require_same_vocabulary(target, draft)
    return draft


class ModelDraft:
    """Draft model: a smaller model that runs ahead of the target."""

    def __init__(
        self, context: Context, model: LanguageModel, target: LanguageModel, config: Speculative
    ) -> None:
        """Create the draft; `context` is the model's, and holds the prompt without its last
        token.
        """
        self._context, self._model = context, model
        self.prefill = 0.0
        self._target, self._eos_ids = target, target.eos_ids
        self._shaper = PositionShaper(target, config, config.draft_shaping)
        self._threshold = config.draft_threshold
        self._before = self._peak = context.length

    @classmethod
    def start(
        cls,
        target: LanguageModel,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        config: Speculative,
    ) -> ModelDraft:
        """Run the prompt through the draft.

        Raises:
            PromptError: the prompt doesn't fit into the draft's context window.
        """
        started = perf_counter()
        context = started_context(model, prompt_ids, config)
        draft = cls(context, model, target, config)
        draft.prefill = perf_counter() - started
        return draft

    def branch(self, config: Speculative) -> ModelDraft:
        """Return a separate draft for another run with the same prompt, before either has
        started.
        """
        return ModelDraft(self._context.branch([0]), self._model, self._target, config)

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:
        """Draft with one forward per token; the first one also reads the tokens emitted since the
        last round.
        """
        self._before = self._peak = self._context.length
        proposal, ahead, rows = Proposal(), list(ids), []
        room = room_after(self._model, len(ids))
        while len(proposal.token_ids) < min(length, room):
            new = ahead[self._context.length :]
            logits = fit(self._context.extend(new)[:, -1], self._target.vocab_size)[0]
            self._peak = self._context.length
            row = self._shaper(logits[None], ahead, index + len(proposal.token_ids))
            if row.is_empty(0):
                proposal.end = "no_token"
                break
            rows.append(row)
            token_id = self._draw(row, proposal, noise)
            proposal.logits.append(logits)
            ahead.append(token_id)
            if token_id in self._eos_ids:
                proposal.end = "eos"
                break
            if self._threshold > 0 and float(logits.softmax(-1)[token_id]) < self._threshold:
                proposal.end = "confidence"
                break
        else:
            proposal.end = "length" if room >= length else "room"
        proposal.rows = join(rows)
        return proposal

    def _draw(self, row: Rows, proposal: Proposal, noise: Noise) -> int:
        uniform = noise(1)[0] if self._shaper.draws else None
        drawn = row.draw(0, uniform or 0.0)
        proposal.token_ids.append(drawn.token_id)
        proposal.uniforms.append(uniform)
        proposal.intervals.append(None if uniform is None else drawn.interval)
        return drawn.token_id

    def keep(self, length: int) -> CacheSizes:
        """Roll the context back to at most `length` tokens."""
        self._context.rollback(max(0, self._context.length - length))
        return CacheSizes(self._before, self._peak, self._context.length)


def fit(logits: Tensor, vocab_size: int) -> Tensor:
    """Pad or cut a draft's logits `[n, own vocab]` to the target's width; only padding differs."""
    missing = vocab_size - logits.shape[-1]
    if missing > 0:
        return torch.nn.functional.pad(logits, (0, missing), value=-torch.inf)
    return logits[:, :vocab_size]
