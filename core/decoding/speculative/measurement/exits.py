"""Acceptance by exit layer: the target and its first layers each read a run's text once."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ...protocol import LanguageModel
from ...record.trace import Trace
from ..config import Speculative
from ..distributions import PositionShaper
from ..drafters.early_exit import require_layers
from .measure import OnProgress
from .report import ExitCell, ExitLayer, ExitLayers


def exit_layers(
    model: LanguageModel,
    trace: Trace[Speculative],
    *,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] = bool,
) -> ExitLayers | None:
    """Measure each layer's acceptance at every token of the run; None if it was stopped.

    A drafted token's keys and values in the first layers are the target's own, so that a layer's
    distribution after the text is the one with which it drafts there.

    Raises:
        ModelError: the layers can't be run apart.
    """
    layers, config = require_layers(model), trace.config
    target = PositionShaper(model, config, config.shaping)
    draft = PositionShaper(model, config, config.draft_shaping)
    ids = [*trace.prompt_ids, *trace.token_ids][:-1]
    wanted = _probabilities(target, _logits(model, trace), ids, model.vocab_size)
    exits = []
    for layer in range(1, layers.count):
        if should_stop():
            return None
        logits = _logits(layers.first(layer), trace)
        probs = _probabilities(draft, logits, ids, model.vocab_size)
        accepted = torch.minimum(wanted, probs).sum(-1).tolist()
        raw, best = logits.softmax(-1).max(-1)
        texts = map(model.token_text, best.tolist())
        cells = map(ExitCell, best.tolist(), texts, raw.tolist(), accepted)
        exits.append(ExitLayer(layer, tuple(cells)))
        if on_progress is not None:
            on_progress(layer, layers.count - 1)
    words = tuple(map(model.token_text, trace.token_ids))
    return ExitLayers(layers.count, config.draft_length, trace.token_ids, words, tuple(exits))


def _logits(model: LanguageModel, trace: Trace[Speculative]) -> Tensor:
    """Return the logits before each token of the run, `[n, vocab]`."""
    with torch.inference_mode():
        context = model.start(trace.prompt_ids, use_cache=trace.config.use_cache)
        first = context.logits
        if len(trace.token_ids) < 2:
            return first
        return torch.cat([first, context.extend(trace.token_ids[:-1])[0]])


def _probabilities(
    shaper: PositionShaper, logits: Tensor, ids: list[int], vocab_size: int
) -> Tensor:
    rows = shaper(logits, ids, 0)
    if rows.probs is not None:
        return rows.probs
    return torch.nn.functional.one_hot(torch.tensor(rows.only).clamp(min=0), vocab_size).float()
