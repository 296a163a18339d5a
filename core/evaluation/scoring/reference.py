"""Compute the log-likelihood of a reference answer after a prompt with one forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ...decoding.diffusion.engine import is_diffusion_model
from ...decoding.loop.text import encode_continuation
from ...decoding.protocol import LanguageModel


@dataclass(frozen=True, slots=True)
class ReferenceScore:
    """Log-likelihood of a text.

    Args:
        logprob: sum over its tokens, in nats, under the model's own distribution (no shaping).
        tokens: number of tokens.
    """

    logprob: float
    tokens: int


def score_reference(
    model: LanguageModel, prompt: str | Sequence[int], answer: str
) -> ReferenceScore | None:
    """Return the log-likelihood of an answer, as lm-evaluation-harness' `loglikelihood`.

    Prompt and answer are encoded as one text, and the tokens after the prompt's own tokens are
    scored; trailing white space of the prompt counts as the answer's. The end of sequence is not
    counted. Return None if prompt and answer don't fit into the window, if the model has no
    embedding for a token of the answer, if its server doesn't name all tokens, or if it is a
    diffusion model, which has no next token.

    Args:
        prompt: text, or the ids of a conversation, which keeps its trailing white space.

    Raises:
        PromptError: an empty prompt.
    """
    if getattr(model, "known", None) is not None or is_diffusion_model(model):
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
    """Return the ids of a prompt and of its answer (lm-evaluation-harness' `_encode_pair`)."""
    if isinstance(prompt, str) and (context := prompt.rstrip()):
        before = model.encode(context)
        return before, model.encode(prompt + answer)[len(before) :]
    ids = model.encode(prompt) if isinstance(prompt, str) else prompt
    return ids, encode_continuation(model, answer)
