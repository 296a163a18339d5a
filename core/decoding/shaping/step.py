"""The shaper of a step: from a model's logits to the distributions that a token is drawn from.

Every method shapes by a `StepShaper`, and so does whoever runs a step again (the lab, a proof):

    shaper = StepShaper(shaping, draws=True, min_new_tokens=0, eos_ids=eos_rows(model))
    stages = shaper.distributions(logits, ids, index)  # one row, recorded: `raw` first
    shaped = shaper.rows(logits, ids_of_rows, indexes)  # many rows at once, nothing recorded

`ids` are the prompt's tokens and all that were generated before the step, `index` is the number of
the generated ones, so `len(ids) - index` is the prompt's length. `draws=False`, or temperature 0,
leaves temperature and filters out; `distributions` then ends with the one-hot stage `argmax`.
`names` is another order than that of runs (the lab's). A shaper keeps nothing of the steps that it
has shaped: any step can be given in any sequence, and given again it is the same to the last bit.

The shaper of a run, as the method itself makes it: `autoregressive.engine.shaper_of(model, config)`
for one sequence (with `config.chooser` for Reasoning), `beam.candidates.shaper_of(model, config)`
for log-probabilities of beams. `distributions` of a row equals the row's part of `rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor

from core.decoding.shaping.config import SETTINGS, Shaping
from core.decoding.shaping.known import shape_known
from core.decoding.shaping.long_rows import Ranking, first_maximum
from core.decoding.shaping.stages import (
    Distribution,
    Processor,
    only,
    penalties,
    raw_distribution,
    shape,
    warpers,
)

# Above this many tokens, sorting row by row is faster than sorting the batch.
_BATCHED_SORTS_TO = 4096


class StepShaper:
    """Settings of the shaping, bound for a run.

    Args:
        draws: False where the most probable token is taken.
        eos_ids: end-of-sequence tokens, held back in the first `min_new_tokens` steps.
        min_tokens_to_keep: how many tokens every filter leaves at least.
        names: the settings that act, in their order; None for all in the order of runs.
        known: whether the model names the likeliest tokens alone, the others being NaN.
    """

    def __init__(
        self,
        shaping: Shaping,
        *,
        draws: bool = True,
        min_new_tokens: int = 0,
        eos_ids: Sequence[int] = (),
        min_tokens_to_keep: int = 1,
        names: Sequence[str] | None = None,
        known: bool = False,
    ) -> None:
        self.shaping = shaping
        self.draws, self.known = draws and shaping.temperature > 0, known
        self.min_tokens_to_keep = min_tokens_to_keep
        self._min_new_tokens, self._eos_ids, self._names = min_new_tokens, list(eos_ids), names
        self._warpers = warpers(shaping, min_tokens_to_keep) if self.draws else []

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
        stages = shape_known(logits, self.penalties(ids, index), self._warpers)
        return stages if self.draws else [*stages, _argmax(stages[-1])]

    def distributions_from(
        self,
        begun: Sequence[Distribution],
        ids: Sequence[int],
        index: int,
        top: Ranking | None = None,
    ) -> list[Distribution]:
        """Return `distributions`, of which the first ones are there already; `raw` at least."""
        names = {stage.name for stage in begun}
        acts = [act for act in self.processors(ids, index) if act[0] not in names]
        stages = [*begun[:-1], *shape(begun[-1], acts, len(begun[0].logits))]
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
        penalised = [self.penalties(*known) for known in zip(ids, indexes, strict=True)]
        if any(penalised):
            rows = zip(logits, penalised, strict=True)
            logits = torch.stack([reduce(_apply, acts, row) for row, acts in rows])
        for name, act in self._warpers:
            if SETTINGS[name].sorts and logits.shape[-1] > _BATCHED_SORTS_TO:
                logits = torch.stack([act(row) for row in logits])
            else:
                logits = act(logits)
        return logits

    def processors(self, ids: Sequence[int], index: int) -> list[Processor]:
        """Return all that acts at a step, by name and in order."""
        processors = [*self.penalties(ids, index), *self._warpers]
        if self._names is None:
            return processors
        acts = dict(processors)
        return [(name, acts[name]) for name in self._names if name in acts]

    def penalties(self, ids: Sequence[int], index: int) -> list[Processor]:
        """Return the penalties and bans that act at a step, in the order of runs."""
        held_back = self._eos_ids if index < self._min_new_tokens else []
        return penalties(self.shaping, ids, held_back)


def _argmax(last: Distribution, top: Ranking | None = None) -> Distribution:
    """Greedy as a stage; the first of equal maxima wins."""
    return only(last, top.ids[0] if top else first_maximum(last.logits))


def _apply(logits: Tensor, processor: Processor) -> Tensor:
    return processor[1](logits)
