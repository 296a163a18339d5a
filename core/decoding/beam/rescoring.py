"""Rescoring of a search's tree by the model, and the choice of candidates again from the new
scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from ...language import N_, Message
from ..checks.forwards import entropy_of, largest_logit, logit_tolerance, nan_first
from ..checks.nearby_rows import NearbyRows
from ..checks.same_record import difference
from ..constraints.grammar import masks_of
from ..counting import at_step, nth
from ..errors import DecodingError
from ..loop.run import read_again
from ..protocol import LanguageModel
from ..record.trace import Trace
from .candidates import choose, draw_order_numbers, less_taken, looked_at, shaper_of
from .config import BeamSearch
from .replay import best_row, replay
from .types import BeamStep

# Distance below the best candidate in nats; lower sums may underflow float32.
_FAINT = 45.0
# Relative rounding of a probability in float32, whose sum is over other numbers here.
_ROUNDING = 1e-6


class Rescoring:
    """Independent scores of every row of every beam, and the choice of candidates repeated from
    them.

    Each hypothesis is scored in one forward without a cache; without hypotheses, the best open
    path. Then every row of the tree is scored in a context of one row, and the engine's own
    functions shape its logits and choose.

    Attributes:
        deviations: for each row the largest difference in nats, with its step; infinite if other
            candidates are chosen, or if a filter removes a drawn candidate.
        draws: faults of the draws.
        masks: faults of the constraint's masks.
        rows: number of scored rows.
        paths: number of paths that were scored without a cache.
        largest: the largest logit seen.
    """

    def __init__(self, trace: Trace[BeamSearch], model: LanguageModel) -> None:
        self._trace, self._model, self._steps = trace, model, trace.beam_steps
        self._config, self._shaper = trace.config, shaper_of(model, trace.config)
        self._most = looked_at(self._config, model)
        self._generator = (
            torch.Generator().manual_seed(self._config.seed) if self._config.draws else None
        )
        self.deviations: list[tuple[float, int]] = [(0.0, 0)]
        self.draws: list[str] = []
        self.masks: list[str] = []
        self.paths, self.rows, self.largest = 0, 0, 1.0
        self._score_paths()
        self._score_tree()

    def _score_paths(self) -> None:
        """Score the paths; they are read from the steps, as other fields of a trace may be
        forged.
        """
        paths = [(h.token_ids, h.parents) for h in replay(self._steps, self._config).hypotheses]
        if not paths:
            path = best_row(self._steps)
            paths = [(tuple(c.token_id for c in path), tuple(c.parent for c in path))]
        for token_ids, parents in paths:
            self._score_path(token_ids, parents)
            self.paths += 1

    def _score_path(self, token_ids: Sequence[int], parents: Sequence[int]) -> None:
        first = len(self._trace.prompt_ids) - 1

        def compare(at: int, logits: Tensor) -> None:
            self.largest = max(self.largest, largest_logit(logits))
            for index, row in enumerate(logits, start=at - first):
                if 0 <= index < len(parents):
                    raw = torch.log_softmax(row.double(), dim=-1)
                    self._note(index, _raw_errors(self._steps[index], parents[index], raw))

        read_again(self._model, self._trace, token_ids[:-1], compare)

    def _score_tree(self) -> None:
        """Score the tree step by step, each row in its own context."""
        start = self._model.start(self._trace.prompt_ids, use_cache=self._config.use_cache)
        groups = self._config.num_beam_groups
        contexts, totals = [start] * groups, [0.0] * groups
        paths = [list(self._trace.prompt_ids)] * groups
        for index, step in enumerate(self._steps):
            logits = torch.cat([context.logits for context in contexts])
            self.largest = max(self.largest, largest_logit(logits))
            self.rows += len(logits)
            self._choose_again(index, logits, paths, totals)
            if index + 1 < len(self._steps):
                # Groups that have ended leave no rows.
                survivors = step.kept[: len(self._steps[index + 1].groups)]
                contexts = [contexts[c.parent].branch([0]) for c in survivors]
                paths = [[*paths[c.parent], c.token_id] for c in survivors]
                totals = [c.cum_logprob for c in survivors]
                for context, candidate in zip(contexts, survivors, strict=True):
                    context.extend([candidate.token_id])

    def _choose_again(
        self, index: int, logits: Tensor, paths: Sequence[Sequence[int]], totals: Sequence[float]
    ) -> None:
        """Shape a step's logits `[rows, vocab]` and choose candidates from them."""
        step = self._steps[index]
        rows = [
            self._row(step, *row) for row in zip(range(len(logits)), logits, paths, strict=True)
        ]
        for group in sorted(set(step.groups)):
            members = [row for row in rows if step.groups[row.at] == group]
            sums = [totals[row.at] for row in members]
            state = self._generator.get_state() if self._generator else None
            for widely in (False, True):
                if self._generator and state is not None:
                    self._generator.set_state(state)
                if self._chooses_as(step, members, sums, widely):
                    break
            else:
                if self._generator:
                    self.draws.append(at_step(index, N_("the noise draws other candidates")))
                else:
                    self.deviations.append((math.inf, index))

    def _chooses_as(
        self, step: BeamStep, rows: Sequence[_Row], sums: Sequence[float], widely: bool
    ) -> bool:
        """Return whether the same candidates of a group are chosen if all others are as low as
        possible.
        """
        beams = self._config.num_beams // self._config.num_beam_groups
        least = torch.stack([row.least(widely) for row in rows])
        before = self._generator.clone_state() if self._generator else None
        count = min(self._most, beams * least.shape[-1])
        try:
            choice = choose(least, sums, beams, count, self._generator)
        except (DecodingError, RuntimeError):  # torch can't draw from infinite numbers.
            return False
        ranks = [place + 1 for place in choice.places]
        parents = [rows[parent].at for parent in choice.parents]
        again = _clear(zip(choice.sums, ranks, parents, choice.token_ids, strict=True))
        groups = {step.groups[row.at] for row in rows}
        listed = [c for c in step.candidates if step.group_of(c) in groups]
        recorded = _clear((c.cum_logprob, c.rank, c.parent, c.token_id) for c in listed)
        if recorded == again:
            return True
        if {entry[1:] for entry in recorded} != {entry[1:] for entry in again}:
            return False
        if before is None:
            return True  # Equal sums may rank in either order.
        if [entry[0] for entry in recorded] != [entry[0] for entry in again]:
            return False
        # The order of two draws may hang on the rounding of the softmax over all tokens.
        numbers = draw_order_numbers(least, sums, beams, before)
        indices = {row.at: index for index, row in enumerate(rows)}
        drawn = [float(numbers[indices[row], token]) for _, row, token in recorded]
        return all(later <= sooner * (1 + _ROUNDING) for sooner, later in pairwise(drawn))

    def _row(self, step: BeamStep, at: int, logits: Tensor, path: Sequence[int]) -> _Row:
        """Return a row of the beam with its numbers compared."""
        raw = torch.log_softmax(logits.double(), dim=-1)
        # A log-probability is a logit minus the row's log-sum-exp; each has an error.
        tolerance = 2 * logit_tolerance(self._trace, self._model, self.largest)
        taken, penalty = step.taken_before(step.groups[at]), self._config.diversity_penalty

        def shape(row: Tensor) -> Tensor:
            return self._shaper.rows(less_taken(row[None], penalty, taken), [path], [step.index])[0]

        row = _Row(step, at, raw.float(), tolerance, shape)
        self._note(step.index, [*_raw_errors(step, at, raw), *row.errors()])
        if step.masks:
            again = masks_of(self._model, raw[None], self._shaper.allowed)
            wrong = difference(step.masks[at], again, tolerance)
            if wrong:
                self.masks.append(
                    Message(
                        "step {index}: row {at} has another mask: {wrong}",
                        index=nth(step.index),
                        at=nth(at),
                        wrong=wrong,
                    )
                )
        return row

    def _note(self, index: int, errors: Sequence[float]) -> None:
        self.deviations.append((max(errors, default=0.0, key=nan_first), index))


