"""Two runs read under one text: measures over the whole vocabulary, one forward a model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from core.decoding.autoregressive.engine import shaper_of
from core.decoding.comparison.measures import (
    ComparedDistribution,
    Divergence,
    PairMeasures,
    ReadText,
    StepMeasures,
)
from core.decoding.comparison.parting import first_difference
from core.decoding.errors import ModelError
from core.decoding.loop.run import read_again
from core.decoding.protocol import LanguageModel
from core.decoding.record.trace import Trace

# Logits of one model's reading, 256 MB of float32; a longer text is read up to there.
_MOST_LOGITS = 64_000_000


def read_under(
    left_model: LanguageModel,
    right_model: LanguageModel,
    left: Trace,
    right: Trace,
    text: ReadText,
    distribution: ComparedDistribution = "raw",
) -> PairMeasures:
    """Measure two runs at each token of one run's text, which both models read.

    Each model reads its own run's prompt before the text.

    Args:
        left_model, right_model: the model of each run; one that made both may stand twice.
        text: `left` or `right`.

    Raises:
        ModelError: the models have other vocabularies, or name only their likeliest tokens.
    """
    models, runs = (left_model, right_model), (left, right)
    if models[0].vocab_size != models[1].vocab_size or any(
        getattr(model, "known", None) is not None for model in models
    ):
        raise ModelError(
            "These models have no vocabulary in common that both name whole: their distributions "
            "can't be compared token by token."
        )
    ids = runs[text == "right"].token_ids[: max(1, _MOST_LOGITS // models[0].vocab_size)]
    logits = [logits_before(model, run, ids) for model, run in zip(models, runs, strict=True)]
    steps = []
    for at, token in enumerate(ids):
        raw = [torch.log_softmax(rows[at].double(), -1) for rows in logits]
        compared = raw
        if distribution == "final":
            compared = [
                final_log_probs(model, run, rows[at], ids[:at])
                for model, run, rows in zip(models, runs, logits, strict=True)
            ]
        name = models[text == "right"].token_text(token)
        entropies = [float(torch.special.entr(row.exp()).sum()) for row in raw]
        steps.append(
            StepMeasures(
                at,
                (name, name),
                (entropies[0], entropies[1]),
                (-float(raw[0][token]), -float(raw[1][token])),
                divergence_of(compared[0], compared[1]),
            )
        )
    parted = first_difference(runs[0].token_ids, runs[1].token_ids)
    return PairMeasures(tuple(steps), parted, text, distribution, exact=True)


def logits_before(model: LanguageModel, run: Trace, token_ids: Sequence[int]) -> Tensor:
    """Return the logits before each token of a text behind the run's prompt, `[n, vocab]`."""
    begin, rows = len(run.prompt_ids) - 1, list[Tensor]()

    def keep(first: int, logits: Tensor) -> None:
        if first + len(logits) > begin:
            rows.append(logits[max(0, begin - first) :].clone())

    read_again(model, run, token_ids[:-1], keep)
    return torch.cat(rows)


def final_log_probs(
    model: LanguageModel, run: Trace, logits: Tensor, before: Sequence[int]
) -> Tensor:
    """Return the log-probabilities that the run's settings draw from, `[vocab]`."""
    shaper = shaper_of(model, run.config.chooser)
    last = shaper.distributions(logits, [*run.prompt_ids, *before], len(before))[-1]
    ids = torch.arange(len(logits)) if last.ids is None else last.ids
    row = torch.full((len(logits),), -torch.inf, dtype=torch.float64)
    row[ids] = torch.log_softmax(last.logits.double(), -1)
    return row


def divergence_of(left: Tensor, right: Tensor) -> Divergence:
    """Return the divergence of two distributions, `[vocab]` log-probabilities."""
    p, q = left.exp(), right.exp()
    here, there = (
        float(torch.where(a > 0, a * (one - other), 0.0).sum())
        for a, one, other in ((p, left, right), (q, right, left))
    )
    return Divergence(max(0.0, here), max(0.0, there), float((p - q).abs().sum()) / 2)
