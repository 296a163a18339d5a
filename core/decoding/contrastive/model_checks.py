"""Check of a contrastive search's trace against its model: every candidate again, without a
cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import N_, Message
from ..autoregressive.engine import Picker
from ..autoregressive.picked import Picked
from ..checks import model_checks as token_model_checks
from ..checks.common import MASS_TOLERANCE, count, worst
from ..checks.forwards import largest_logit, logit_tolerance
from ..checks.token_replay import record_picked
from ..counting import at_step
from ..errors import DecodingError
from ..loop.run import read_again
from ..protocol import LanguageModel
from ..record.compared import Compared
from ..record.steps import TokenStep
from ..record.trace import Check, Trace
from ..shaping.draws import Pick
from ..shaping.stages import only
from .config import ContrastiveSearch
from .scoring import degeneration, directions, require_hidden


class _Deviation(NamedTuple):
    """Differences of a step's numbers from an independent forward's.

    `largest` is that forward's largest logit; `prob` is the difference of a compared token's
    probability; `left_out` is the excess probability of a token that was not compared over one that
    was; `cosine` is the difference of a degeneration penalty.
    """

    largest: float
    prob: float
    left_out: float
    cosine: float


def model_checks(trace: Trace[ContrastiveSearch], model: LanguageModel) -> list[Check]:
    """Return the checks of single tokens that need the model, and the checks of the candidates."""
    checks = token_model_checks.model_checks(trace, model, _record)
    if not checks[0].passed:
        return checks
    faults = [
        at_step(step.index, N_("the compared tokens are not the model's"))
        for step in trace.token_steps
        if not step.compared
        or not all(0 <= c.token_id < model.vocab_size for c in step.compared)
        or any(c.text != model.token_text(c.token_id) for c in step.compared)
    ]
    texts = count("compared_again", faults, N_("steps that differ"))
    return [*checks, texts, *_rescored(trace, model)] if texts.passed else [*checks, texts]


def _record(picker: Picker, step: TokenStep, _: Tensor, picked: Picked | None) -> TokenStep:
    """Return the recorded choice over the penalised distribution; its scores are checked
    separately.
    """
    if picked is None:
        raise DecodingError(N_("the method forces no token"))
    before = picked.stages[-2]
    stages = [*picked.stages[:-1], only(before, step.token_id)]
    chosen = picked._replace(pick=Pick(step.token_id), stages=stages)
    recorded = record_picked(picker, step, _, chosen)
    return replace(recorded, compared=step.compared)


def _rescored(trace: Trace[ContrastiveSearch], model: LanguageModel) -> list[Check]:
    try:
        with torch.inference_mode():
            deviations = list(_deviations(trace, model))
    except DecodingError as error:
        return [count("rescorable", [error.args[0]], "")]
    largest = max((deviation.largest for deviation in deviations), default=1.0)
    slack = MASS_TOLERANCE + 4 * logit_tolerance(trace, model, largest)
    near = 4 * logit_tolerance(trace, model, 1.0)
    probs = [max(deviation.prob, deviation.left_out) for deviation in deviations]
    cosines = [deviation.cosine for deviation in deviations]
    of = Message("over the compared tokens of {deviations} steps", deviations=len(deviations))
    return [
        worst(
            "most_probable_again",
            probs,
            slack,
            Message("largest difference of probabilities {of}", of=of),
        ),
        worst("cosines_again", cosines, near, Message("largest difference {of}, uncached", of=of)),
    ]


def _deviations(trace: Trace[ContrastiveSearch], model: LanguageModel) -> Iterator[_Deviation]:
    """Yield each step's deviation, with one forward over the text and one over each step's
    candidates.
    """
    ids, start = [*trace.prompt_ids, *trace.token_ids], len(trace.prompt_ids)
    whole = require_hidden(read_again(model, trace, ()), model)
    whole.rollback(start)
    before, picker = directions(whole.extend_hidden(ids)[0]), Picker(model, trace.config)
    for at, step in enumerate(trace.token_steps, start=start):
        context = require_hidden(read_again(model, trace, ids[start:at]), model)
        logits = context.logits[0]
        probs = picker.pick(step.index, logits, ids[:at]).stages[-2].probs
        contrasted = step.compared or ()
        context.reorder([0] * len(contrasted))
        new = directions(
            context.extend_hidden([[candidate.token_id] for candidate in contrasted])[:, 0]
        )
        cosines = degeneration(new, before[:at])
        yield _deviation(contrasted, largest_logit(logits), probs, cosines)


def _deviation(
    contrasted: Sequence[Compared], largest: float, probs: Tensor, cosines: Sequence[float]
) -> _Deviation:
    """Return the deviation of a step.

    Args:
        probs: `[vocab]` probabilities of an independent forward.
        cosines: degeneration penalties of an independent forward.
    """
    ids = [candidate.token_id for candidate in contrasted]
    others = probs.clone()
    others[ids] = 0
    pairs = zip(contrasted, cosines, strict=True)
    return _Deviation(
        largest,
        max(abs(candidate.prob - float(probs[candidate.token_id])) for candidate in contrasted),
        float(others.max() - probs[ids].min()),
        max(abs(candidate.penalty - cosine) for candidate, cosine in pairs),
    )