class _Row:
    """A row of a step's beam, with the shaped scores of nearby log-probabilities.

    Args:
        at: index of the row in the beam.
        raw: `[vocab]` log-probabilities of an independent forward.
        tolerance: tolerance of the run's log-probabilities.
        shape: shapes log-probabilities to scores.
    """

    def __init__(
        self,
        step: BeamStep,
        at: int,
        raw: Tensor,
        tolerance: float,
        shape: Callable[[Tensor], Tensor],
    ) -> None:
        self.at, self._step, self._shape, self._tolerance = at, step, shape, tolerance
        self._listed = {c.token_id: c for c in step.candidates if c.parent == at}
        recorded = {token: c.raw_logprob for token, c in self._listed.items()}
        self._nearby = NearbyRows(raw, recorded, (), tolerance)
        self._shaped = [shape(self._nearby.moved()), shape(self._nearby.moved(-tolerance))]

    def errors(self) -> list[float]:
        """Return the differences between recorded and recomputed scores of the candidates and the
        table.
        """
        step = self._step
        numbers = [(token, c.logprob) for token, c in self._listed.items()]
        for survivor, table in zip(step.kept, step.kept_logprobs, strict=True):
            if step.group_of(survivor) == step.groups[self.at]:
                number = table[self.at]
                numbers.append((survivor.token_id, -math.inf if number is None else number))
        errors = [_distance(number, token, self._shaped) for token, number in numbers]
        if max(errors, default=0.0) > self._tolerance:
            errors = [_distance(number, token, self._edges()) for token, number in numbers]
        return errors

    def least(self, widely: bool) -> Tensor:
        """Return the `[vocab]` scores: recorded ones where known, all others as low as possible."""
        rows = self._edges() if widely else self._shaped
        numbers = rows[0].new_tensor([c.logprob for c in self._listed.values()])
        ids = torch.tensor([*self._listed], dtype=torch.long)
        return torch.stack(rows).amin(dim=0).scatter(0, ids, numbers)

    def _edges(self) -> list[Tensor]:
        if len(self._shaped) == 2:
            ids = (self._shaped[0] > -math.inf).nonzero().flatten()
            self._shaped += map(self._shape, self._nearby.edges([ids]))
        return self._shaped


