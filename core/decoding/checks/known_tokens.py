"""Checks of a trace against a server that names only the likeliest tokens."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...language import Message
from ..protocol import LanguageModel
from ..record.steps import Candidate
from ..record.trace import Check, Trace
from .common import count, worst
from .forwards import logit_tolerance
from .token_replay import SAME_STAGES, RecordAgain, TokenReplay


def asked_again(
    trace: Trace, model: LanguageModel, record: RecordAgain | None = None
) -> list[Check]:
    """Query every position again, compare the named tokens, and shape them again.

    Args:
        record: None for a run that the server shaped, which can't be repeated.
    """
    steps, prompt, first = trace.token_steps, trace.prompt_step, len(trace.prompt_ids) - 1
    ids, deviations, faults = [*trace.prompt_ids, *trace.token_ids[:-1]], [0.0], [""]
    largest = max([1.0, *(abs(c.logit) for step in steps for c in step.candidates)])
    tolerance = logit_tolerance(trace, model, largest)
    replay = TokenReplay(trace, model, record) if record else None

    def compare(at: int, logits: Tensor) -> None:
        for position, row in enumerate(logits, start=at):
            if prompt is not None and position < len(prompt.positions):
                deviations.append(_difference(row, prompt.positions[position].candidates))
            if 0 <= position - first < len(steps):
                step = steps[position - first]
                deviations.append(_difference(row, step.candidates))
                if replay:
                    # The least likely named token may be unnamed this time.
                    places = [c.token_id for c in step.candidates]
                    recorded = row.new_tensor([c.logit for c in step.candidates])
                    missing = row[places].isnan()
                    named = row.index_put(
                        (torch.tensor(places),), row[places].where(~missing, recorded)
                    )
                    faults.append(replay.fault(step, named, ids[: position + 1], tolerance))

    model.start(ids, on_logits=compare)
    same_tokens = worst(
        "server_again",
        deviations,
        tolerance,
        Message(
            "largest difference; of each step {known} tokens are named, so that ranks "
            "below them, entropies and the tail's tokens can't be checked",
            known=trace.known,
        ),
    )
    if not replay:
        return [same_tokens]
    return [same_tokens, count(SAME_STAGES, [*filter(None, faults)], "faults")]


def _difference(row: Tensor, candidates: tuple[Candidate, ...]) -> float:
    """Return the largest difference from `[vocab]` log-probabilities, NaN for unnamed tokens.

    An unnamed token is less probable than the named ones.
    """
    lowest = float(row.nan_to_num(nan=math.inf).min())
    gaps = [0.0]
    for candidate in candidates:
        logprob = float(row[candidate.token_id])
        unnamed = math.isnan(logprob)
        gaps.append(candidate.logit - lowest if unnamed else abs(logprob - candidate.logit))
    return max(gaps)
