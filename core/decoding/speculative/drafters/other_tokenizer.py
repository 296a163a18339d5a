"""Draft by a model with another tokenizer: tokens are translated through text.

It follows transformers' universal assisted generation
(`AssistedCandidateGeneratorDifferentTokenizers`): the draft decodes greedily, and its text becomes
tokens of the target. The draft reads the whole text again where transformers reads a window of it,
and keeps its cache up to the first token that differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from time import perf_counter
from typing import Protocol

from ....language import Message
from ...errors import ModelError
from ...protocol import Context, Decodes, LanguageModel, offers
from ..config import Speculative
from ..distributions import Rows
from ..types import SourceToken
from .proposal import Noise, Proposal

# transformers' `target_lookbehind`: tokens that are encoded again with the draft's text.
LOOKBEHIND = 10


class Translates(LanguageModel, Decodes, Protocol):
    """A model whose tokens can be turned into text and back."""


class TranslatedDraft:
    """Draft model with another tokenizer; every proposal has probability 1."""

    def __init__(
        self, context: Context, draft_ids: list[int], target: Translates, draft: Translates
    ) -> None:
        """Create the draft; `context` holds the `draft_ids`."""
        self._context, self._held = context, draft_ids
        self._target, self._draft = target, draft
        self.prefill = 0.0

    @classmethod
    def start(
        cls,
        target: LanguageModel,
        draft: LanguageModel,
        prompt_ids: Sequence[int],
        config: Speculative,
    ) -> TranslatedDraft:
        """Run the prompt's text through the draft.

        Raises:
            ModelError: a model can't decode its tokens.
            PromptError: the text doesn't fit into the draft's context window.
        """
        started = perf_counter()
        readers = _translating(target), _translating(draft)
        ids = _encoded(readers[1], readers[0].decode(prompt_ids))
        context = draft.start(ids, use_cache=config.use_cache)
        started_draft = cls(context, ids, *readers)
        started_draft.prefill = perf_counter() - started
        return started_draft

    def propose(self, ids: Sequence[int], index: int, length: int, noise: Noise) -> Proposal:  # noqa: ARG002 - nothing is drawn
        """Draft `length` tokens of the draft's greedily and translate their text."""
        proposal = Proposal(end="translation")
        drafted = self._drafted(_encoded(self._draft, self._target.decode(ids)), length)
        text = self._draft.decode(drafted, self._held[: len(self._held) - len(drafted)])
        proposal.translation = tuple(
            SourceToken(token_id, self._draft.token_text(token_id)) for token_id in drafted
        )
        proposal.token_ids = translate(self._target, ids, text)[:length]
        ends = [at for at, token in enumerate(proposal.token_ids) if token in self._target.eos_ids]
        if ends:
            proposal.token_ids = proposal.token_ids[: ends[0] + 1]
            proposal.end = "eos"
        elif len(proposal.token_ids) == length:
            proposal.end = "length"
        count = len(proposal.token_ids)
        proposal.rows = Rows(None, list(proposal.token_ids))
        proposal.uniforms, proposal.intervals = [None] * count, [None] * count
        return proposal

    def _drafted(self, ids: list[int], length: int) -> list[int]:
        """Return the draft's most probable next tokens; afterwards the context holds the text and
        all but the last of them.
        """
        window = self._draft.context_window
        room = length if window is None else min(length, window - len(ids) + 1)
        if room < 1:
            return []
        pairs = zip(self._held, ids, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        same = min(same, self._context.length, len(ids) - 1)
        self._context.rollback(self._context.length - same)
        drafted, new = list[int](), ids[same:]
        while len(drafted) < room:
            token_id = int(self._context.extend(new)[0, -1].argmax())
            if token_id in self._draft.eos_ids:
                break
            drafted.append(token_id)
            new = [token_id]
        self._held = [*ids, *drafted]
        return drafted

    def keep(self, length: int) -> None:  # noqa: ARG002 - positions are the target's
        """Do nothing: the next proposal removes what the target rejected."""
        return

    def branch(self, config: Speculative) -> TranslatedDraft:  # noqa: ARG002
        """Return a separate draft for another run with the same prompt."""
        context = self._context.branch([0])
        return TranslatedDraft(context, list(self._held), self._target, self._draft)


def translate(target: Translates, ids: Sequence[int], text: str) -> list[int]:
    """Return the target's tokens of a text that follows `ids`.

    The last tokens are encoded again with it, as many as keep their own tokens, at most 10.
    """
    for behind in range(min(LOOKBEHIND, len(ids)), 0, -1):
        last = list(ids[-behind:])
        again = _encoded(target, target.decode(last) + text)
        if again[:behind] == last:
            return again[behind:]
    return _encoded(target, text)


def _encoded(model: Translates, text: str) -> list[int]:
    """Return a text's tokens without the special tokens that the tokenizer adds in front."""
    if not text:
        return list(model.encode(text)) or [min(model.eos_ids, default=0)]
    ids, added = model.encode(text), model.encode("")
    return ids[len(added) :] if added and ids[: len(added)] == added else ids


def _translating(model: LanguageModel) -> Translates:
    if not offers(model, Translates):
        raise ModelError(
            Message(
                "{model} can't decode its tokens: take another draft source.", model=model.model_id
            )
        )
    return model
