"""The log-likelihood of a reference answer behind a prompt: one forward, nothing generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core.decoding.loop.text import encode_plain
from core.decoding.protocol import LanguageModel


@dataclass(frozen=True, slots=True)
class ReferenceScore:
    """How probable the model finds a text.

    Args:
        logprob: the sum over its tokens, in nats, of the model's own distribution (no shaping).
        tokens: how many there are.
    """

    logprob: float
    tokens: int

    @property
    def per_token(self) -> float:
        return self.logprob / self.tokens


def score_reference(
    model: LanguageModel, prompt_ids: Sequence[int], answer: str
) -> ReferenceScore | None:
    """The answer's tokens behind the prompt's, as lm-evaluation-harness' `loglikelihood`.

    The end of sequence isn't counted. None where prompt and answer don't fit into the window, or
    where the model's server doesn't name all tokens.

    Raises:
        PromptError: an empty prompt.
    """
    if getattr(model, "known", None) is not None:
        return None
    ids = encode_plain(model, answer)
    window = model.context_window
    if not ids or (window is not None and len(prompt_ids) + len(ids) > window):
        return None
    context = model.start(prompt_ids)
    logits = [context.logits[0]]
    if len(ids) > 1:
        logits += list(context.extend(ids[:-1])[0])
    logprobs = torch.stack(logits).double().log_softmax(-1)
    picked = logprobs.gather(1, torch.tensor(ids)[:, None])
    return ReferenceScore(float(picked.sum()), len(ids))