def _raw_errors(step: BeamStep, row: int, raw: Tensor) -> list[float]:
    """Return the differences of a row's recorded entropy and candidates from its log-probabilities
    `[vocab]`.
    """
    listed = [c for c in step.candidates if c.parent == row]
    errors = [abs(float(raw[c.token_id]) - c.raw_logprob) for c in listed]
    return [abs(entropy_of(raw) - step.entropies[row]), *errors]


def _distance(recorded: float, token_id: int, rows: Sequence[Tensor]) -> float:
    """Return the distance of a token's recorded number from its numbers in nearby rows.

    It is infinite if only one of the two removes the token.
    """
    numbers = [float(row[token_id]) for row in rows]
    if recorded == -math.inf:
        return 0.0 if -math.inf in numbers else math.inf
    numbers = [number for number in numbers if number > -math.inf] or [math.inf]
    return max(min(numbers) - recorded, recorded - max(numbers), 0.0)


def _clear(ranked: Iterable[tuple[float, int, int, int]]) -> list[tuple[int, ...]]:
    """Return ranks, rows and tokens of a choice, without candidates that underflow float32."""
    ranked = list(ranked)
    best = max((total for total, *_ in ranked), default=0.0)
    return [tuple(entry) for total, *entry in ranked if total > best - _FAINT]
