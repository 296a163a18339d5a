"""Draft by a head on the target (MTP, EAGLE): it reads the target's hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

from torch import Tensor

from ....language import Message
from ...errors import ModelError
from ...protocol import Context, LanguageModel, offers
from ..config import Speculative
from ..types import CacheSizes
from .model import ModelDraft


class HeadState(Context, Protocol):
    """Context of a head; `read` tokens were read with the target's hidden states."""

    read: int

    def see(self, hidden: Tensor) -> None:
        """Take in the target's hidden states `[n, width]` of the tokens after the known ones."""
        ...

    def forget(self, length: int) -> None:
        """Keep the target's hidden states of the first `length` tokens only."""
        ...


class HeadModel(LanguageModel, Protocol):
    """A head as a model; the context of `start` runs the target along, its branches don't."""

    @property
    def target_revision(self) -> str:
        """Digest of the target's weights."""
        ...

    def start(self, prompt_ids: Sequence[int], *, use_cache: bool = True) -> HeadState:  # type: ignore[override]
        """Run the target and the head over the prompt."""
        ...


def require_head(
    target: LanguageModel, draft: LanguageModel | None, _: Speculative
) -> LanguageModel:
    """Return the head.

    Raises:
        ModelError: the draft is no head of this target.
    """
    assert draft is not None
    if not offers(draft, HeadModel):
        raise ModelError(
            Message("{draft} is no draft head: set drafter to 'model'.", draft=draft.model_id)
        )
    if draft.target_revision != target.revision:
        raise ModelError(
            Message(
                "{draft} reads the hidden states of another model than {target}: "
                "take the target that it was trained on, or another draft; a target's own "
                "multi-token-prediction layers are the drafter 'mtp'.",
                draft=draft.model_id,
                target=target.model_id,
            )
        )
    return draft


def started_head(model: LanguageModel, prompt_ids: Sequence[int], config: Speculative) -> Context:
    """Return a head's context that holds the prompt without its last token; the target doesn't run
    along in it.
    """
    context = model.start(prompt_ids, use_cache=config.use_cache).branch([0])
    context.rollback(1)
    return context


class HeadDraft(ModelDraft):
    """Draft head: after each round it reads the accepted tokens again, with the target's hidden
    states in place of its own.
    """

    _context: HeadState

    @classmethod
    def start(
        cls,
        target: LanguageModel,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        config: Speculative,
    ) -> HeadDraft:
        """Run the target and the head over the prompt: the head's prefill includes the target's."""
        started = perf_counter()
        context = started_head(model, prompt_ids, config)
        draft = cls(context, model, target, config)
        draft.prefill = perf_counter() - started
        return draft

    def branch(self, config: Speculative) -> HeadDraft:
        """Return a separate draft for another run."""
        return HeadDraft(self._context.branch([0]), self._model, self._target, config)

    def see(self, hidden: Tensor) -> None:
        """Take in the hidden states of the tokens that the target has scored, `[n, width]`."""
        self._context.see(hidden)

    def keep(self, length: int) -> CacheSizes:
        """Remove the tokens that were read with the head's own hidden states."""
        self._context.forget(length)
        return super().keep(min(length, self._context.read))
