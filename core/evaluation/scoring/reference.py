"""The log-likelihood of a reference answer behind a prompt: one forward, nothing generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core.decoding.loop.text import encode_continuation
from core.decoding.protocol import LanguageModel


@dataclass(frozen=True, slots=True)
class ReferenceScore:
    """Log-likelihood of a text.

    Args:
        logprob: the sum over its tokens, in nats, of the model's own distribution (no shaping).
        tokens: how many there are.
    """

    logprob: float
    tokens: int


def score_reference(
    model: LanguageModel, prompt: str | Sequence[int], answer: str
) -> ReferenceScore | None:
    """The answer's tokens behind the prompt's, as lm-evaluation-harness' `loglikelihood`.

    Prompt and answer are encoded as one text, and what follows the prompt's own tokens is scored;
    the prompt's last spaces and line breaks count as the answer's. The end of sequence isn't
    counted. None where prompt and answer don't fit into the window, where the model has no
    embedding for a token of the answer, or where its server doesn't name all tokens.

    Args:
        prompt: text, or the ids of a conversation, whose last spaces stay its own.

    Raises:
        PromptError: an empty prompt.
    """
    if getattr(model, "known", None) is not None:
        return None
    prompt_ids, ids = _encode_pair(model, prompt, answer)
    window = model.context_window
    if not ids or max(ids) >= model.vocab_size:
        return None
    if window is not None and len(prompt_ids) + len(ids) > window:
        return None
    context = model.start(prompt_ids)
    logits = [context.logits[0]]
    if len(ids) > 1:
        logits += list(context.extend(ids[:-1])[0])
    logprobs = torch.stack(logits).double().log_softmax(-1)
    picked = logprobs.gather(1, torch.tensor(ids)[:, None])
    return ReferenceScore(float(picked.sum()), len(ids))


def _encode_pair(
    model: LanguageModel, prompt: str | Sequence[int], answer: str
) -> tuple[Sequence[int], list[int]]:
    """The ids of a prompt and those of its answer (lm-evaluation-harness' `_encode_pair`)."""
    if isinstance(prompt, str) and (context := prompt.rstrip()):
        before = model.encode(context)
        return before, model.encode(prompt + answer)[len(before) :]
    ids = model.encode(prompt) if isinstance(prompt, str) else prompt
    return ids, encode_continuation(model, answer)
