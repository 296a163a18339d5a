"""Contrastive search: one forward per step runs every candidate, and the chosen row is kept.

A step counts the forward of its own candidates, so the first step has one too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter

import torch

from ..autoregressive.engine import Picker
from ..loop.run import process_prompt, token_limit
from ..loop.text import Ending
from ..protocol import HiddenContext, LanguageModel
from ..record.steps import Step, TokenStep
from ..shaping.draws import Pick
from ..shaping.stages import only
from .config import ContrastiveSearch
from .scoring import (
    contrast,
    degeneration,
    directions,
    most_probable,
    require_hidden,
    winner,
)


def generate(
    model: LanguageModel, prompt_ids: Sequence[int], config: ContrastiveSearch
) -> Iterator[Step]:
    """Yield the prompt step, then a step for each generated token.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        DecodingError: the model gives no hidden states or no distribution, or every token is
            banned.
    """
    prompt_step, started = process_prompt(model, prompt_ids, config.use_cache)
    limit = token_limit(model, prompt_ids, config)
    search = _Search(model, prompt_ids, config, require_hidden(started, model))
    ending = Ending(model, config, limit)
    yield prompt_step
    for index in range(limit):
        with torch.inference_mode():
            step = search.step(index)
        text, reason = ending.after(index, step.token_id)
        yield replace(step, text=text, finish_reason=reason)
        if reason:
            return


class _Search:
    """State between two steps: the context, and the directions of its tokens' hidden states."""

    def __init__(
        self,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        config: ContrastiveSearch,
        context: HiddenContext,
    ) -> None:
        self._model, self._config, self._context = model, config, context
        self._picker, self._ids = Picker(model, config), list(prompt_ids)
        # The prompt's logits arrived in pieces, without hidden states.
        context.rollback(context.length)
        self._before = directions(context.extend_hidden(prompt_ids)[0])
        # Index of the context's row that holds the text so far, and that row's logits.
        self._row, self._logits = 0, context.logits[0]

    def step(self, index: int) -> TokenStep:
        """Choose a token; the caller adds its text and the finish reason."""
        picked = self._picker.pick(index, self._logits, self._ids)
        stages = picked.stages[:-1]  # without argmax
        ids = most_probable(stages[-1], self._config.contrastive_top_k)
        started = perf_counter()
        self._context.reorder([self._row] * len(ids))
        new = directions(self._context.extend_hidden([[token_id] for token_id in ids])[:, 0])
        ran = perf_counter()
        penalties = degeneration(new, self._before)
        contrasted = contrast(self._model, self._config, stages[-1], ids, penalties)
        self._row = winner(contrasted)
        self._before = torch.cat([self._before, new[self._row : self._row + 1]])
        self._logits = self._context.logits[self._row]
        self._ids.append(ids[self._row])
        chosen = picked._replace(
            pick=Pick(ids[self._row]),
            stages=[*stages, only(stages[-1], ids[self._row])],
            draw_seconds=perf_counter() - ran,
        )
        step = self._picker.record(index, chosen, ran - started, "", None)
        return replace(step, compared=contrasted)
