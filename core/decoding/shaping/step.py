"""The shaper of a step: from a model's logits to the distributions that a token is drawn from.

Every method shapes by a `StepShaper`, and so does whoever runs a step again (the lab, a proof):

    shaper = StepShaper(shaping, draws=True, min_new_tokens=0, eos_ids=eos_rows(model), seed=7)
    stages = shaper.distributions(logits, ids, index)  # one row, recorded: `raw` first
    shaped = shaper.rows(logits, ids_of_rows, indexes)  # many rows at once, nothing recorded

`ids` are the prompt's tokens and all that were generated before the step, `index` is the number of
the generated ones, so `len(ids) - index` is the prompt's length. `draws=False`, or temperature 0,
leaves temperature and filters out; `distributions` then ends with the one-hot stage `argmax`.
`names` is another order than that of runs (the lab's). A row of `rows` equals the last distribution
that `distributions` gives for it, `argmax` aside.

A step may be given at any time and again, and is the same to the last bit: a stage's own noise
follows from seed, name and index. Only stages with a state (`stage.BoundStage`) want a run's steps
one after the other; the shaper forks them, rolls them back and lets them accept tokens by itself,
by the `ids` that it is given.

The shaper of a run, as the method itself makes it: `autoregressive.engine.shaper_of(model, config)`
for one sequence (with `config.chooser` for Reasoning), `beam.candidates.shaper_of(model, config)`
for log-probabilities of beams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import torch
from torch import Tensor

from core.decoding.shaping.config import PENALTIES, RUN_ORDER, SETTINGS, WARPERS, Shaping
from core.decoding.shaping.filters import remove_tokens
from core.decoding.shaping.known import shape_known
from core.decoding.shaping.long_rows import Ranking, first_maximum
from core.decoding.shaping.stage import BoundStage, NamedNoise, StepContext
from core.decoding.shaping.stages import (
    ACTS,
    Distribution,
    Processor,
    only,
    raw_distribution,
    shape,
)

# Above this many tokens, sorting row by row is faster than sorting the batch.
_BATCHED_SORTS_TO = 4096
# Two steps of the largest beam.
_STATES = 128


class StepShaper:
    """Settings of the shaping, bound for a run.

    Args:
        draws: False where the most probable token is taken.
        eos_ids: end-of-sequence tokens, held back in the first `min_new_tokens` steps.
        min_tokens_to_keep: how many tokens every filter leaves at least.
        names: the settings that act, in their order; None for all in the order of runs.
        known: whether the model names the likeliest tokens alone, the others being NaN.
        seed: of the stages' own noise.
        token_bytes: the text of a token, for stages that read it.
    """

    def __init__(
        self,
        shaping: Shaping,
        *,
        draws: bool = True,
        min_new_tokens: int = 0,
        eos_ids: Sequence[int] = (),
        min_tokens_to_keep: int = 1,
        names: Sequence[str] = RUN_ORDER,
        known: bool = False,
        seed: int = 0,
        token_bytes: Callable[[int], bytes] | None = None,
    ) -> None:
        self.draws, self.known = draws and shaping.temperature > 0, known
        self.min_tokens_to_keep = min_tokens_to_keep
        self.shaping, self._seed, self._token_bytes = shaping, seed, token_bytes
        self._held_back, self._hold_to = list(eos_ids), min_new_tokens if eos_ids else 0
        active = {*shaping.active(SETTINGS if self.draws else PENALTIES)}
        if self._hold_to:
            active.add("min_new_tokens")
        self._names = [name for name in names if name in active]
        self._warpers = [name for name in self._names if name in WARPERS]
        self._values = {name: shaping.value_of(name) for name in self._names if name in ACTS}
        # Of the stages with a state: after which generated tokens, and their states there.
        kinds: dict[str, Any] = {n: ACTS[n] for n in self._names if isinstance(ACTS.get(n), type)}
        made = {name: kind(self._values[name]) for name, kind in kinds.items()}
        self._states: deque[tuple[Sequence[int], dict[str, BoundStage]]]
        self._states = deque([((), made)] if made else [], _STATES)

    def distributions(
        self, logits: Tensor, ids: Sequence[int], index: int, top: Ranking | None = None
    ) -> list[Distribution]:
        """Return every distribution from `raw` to the one drawn from.

        Args:
            logits: `[vocab]`.
            top: the highest of them, where they are known already.

        Raises:
            DecodingError: the logits are no distribution, or every token is removed.
            UnknownTokensError: a stage depends on tokens that the model doesn't name.
        """
        if not self.known:
            return self.distributions_from([raw_distribution(logits, top)], ids, index, top)
        context = self._context(ids, index)
        penalties = self._processors(context, [n for n in self._names if n not in WARPERS])
        warpers = self._processors(context, self._warpers)
        stages = shape_known(logits, penalties, warpers)
        return self._finished(stages, context)

    def distributions_from(
        self,
        begun: Sequence[Distribution],
        ids: Sequence[int],
        index: int,
        top: Ranking | None = None,
    ) -> list[Distribution]:
        """Return `distributions`, of which the first ones are there already; `raw` at least."""
        context, done = self._context(ids, index), [stage.name for stage in begun]
        acts = self._processors(context, [name for name in self._names if name not in done])
        stages = shape(begun[-1], acts, len(begun[0].logits))
        return self._finished([*begun[:-1], *stages], context, top)

    def _finished(
        self, stages: list[Distribution], context: StepContext, top: Ranking | None = None
    ) -> list[Distribution]:
        """The stages with the noise that they used, and greedy's one-hot stage."""
        if drawn := context.uniform.drawn:
            stages = [replace(own, noise=drawn.get(own.name, own.noise)) for own in stages]
        if self.draws:
            return stages
        # Where nothing acted, the ranking that the step records says it already.
        return [*stages, _argmax(stages[-1], top if len(stages) == 1 else None)]

    def rows(self, logits: Tensor, ids: Sequence[Sequence[int]], indexes: Sequence[int]) -> Tensor:
        """Return shaped logits `[n, vocab]`, -inf where a token is removed.

        A row may be left without any token. The given logits stay as they are.

        Args:
            logits: `[n, vocab]`; of beams, log-probabilities.
            ids: of each row, as of `distributions`.
            indexes: of each row.
        """
        contexts = [self._context(*known) for known in zip(ids, indexes, strict=True)]
        penalties = [name for name in self._names if name not in self._warpers]
        for names in (penalties, *([name] for name in self._warpers)):
            acts = [self._processors(context, names) for context in contexts]
            if any(acts) and self._one_by_one(names, logits.shape[-1]):
                rows = zip(logits, acts, strict=True)
                logits = torch.stack([reduce(_apply, own, row) for row, own in rows])
            elif any(acts):
                logits = reduce(_apply, acts[0], logits)
        return logits

    def _one_by_one(self, names: Sequence[str], size: int) -> bool:
        specs = [SETTINGS.get(name) for name in names]
        sorts = size > _BATCHED_SORTS_TO
        return any(spec is None or spec.reads_step or (sorts and spec.sorts) for spec in specs)

    def _context(self, ids: Sequence[int], index: int) -> StepContext:
        noise = NamedNoise(self._seed, index)
        begun = max(0, len(ids) - index)
        return StepContext(ids, begun, noise, self._token_bytes, self.min_tokens_to_keep)

    def _processors(self, context: StepContext, names: Sequence[str]) -> list[Processor]:
        """Those of some stages that act at the step."""
        states = self._states_at(context) if self._states else {}
        return [
            (name, self._act(name, context, states)) for name in names if self._acts(name, context)
        ]

    def _acts(self, name: str, context: StepContext) -> bool:
        if name == "min_new_tokens":
            return len(context.ids) - context.prompt_length < self._hold_to
        return SETTINGS[name].acts_from(self._values[name]) <= len(context.ids)

    def _act(
        self, name: str, context: StepContext, states: dict[str, BoundStage]
    ) -> Callable[[Tensor], Tensor]:
        if name == "min_new_tokens":
            return partial(remove_tokens, token_ids=self._held_back)
        if name in states:
            return partial(states[name], context=context)
        act, value = ACTS[name], self._values[name]
        return lambda logits: act(logits, value, context)

    def _states_at(self, context: StepContext) -> dict[str, BoundStage]:
        """The states after a text: those of the nearest text, led on from there."""
        text = context.ids[context.prompt_length :]
        ends = [_shared(own, text) for own, _ in self._states]
        shared = max(ends)
        before, nearest = self._states[ends.index(shared)]
        states = {name: stage.fork() for name, stage in nearest.items()}
        for stage in states.values():
            stage.rollback(len(before) - shared)
            for token_id in text[shared:]:
                stage.accept(token_id)
        self._states.append((text, states))
        return states


def _argmax(last: Distribution, top: Ranking | None) -> Distribution:
    """Greedy as a stage; the first of equal maxima wins."""
    return only(last, top.ids[0] if top else first_maximum(last.logits))


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of first tokens that two texts share."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _apply(logits: Tensor, processor: Processor) -> Tensor:
    return processor[1](logits)
