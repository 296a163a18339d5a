"""Two runs read under one text: measures over the whole vocabulary, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ...language import N_, Message
from ..autoregressive.config import as_single_tokens
from ..autoregressive.engine import shaper_of
from ..constraints.reading import answer_from
from ..decode import collect
from ..errors import ConfigError
from ..loop.same_model import is_of_dtype
from ..loop.second import WithDraft
from ..protocol import LanguageModel
from ..record.steps import TokenStep
from ..record.trace import Trace
from ..requirements import in_dtype, require_all_tokens, require_models
from ..speculative.vocabularies import vocabulary_difference
from .measures import (
    ComparedDistribution,
    Divergence,
    PairMeasures,
    ReadText,
    StepMeasures,
    drawing_config,
    parted_at,
    unforced,
)

# Logits of one piece of a text, for each of two models.
_AT_ONCE = 2**23


def require_same_tokens(first: LanguageModel, second: LanguageModel) -> None:
    """Raise an error unless two models have the same tokens and name all of them; the longer
    vocabulary may end with padding.

    Raises:
        ConfigError: they differ, or a server names only the likeliest tokens.
    """
    for model in (first, second):
        require_models(model)
        require_all_tokens(model, N_("comparing two models"), N_("take another model"))
    if first is not second and (difference := vocabulary_difference(first, second)):
        raise ConfigError(
            Message(
                "{model} can't be compared with {other} token by token: "
                "{difference}. Take a model with the same tokenizer.",
                model=second.model_id,
                other=first.model_id,
                difference=difference,
            )
        )


def of_run(model: LanguageModel, run: Trace) -> LanguageModel:
    """Return the model in the number type of the run's weights, with its draft.

    Raises:
        ConfigError: a model on a server, which has one type.
    """
    if is_of_dtype(run.dtype, model):
        return model
    converted = in_dtype(model, run.dtype)
    return WithDraft(converted, model.draft) if isinstance(model, WithDraft) else converted


def logits_before(
    models: Sequence[LanguageModel], prompts: Sequence[Sequence[int]], token_ids: Sequence[int]
) -> Iterator[tuple[Tensor, ...]]:
    """Yield the logits of all models, each `[vocab]`, before each token of a text.

    Vocabularies of different lengths are cut to the shortest; the rest is padding.

    Args:
        prompts: the ids that each model reads before the text.
    """
    vocab, last = min(model.vocab_size for model in models), len(token_ids) - 1
    if last < 0:
        return
    contexts = [model.start(ids) for model, ids in zip(models, prompts, strict=True)]
    yield tuple(context.logits[0, :vocab] for context in contexts)
    piece = max(1, _AT_ONCE // vocab)
    for begin in range(0, last, piece):
        part = token_ids[begin : min(begin + piece, last)]
        pieces = [context.extend(part)[0, :, :vocab] for context in contexts]
        yield from zip(*pieces, strict=True)


def read_under(
    left_model: LanguageModel,
    right_model: LanguageModel,
    left: Trace,
    right: Trace,
    text: ReadText,
    distribution: ComparedDistribution = "raw",
    *,
    should_stop: Callable[[], bool] | None = None,
) -> PairMeasures:
    """Measure two runs at each token of one run's text, which both models read.

    Each model reads its own run's prompt before the text.

    Args:
        left_model, right_model: the model of each run; one that made both may stand twice.
        text: `left` or `right`.
        should_stop: True ends the reading early.

    Raises:
        ConfigError: the models have different tokens, or a run's method draws no single tokens.
    """
    models, runs = (of_run(left_model, left), of_run(right_model, right)), (left, right)
    require_same_tokens(*models)
    ids, name_of = runs[text == "right"].token_ids, models[text == "right"].token_text
    steps: list[StepMeasures] = []
    for rows in logits_before(models, [run.prompt_ids for run in runs], ids):
        if should_stop is not None and should_stop():
            break
        at, token = len(steps), ids[len(steps)]
        raw = [torch.log_softmax(row.double(), -1) for row in rows]
        compared = raw
        if distribution == "final":
            compared = [
                final_log_probs(model, run, row, ids[:at])
                for model, run, row in zip(models, runs, rows, strict=True)
            ]
        entropies = [float(torch.special.entr(row.exp()).sum()) for row in raw]
        steps.append(
            StepMeasures(
                at,
                (name_of(token),) * 2,
                (entropies[0], entropies[1]),
                (-float(raw[0][token]), -float(raw[1][token])),
                divergence_of(compared[0], compared[1]),
            )
        )
    readers = tuple(f"{model.model_id} ({model.dtype})" for model in models)
    parted = parted_at(left, right)
    return PairMeasures(tuple(steps), parted, text, distribution, exact=True, readers=readers)


def read_run(
    model: LanguageModel, run: Trace, *, should_stop: Callable[[], bool] | None = None
) -> Trace:
    """Return a run's tokens as single steps that the model reads, whatever method emitted them.

    No token counts as forced: the run chose it. A step has the distribution that the run draws
    from, if `drawing_config` gives one, else the model's after its penalties.
    """
    model = of_run(model, run)
    drawing, count = drawing_config(run.config), max(len(run.token_ids), 1)
    config = replace(
        drawing or as_single_tokens(run.config, draws=False),
        max_new_tokens=count,
        min_new_tokens=min(run.config.min_new_tokens, count),
        stop_strings=(),
    )
    read = collect(
        model,
        run.prompt_ids,
        config,
        prompt_text=run.prompt,
        given=run.token_ids,
        should_stop=should_stop,
    )
    steps = (unforced(step) if isinstance(step, TokenStep) else step for step in read.steps)
    return replace(read, steps=tuple(steps))


def final_log_probs(
    model: LanguageModel, run: Trace, logits: Tensor, before: Sequence[int]
) -> Tensor:
    """Return the log-probabilities that the run's settings draw from, `[vocab]`.

    Raises:
        ConfigError: the run's method draws no single tokens.
    """
    config = drawing_config(run.config)
    if config is None:
        raise ConfigError(
            Message(
                "A run by {words} draws no single tokens; compare the models' own distributions.",
                words=Message(run.config.words),
            )
        )
    shaper, begin = shaper_of(model, config), answer_from(run.steps)
    shaper.answer_from = None if begin is None or begin > len(before) else begin
    states = next((s.states for s in run.token_steps if s.index == len(before)), {})
    text = [*run.prompt_ids, *before]
    last = shaper.distributions(logits, text, len(before), states=states)[-1]
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
