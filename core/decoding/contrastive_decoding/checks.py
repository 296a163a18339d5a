"""Checks of a contrastive decoding's trace against its models."""

from __future__ import annotations

import torch
from torch import Tensor

from ...language import N_, Message
from ..checks import model_checks as token_model_checks
from ..checks.common import count, worst
from ..checks.forwards import (
    candidate_error,
    entropy_of,
    largest_logit,
    logit_tolerance,
    nan_first,
    prompt_numbers,
)
from ..loop.run import read_again
from ..loop.second import WithDraft
from ..protocol import LanguageModel
from ..record.trace import Check, Trace
from .config import ContrastiveDecoding


def model_checks(
    trace: Trace[ContrastiveDecoding], model: LanguageModel, draft: LanguageModel | None = None
) -> list[Check]:
    """Return the checks of single tokens with both models; without the draft, those that don't
    need it.
    """
    if draft is None:
        return _of_target(trace, model)
    faults = []
    if trace.draft_id != draft.model_id or trace.draft_revision != draft.revision:
        faults.append(N_("the trace was made with another draft model, or another version of it"))
    fits = count("draft_fits", faults, "contradictions")
    return [*token_model_checks.model_checks(trace, WithDraft(model, draft)), fits]


def _of_target(trace: Trace[ContrastiveDecoding], model: LanguageModel) -> list[Check]:
    ids = {step.token_id for step in trace.token_steps}
    ids |= {c.token_id for step in trace.token_steps for c in step.candidates}
    faults = token_model_checks.fit_faults(trace, model, ids)
    faults += token_model_checks.ending_faults(trace, model)
    fits = count("fits_model", faults, "contradictions")
    if not fits.passed:
        return [fits]
    texts = token_model_checks.texts(trace, model)
    return [fits, texts, prompt_numbers(trace, model), _target_again(trace, model)]


def _target_again(trace: Trace[ContrastiveDecoding], model: LanguageModel) -> Check:
    """Compare one forward of the target with every number before the contrast."""
    steps, first = trace.token_steps, len(trace.prompt_ids) - 1
    deviations, largest = [0.0], 1.0

    def compare(at: int, logits: Tensor) -> None:
        nonlocal largest
        largest = max(largest, largest_logit(logits))
        for row, again in enumerate(logits, start=at):
            if 0 <= row - first < len(steps):
                step, log_probs = steps[row - first], torch.log_softmax(again.double(), dim=-1)
                numbers = (
                    abs(entropy_of(log_probs) - step.entropy),
                    abs(-float(log_probs[step.token_id]) - step.surprisal),
                    candidate_error(again, step.candidates),
                )
                deviations.append(max(numbers, key=nan_first))

    read_again(model, trace, trace.token_ids[:-1], compare)
    detail = Message(
        "largest difference of logits and entropies over {steps} steps, uncached", steps=len(steps)
    )
    return worst("forward_again", deviations, logit_tolerance(trace, model, largest), detail)
