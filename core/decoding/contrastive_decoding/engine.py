"""Contrastive decoding: single tokens of the target, with a forward of the draft at each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.decoding.autoregressive import engine
from core.decoding.contrastive_decoding.config import ContrastiveDecoding
from core.decoding.loop.second import WithDraft
from core.decoding.protocol import LanguageModel
from core.decoding.record.steps import Step
from core.decoding.speculative.vocabularies import require_same_vocabulary


def generate(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: ContrastiveDecoding,
    draft: LanguageModel,
) -> Iterator[Step]:
    """Yield the prompt step, then a step for each generated token.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        ModelError: the vocabularies differ.
        DecodingError: a model returned no distribution, or every token is banned.
    """
    require_same_vocabulary(model, draft)
    yield from engine.generate(WithDraft(model, draft), prompt_ids, config.chooser)
