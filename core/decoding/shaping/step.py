"""Shaper of a step: it turns a model's logits into the distributions that lead to the draw.

Every method uses a `StepShaper`; so do the lab and the checks, which run steps again:

    shaper = StepShaper(shaping, draws=True, min_new_tokens=0, eos_ids=model.eos_ids, seed=7)
    stages = shaper.distributions(logits, ids, index)  # one row, recorded: `raw` first
    shaped = shaper.rows(logits, ids_of_rows, indexes)  # many rows at once, nothing recorded

`ids` are the prompt's tokens and the tokens generated before the step; `index` is the number of
generated tokens, so `len(ids) - index` is the prompt's length. With `draws=False` or temperature 0,
temperature and filters are left out, and `distributions` ends with the one-hot stage `argmax`.
`names` gives another order than that of runs (in the lab). A row of `rows` equals the last
distribution of `distributions`, apart from `argmax`.

Steps may be given in any order and repeatedly, with bitwise equal results: a stage's own noise
follows from seed, name and index. A sampler whose state follows from earlier probabilities
(mirostat) gets it in `states`; `states_after` returns those of the next step, and each step records
its own. Only stages with a state (`stage.BoundStage`) need a run's steps
in order; the shaper forks them, rolls them back and lets them accept tokens according to `ids`.

Methods make their shapers by `autoregressive.engine.shaper_of(model, config)` for one sequence
(with `config.chooser` for Reasoning), and by `beam.candidates.shaper_of(model, config)` for
log-probabilities of beams.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .config import (
    BANS,
    PENALTIES,
    RUN_ORDER,
    SETTINGS,
    WARPERS,
    WATERMARKS,
    Shaping,
)
from .functions.penalties import remove_tokens
from .known import shape_known
from .long_rows import Ranking, first_maximum
from .stage import (
    NO_STATES,
    BoundStage,
    NamedNoise,
    SecondLogits,
    StepContext,
    shared_length,
)
from .stages import (
    ACTS,
    READS_STEP,
    Distribution,
    Processor,
    only,
    raw_distribution,
    shape,
)
from .states import next_states

if TYPE_CHECKING:
    from ..constraints.grammar import GrammarMaker

# Above this many tokens, sorting row by row is faster than sorting the batch.
_BATCHED_SORTS_TO = 4096
# Number of cached states: two steps of the largest beam.
_STATES = 128


class StepShaper:
    """Shaper bound to a run's settings.

    Args:
        draws: False if the most probable token is taken.
        eos_ids: end-of-sequence tokens, suppressed in the first `min_new_tokens` steps.
        min_tokens_to_keep: minimum number of tokens that every filter leaves.
        names: the acting settings in their order; None for all in the order of runs.
        known: whether the model names only the likeliest tokens, so that others are NaN.
        seed: seed of the stages' own noise.
        token_bytes: returns the bytes of a token, for stages that read it.
        forwards: returns the logits of second forwards, for stages that contrast with them.
        grammars: returns the maker of grammars over the model's tokens, for constraints.

    Attributes:
        answer_from: number of generated tokens before the answer, where a constraint begins; None
            while the run thinks.
        allowed: `[n, vocab]` of the last `rows`: True for each token that the constraint left; None
            without one.
    """

    def __init__(
        self,
        shaping: Shaping,
        *,
        draws: bool = True,
        min_new_tokens: int = 0,
        eos_ids: Collection[int] = (),
        min_tokens_to_keep: int = 1,
        names: Sequence[str] = RUN_ORDER,
        known: bool = False,
        seed: int = 0,
        token_bytes: Callable[[int], bytes] | None = None,
        forwards: Callable[[str, StepContext], tuple[SecondLogits, ...]] | None = None,
        grammars: Callable[[], GrammarMaker] | None = None,
    ) -> None:
        self.answer_from: int | None = 0
        self.allowed: Tensor | None = None
        self._grammars = grammars
        self.draws, self.known = draws and shaping.temperature > 0, known
        self.min_tokens_to_keep, self.forwards = min_tokens_to_keep, forwards
        self.shaping, self._seed, self._token_bytes = shaping, seed, token_bytes
        self._hold_to = min_new_tokens if eos_ids else 0
        self._eos_ids = tuple(eos_ids)
        active = {*shaping.active(SETTINGS if self.draws else PENALTIES)}
        if self._hold_to:
            active.add("min_new_tokens")
        self._names = [name for name in names if name in active]
        self._warpers = [name for name in self._names if name in WARPERS]
        # Value for each function: a tuple if its setting has further numbers.
        self._values: dict[str, Any] = {
            name: shaping.value_of(name) for name in self._names if name in ACTS
        }
        self._starts = {
            name: spec.start(value)
            for name, value in self._values.items()
            if (spec := SETTINGS[name].state)
        }
        # Stages that don't depend on the step.
        self._still = {
            "min_new_tokens": Processor("min_new_tokens", remove_tokens, (list(eos_ids),))
        }
        # Stages with a state: the tokens that each state has accepted, and the states.
        made: dict[str, BoundStage] = {}
        still = StepContext(min_tokens_to_keep=min_tokens_to_keep)
        for name, value in self._values.items():
            act: Any = ACTS[name]
            if isinstance(act, type):
                made[name] = act(value)
            elif name not in READS_STEP:
                self._still[name] = Processor(name, act, (value, still))
        self._states: deque[tuple[Sequence[int], dict[str, BoundStage]]]
        self._states = deque([((), made)] if made else [], _STATES)

    @property
    def second_seconds(self) -> float:
        """Seconds of all second forwards so far."""
        return float(getattr(self.forwards, "seconds", 0.0))

    def distributions(
        self,
        logits: Tensor,
        ids: Sequence[int],
        index: int,
        top: Ranking | None = None,
        begun: Sequence[Distribution] = (),
        states: Mapping[str, float] = NO_STATES,
        throw: int | None = None,
    ) -> list[Distribution]:
        """Return every distribution from `raw` to the one drawn from.

        Args:
            logits: `[vocab]`.
            top: the highest logits, if known already.
            begun: the first distributions, if known already.
            states: numbers that earlier steps left; a sampler without one is at its start.
            throw: index of the stages' own noise; None for the step's index.

        Raises:
            DecodingError: the logits are no distribution, or every token is removed.
            UnknownTokensError: a stage depends on tokens that the model doesn't name.
        """
        names = self._names
        if begun:
            done = {stage.name for stage in begun}
            names = [name for name in names if name not in done]
        states = {**self._starts, **states}
        acts, context = self._acts(names, ids, index, states, throw)
        if self.known:
            stages = shape_known(logits, acts)
        else:
            *before, start = begun or (raw_distribution(logits, top),)
            stages = [*before, *shape(start, acts, len(logits))]
        drawn, records = ({}, {}) if context is None else (context.uniform.drawn, context.records)
        if drawn or records or self._starts:
            stages = [
                replace(
                    stage,
                    noise=drawn.get(stage.name, stage.noise),
                    state=states[stage.name] if stage.name in self._starts else None,
                    record=(records or {}).get(stage.name, stage.record),
                )
                for stage in stages
            ]
        if not self.draws:
            # If no stage acted, the recorded ranking gives the maximum.
            stages.append(_argmax(stages[-1], top if len(stages) == 1 else None))
        return stages

    def names_at(self, length: int, index: int, among: Sequence[str] | None = None) -> list[str]:
        """Return the names of the stages that act at a step after `length` tokens.

        Args:
            among: stages to consider; None for all.
        """
        return [
            name
            for name in (self._names if among is None else among)
            if (
                index < self._hold_to
                if name == "min_new_tokens"
                else SETTINGS[name].acts_from(self._values[name]) <= length
            )
            and (name != "constraint" or self.answer_from is not None)
        ]

    def rows(
        self,
        logits: Tensor,
        ids: Sequence[Sequence[int]],
        indexes: Sequence[int],
    ) -> Tensor:
        """Return shaped logits `[n, vocab]`, -inf for removed tokens.

        A row may lose all tokens. The given logits are not changed.

        Args:
            logits: `[n, vocab]`; log-probabilities for beams.
            ids: for each row, as in `distributions`.
            indexes: for each row, as in `distributions`.
        """
        rule = [name for name in self._names if name == "constraint"]
        others = (*rule, *self._warpers, *WATERMARKS)
        first = [name for name in self._names if name not in others]
        last = [name for name in self._names if name in WATERMARKS]
        for names in (rule, first, *([name] for name in self._warpers), last):
            acts = [
                self._acts(names, row_ids, index)[0]
                for row_ids, index in zip(ids, indexes, strict=True)
            ]
            if any(acts) and self._one_by_one(names, logits.shape[-1]):
                rows = zip(logits, acts, strict=True)
                logits = torch.stack([reduce(_apply, row_acts, row) for row, row_acts in rows])
            elif any(acts):
                logits = reduce(_apply, acts[0], logits)
            if names is rule and rule:
                self.allowed = logits > -math.inf
        return logits

    def _one_by_one(self, names: Sequence[str], size: int) -> bool:
        """Return True if rows have different stages, or are sorted faster one at a time."""
        long = size > _BATCHED_SORTS_TO
        return any(
            name not in ACTS or name in READS_STEP or (long and SETTINGS[name].sorts)
            for name in names
        )

    def _acts(
        self,
        names: Sequence[str],
        ids: Sequence[int],
        index: int,
        states: Mapping[str, float] = NO_STATES,
        throw: int | None = None,
    ) -> tuple[list[Processor], StepContext | None]:
        """Return the processors of some stages at a step, and the context that they will read; None
        if none reads it.
        """
        acts: list[Processor] = []
        context: StepContext | None = None
        bound: dict[str, BoundStage] = {}
        for name in self.names_at(len(ids), index, names):
            if name in self._still:
                acts.append(self._still[name])
                continue
            if context is None:
                context = StepContext(
                    ids=ids,
                    prompt_length=max(0, len(ids) - index),
                    uniform=NamedNoise(self._seed, index if throw is None else throw),
                    token_bytes=self._token_bytes,
                    min_tokens_to_keep=self.min_tokens_to_keep,
                    records={},
                    forwards=self.forwards,
                    answer_from=self.answer_from,
                    grammars=self._grammars,
                    eos_ids=self._eos_ids,
                    states=states,
                )
                bound = self._states_at(context) if self._states else {}
            if name in bound:
                acts.append(Processor(name, bound[name], (context,)))
            else:
                acts.append(Processor(name, ACTS[name], (self._values[name], context)))
        if self.shaping.constraint is not None:
            acts = [_giving_way(act) if act.name in BANS else act for act in acts]
        return acts, context

    def _states_at(self, context: StepContext) -> dict[str, BoundStage]:
        """Return the states after some tokens, continued from the nearest cached state."""
        text = context.ids[context.prompt_length :]
        shared, before, nearest = -1, text, dict[str, BoundStage]()
        for taken_in, cached in reversed(self._states):
            if (length := shared_length(taken_in, text)) > shared:
                shared, before, nearest = length, taken_in, cached
            if shared >= len(text) - 1:
                break  # The step before: no state is nearer.
        states = {name: stage.fork() for name, stage in nearest.items()}
        for stage in states.values():
            stage.rollback(len(before) - shared)
            for token_id in text[shared:]:
                stage.accept(token_id)
        self._states.append((text, states))
        return states


def _argmax(last: Distribution, top: Ranking | None) -> Distribution:
    """Return the one-hot stage of greedy decoding; of equal maxima the first wins."""
    return only(last, top.ids[0] if top else first_maximum(last.logits))


def _giving_way(ban: Processor) -> Processor:
    """Return a ban that removes nothing where it would remove every token that is left."""

    def act(logits: Tensor, *arguments: Any) -> Tensor:
        left: Tensor = ban.act(logits, *arguments)
        return left if bool((left > -math.inf).any()) else logits

    return ban._replace(act=act)


def _apply(logits: Tensor, processor: Processor) -> Tensor:
    return processor.act(logits, *processor.arguments)


def states_after(
    shaping: Shaping, stages: Sequence[Distribution], token_id: int
) -> dict[str, float]:
    """Return the samplers' states after a step whose stages led to a token."""
    token = torch.tensor([token_id])
    probs = [math.exp(stage.log_probs_of(token)[0]) for stage in stages]
    return next_states(shaping, [(s.name, s.state) for s in stages], probs)
