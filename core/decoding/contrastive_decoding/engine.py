"""Contrastive decoding: single tokens of the target, with a forward of the draft at each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...language import Message
from ..autoregressive import engine
from ..errors import ConfigError
from ..loop.run import token_limit
from ..loop.second import WithDraft
from ..protocol import LanguageModel
from ..record.steps import Step
from ..speculative.vocabularies import require_same_vocabulary
from .config import ContrastiveDecoding


def generate(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: ContrastiveDecoding,
    draft: LanguageModel,
) -> Iterator[Step]:
    """Yield the prompt step, then a step for each generated token.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        ConfigError: the draft's context window is too small for the run.
        ModelError: the vocabularies differ.
        DecodingError: a model returned no distribution, or every token is banned.
    """
    require_same_vocabulary(model, draft)
    length, window = len(prompt_ids) + token_limit(model, prompt_ids, config), draft.context_window
    if window is not None and length > window:
        raise ConfigError(
            Message(
                "The run may have {length} tokens with its prompt, and the draft's "
                "context window holds {window}: lower max_new_tokens, shorten the "
                "prompt, or take another draft.",
                length=length,
                window=window,
            )
        )
    yield from engine.generate(WithDraft(model, draft), prompt_ids, config.chooser)
