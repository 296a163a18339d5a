"""Several continuations of one text in one batch; each row equals a separate run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor

from ...language import N_
from ..autoregressive.config import Greedy, Sampling
from ..autoregressive.engine import Picker
from ..errors import DecodingError
from ..loop.run import token_limit
from ..loop.text import Ending, join_text
from ..protocol import LanguageModel
from ..record.steps import FinishReason
from ..requirements import require_all_tokens
from ..shaping.stage import NO_STATES
from .types import Continuation, RowToken


class RowStep(NamedTuple):
    """A new token of row `row` (the greedy row is the last one), with the finish reason."""

    row: int
    token: RowToken
    finish_reason: FinishReason | None


def continue_in_batch(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: Sampling,
    seeds: Sequence[int],
    *,
    greedy: bool = True,
    generated: int = 0,
    states: Mapping[str, float] = NO_STATES,
) -> Iterator[tuple[RowStep, ...]]:
    """Yield the new tokens of all unfinished rows, one batch step at a time.

    Row i equals a separate run with `replace(config, seed=seeds[i])`: rows share the forwards, but
    each has its own generator. A finished row leaves the batch.

    Args:
        prompt_ids: at least one id.
        seeds: one for each sampled row.
        generated: number of generated tokens at the end of `prompt_ids`.
        states: the samplers' states after them.
        greedy: add a row that takes the most probable token under the same penalties.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        DecodingError: the model returned no distribution.
    """
    limit = token_limit(model, prompt_ids, config)
    configs = [replace(config, seed=seed) for seed in seeds]
    rows = [_Row(model, prompt_ids, seeded, limit, generated, states) for seeded in configs]
    if greedy:
        penalties = replace(config.shaping, temperature=1.0)
        plain = Greedy(
            max_new_tokens=config.max_new_tokens,
            min_new_tokens=config.min_new_tokens,
            stop_strings=config.stop_strings,
            shaping=penalties,
        )
        rows.append(_Row(model, prompt_ids, plain, limit, generated))
    require_all_tokens(model, N_("a batch of samples"))
    context = model.start(prompt_ids, use_cache=config.use_cache).branch([0] * len(rows))
    going = list(range(len(rows)))
    for index in range(limit):
        logits = context.logits
        steps = [rows[row].step(row, index, logits[at]) for at, row in enumerate(going)]
        yield tuple(steps)
        left = [at for at, step in enumerate(steps) if step.finish_reason is None]
        if not left:
            return
        if len(left) < len(going):
            context = context.branch(left)
            going = [going[at] for at in left]
        context.extend([[rows[row].ids[-1]] for row in going])


class _Row:
    """One sequence of the batch, with its own generator."""

    def __init__(
        self,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        config: Sampling | Greedy,
        limit: int,
        generated: int,
        states: Mapping[str, float] = NO_STATES,
    ) -> None:
        self._model, self._generated = model, generated
        self._picker = Picker(model, config, states=states)
        self._ending = Ending(model, config, limit)
        self.ids = list(prompt_ids)

    def step(self, row: int, index: int, logits: Tensor) -> RowStep:
        """Draw the next token from `[vocab]` logits."""
        picked = self._picker.pick(self._generated + index, logits, self.ids)
        raw, final, token_id = picked.stages[0], picked.stages[-1], picked.pick.token_id
        self._picker.take(picked, token_id)
        self.ids.append(token_id)
        _, reason = self._ending.after(index, token_id)
        place = token_id if final.ids is None else int((final.ids == token_id).nonzero()[0])
        raw_prob, prob = float(raw.probs[token_id]), float(final.probs[place])
        token = RowToken(token_id, self._model.token_text(token_id), raw_prob, prob)
        return RowStep(row, token, reason)


def grow(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: Sampling,
    seeds: Sequence[int],
    *,
    on_tokens: Callable[[int], object],
    should_stop: Callable[[], bool] = bool,
    generated: int = 0,
    states: Mapping[str, float] = NO_STATES,
) -> tuple[Continuation, ...]:
    """Return the rows of `continue_in_batch`, each up to its end or until the work is stopped.

    Args:
        on_tokens: called after each batch step with the number of tokens in the longest row.
        generated, states: as of `continue_in_batch`.

    Raises:
        DecodingError: no token fits into the context window; or as `continue_in_batch`.
    """
    batch = []
    for steps in continue_in_batch(
        model, prompt_ids, config, seeds, generated=generated, states=states
    ):
        batch.append(steps)
        on_tokens(len(batch))
        if should_stop():
            break
    if not batch:
        raise DecodingError(N_("The context window is full: no token fits after this text."))
    return rows_of(model, batch, seeds)


def rows_of(
    model: LanguageModel,
    steps: Sequence[tuple[RowStep, ...]],
    seeds: Sequence[int],
    *,
    greedy: bool = True,
) -> tuple[Continuation, ...]:
    """Return the rows after the given batch steps; a row without an end counts as cancelled."""
    owners: list[int | None] = [*seeds, *([None] if greedy else [])]
    tokens: list[list[RowToken]] = [[] for _ in owners]
    reasons: list[FinishReason] = ["cancelled"] * len(owners)
    for batch in steps:
        for step in batch:
            tokens[step.row].append(step.token)
            reasons[step.row] = step.finish_reason or "cancelled"
    return tuple(
        Continuation(seed, tuple(row), join_text(model, [t.token_id for t in row]), reason)
        for seed, row, reason in zip(owners, tokens, reasons, strict=True)
    )
