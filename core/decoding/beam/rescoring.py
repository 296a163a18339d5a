"""The model's own numbers for every row of a search's tree, against what the steps say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from core.decoding.beam.candidates import less_taken, looked_at, shaper_of
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.draw_order import DrawOrder
from core.decoding.beam.hypotheses import NOTHING
from core.decoding.beam.replay import best_row, replay
from core.decoding.beam.types import BeamStep
from core.decoding.checks.boundary_tokens import boundary_tokens
from core.decoding.checks.forwards import entropy_of, largest_logit, logit_tolerance
from core.decoding.loop.ending import eos_rows
from core.decoding.loop.prompt import read_again
from core.decoding.protocol import LanguageModel
from core.decoding.record.trace import Trace

# A row of the beam of a step.
_Place = tuple[int, int]
# So many positions' logits are held at once.
_PIECE = 64


class Rescoring:
    """Scores every row of every beam again in ways that the search didn't go.

    First each hypothesis (of a search that found none, the best open path) in one forward without
    a cache; then the rows that no hypothesis goes through, one after the other in a context of one
    row.

    Attributes:
        deviations: for each row the largest difference, nats, with its step; infinite where a
            candidate is missing, or was drawn though the filters remove it.
        draws: for each row by how much, in nats, a token that wasn't drawn lies above the last that
            was, with its step; and for each step what `DrawOrder` says of its order.
        near: how many tokens were so near to a cut that rounding may have moved them across it.
        rows: how many.
        paths: how many were scored without a cache.
        largest: the largest logit seen.
    """

    def __init__(self, trace: Trace[BeamSearch], model: LanguageModel) -> None:
        self._trace, self._model, self._steps = trace, model, trace.beam_steps
        self._config = trace.config
        self._eos_ids = eos_rows(model)
        self._shaper = shaper_of(model, self._config)
        self._most = looked_at(self._config, model)
        self._possible: dict[_Place, int] = {}
        self._order = DrawOrder(trace, model.vocab_size, self._most) if self._config.draws else None
        self.draws = self._order.disorder if self._order else []
        self.near = 0
        self.deviations: list[tuple[float, int]] = [(0.0, 0)]
        self.paths, self.largest = 0, 1.0
        self._score_paths()
        self._score_tree()
        self._count_candidates()
        self.rows = len(self._possible)

    def _score_paths(self) -> None:
        """The paths are read from the steps: what a trace says beside them may be anything."""
        found = [(h.token_ids, h.parents) for h in replay(self._steps, self._config).hypotheses]
        if not found:
            path = best_row(self._steps)
            found = [(tuple(c.token_id for c in path), tuple(c.parent for c in path))]
        for token_ids, parents in found:
            self._score_path(token_ids, parents)
            self.paths += 1

    def _score_path(self, token_ids: Sequence[int], parents: Sequence[int]) -> None:
        first = len(self._trace.prompt_ids) - 1

        def compare(at: int, logits: Tensor) -> None:
            for position, own in enumerate(logits, start=at):
                index = position - first
                if 0 <= index < len(parents):
                    self._compare((index, parents[index]), token_ids[:index], own)
            self._note_largest(logits)

        read_again(self._model, self._trace, token_ids[:-1], compare)

    def _score_tree(self) -> None:
        """Down every branch in turn, to its end at once."""
        children = _children(self._steps)
        prompt_ids, use_cache = self._trace.prompt_ids, self._config.use_cache
        context, path = self._model.start(prompt_ids, use_cache=use_cache), list[int]()
        waiting: list[_Place] = []
        for row in range(len(self._steps[0].groups) if self._steps else 0):
            self._compare((0, row), path, context.logits[0])
            waiting += children.get((0, row), [])
        while waiting:
            run = [waiting.pop()]
            while len(run) < _PIECE and (after := children.get(run[-1])):
                waiting += after[1:]
                run.append(after[0])
            waiting += children.get(run[-1], [])
            before = run[0][0] - 1
            context.rollback(len(path) - before)
            path = path[:before]
            tokens = [self._steps[at - 1].kept[row].token_id for at, row in run]
            logits = context.extend([tokens])[0]
            for place, token, own in zip(run, tokens, logits, strict=True):
                path.append(token)
                self._compare(place, path, own)
            self._note_largest(logits)

    def _note_largest(self, logits: Tensor) -> None:
        self.largest = max(self.largest, largest_logit(logits))

    def _compare(self, place: _Place, path: Sequence[int], logits: Tensor) -> None:
        """One row's logits `[vocab]` after the generated tokens of its path, unless done before."""
        if place in self._possible:
            return
        index, row = place
        step = self._steps[index]
        raw = torch.log_softmax(logits.double(), dim=-1)
        taken, ids = step.taken_before(step.groups[row]), [*self._trace.prompt_ids, *path]
        before = less_taken(raw[None].float(), self._config.diversity_penalty, taken)
        shaped = self._shaper.rows(before, [ids], [index])[0].double()
        near = self._near(raw.float(), index, ids, logits)
        self._possible[place] = int((self._total(place) + shaped > NOTHING / 2).sum())
        found = [abs(entropy_of(raw) - step.entropies[row])]
        found += self._differences(step, row, raw, shaped, near)
        found += _table_differences(step, row, shaped, near)
        if step.origin == "argmax":
            found.append(self._lack(step, row, shaped))
        self.deviations.append((max(found, key=_size), index))
        if self._order:
            sums = self._total(place) + shaped
            self.draws.append((self._order.excess(step, index, row, sums, near), index))

    def _near(self, raw: Tensor, index: int, ids: Sequence[int], logits: Tensor) -> Tensor:
        """The tokens next to a filter's cut, `[vocab]`; none where nothing is drawn."""
        config = self._config
        if not config.draws:
            return torch.zeros(len(raw), dtype=torch.bool)
        # A log-probability is a logit less the row's log-sum-exp, and either may be off.
        tolerance = 2 * logit_tolerance(self._trace, self._model, largest_logit(logits))
        held_back = self._eos_ids if index < config.min_new_tokens else []
        least = self._shaper.min_tokens_to_keep
        near, _ = boundary_tokens(raw, config.shaping, tolerance, ids, held_back, least)
        self.near += int(near.sum())
        return near

    def _total(self, place: _Place) -> float:
        index, row = place
        return self._steps[index - 1].kept[row].cum_logprob if index else 0.0

    def _differences(
        self, step: BeamStep, row: int, raw: Tensor, shaped: Tensor, near: Tensor
    ) -> Iterator[float]:
        listed = [c for c in step.candidates if c.parent == row]
        at = [c.token_id for c in listed]
        for candidate, own, added in zip(
            listed, raw[at].tolist(), shaped[at].tolist(), strict=True
        ):
            yield abs(candidate.raw_logprob - own)
            # A filter's threshold may fall on either side of a token by rounding alone.
            if added > -math.inf or not near[candidate.token_id]:
                yield abs(candidate.logprob - added)

    def _lack(self, step: BeamStep, row: int, shaped: Tensor) -> float:
        """By how much a token that isn't listed has a higher sum than the last that is."""
        group = step.groups[row]
        own = [c for c in step.candidates if step.group_of(c) == group]
        listed = [c.token_id for c in own if c.parent == row]
        others = shaped.index_fill(0, torch.tensor(listed, dtype=torch.long), -math.inf)
        sums = [c.cum_logprob for c in own]
        highest = self._total((step.index, row)) + float(others.max())
        return max(0.0, highest - min(sums)) if sums and highest > -math.inf else 0.0

    def _count_candidates(self) -> None:
        """A group that doesn't draw lists K candidates, or all that its rows have."""
        for index, step in enumerate(self._steps):
            if step.origin == "sampled":
                continue
            for group in set(step.groups):
                rows = [row for row, own in enumerate(step.groups) if own == group]
                there = sum(self._possible[index, row] for row in rows)
                listed = sum(step.group_of(c) == group for c in step.candidates)
                if listed != min(self._most, there):
                    self.deviations.append((math.inf, index))


def _children(steps: Sequence[BeamStep]) -> dict[_Place, list[_Place]]:
    """The rows that come of each row; those of groups that had ended are no rows."""
    children: dict[_Place, list[_Place]] = {}
    for index, step in enumerate(steps[1:], start=1):
        for row, kept in enumerate(steps[index - 1].kept[: len(step.groups)]):
            children.setdefault((index - 1, kept.parent), []).append((index, row))
    return children


def _table_differences(step: BeamStep, row: int, shaped: Tensor, near: Tensor) -> Iterator[float]:
    """What each kept token of the group has after this row, as the guess of parents reads it."""
    for candidate, numbers in zip(step.kept, step.kept_logprobs, strict=True):
        if step.group_of(candidate) != step.groups[row]:
            continue
        own, stored = float(shaped[candidate.token_id]), numbers[row]
        if stored is not None and own > -math.inf:
            yield abs(stored - own)
        elif (stored is None) != (own == -math.inf) and not near[candidate.token_id]:
            yield math.inf


def _size(deviation: float) -> float:
    """NaN is the largest of all."""
    return math.inf if math.isnan(deviation) else deviation
