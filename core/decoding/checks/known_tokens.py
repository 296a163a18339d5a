"""What a server that names only the likeliest tokens can say about a trace of its own."""

from __future__ import annotations

import math

from torch import Tensor

from core.decoding.checks.common import worst
from core.decoding.protocol import LanguageModel
from core.decoding.record.trace import Candidate, Check, Trace


def candidates_again(trace: Trace, model: LanguageModel, tolerance: float) -> Check:
    """Ask for every position again, and compare what is named both times.

    Args:
        tolerance: nats, of a log-probability.
    """
    steps, prompt, first = trace.token_steps, trace.prompt_step, len(trace.prompt_ids) - 1
    deviations = [0.0]

    def compare(at: int, logits: Tensor) -> None:
        for row, own in enumerate(logits, start=at):
            if prompt is not None and row < len(prompt.positions):
                deviations.append(_difference(own, prompt.positions[row].candidates))
            if 0 <= row - first < len(steps):
                deviations.append(_difference(own, steps[row - first].candidates))

    model.start([*trace.prompt_ids, *trace.token_ids[:-1]], on_logits=compare)
    return worst(
        "asked again, the server names the same tokens with the same log-probabilities",
        deviations,
        tolerance,
        f"largest difference; of each step {trace.known} tokens are named, so that ranks below "
        "them, entropies and the tail's tokens can't be checked",
    )


def _difference(row: Tensor, candidates: tuple[Candidate, ...]) -> float:
    """Of `[vocab]` log-probabilities, NaN where a token isn't named: it is below those that are."""
    lowest = float(row.nan_to_num(nan=math.inf).min())
    gaps = [0.0]
    for candidate in candidates:
        own = float(row[candidate.token_id])
        gaps.append(candidate.logit - lowest if math.isnan(own) else abs(own - candidate.logit))
    return max(gaps)
