"""The model's own numbers for every row of a search's tree, and every choice made again by them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from core.decoding.beam.candidates import choose, less_taken, looked_at, shaper_of
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import best_row, replay
from core.decoding.beam.types import BeamStep
from core.decoding.checks.forwards import entropy_of, largest_logit, logit_tolerance, nan_first
from core.decoding.checks.nearby_rows import NearbyRows
from core.decoding.counting import nth
from core.decoding.loop.prompt import read_again
from core.decoding.protocol import LanguageModel
from core.decoding.record.trace import Trace
from core.decoding.shaping.draws import new_generator

# Nats below the best candidate; sums further below may have no probability in float32.
_FAINT = 45.0


class Rescoring:
    """Scores every row of every beam again in ways that the search didn't go, and chooses again.

    Each hypothesis (of a search that found none, the best open path) in one forward without a
    cache; then every row of the tree in a context of one row, from whose logits the engine's own
    acts shape and choose.

    Attributes:
        deviations: for each row the largest difference, nats, with its step; infinite where the
            search chooses other candidates, or a filter removes one that was drawn.
        draws: what is wrong with the draw of a step.
        rows: how many.
        paths: how many were scored without a cache.
        largest: the largest logit seen.
    """

    def __init__(self, trace: Trace[BeamSearch], model: LanguageModel) -> None:
        self._trace, self._model, self._steps = trace, model, trace.beam_steps
        self._config, self._shaper = trace.config, shaper_of(model, trace.config)
        self._most = looked_at(self._config, model)
        self._generator = new_generator(self._config.seed) if self._config.draws else None
        self.deviations: list[tuple[float, int]] = [(0.0, 0)]
        self.draws: list[str] = []
        self.paths, self.rows, self.largest = 0, 0, 1.0
        self._score_paths()
        self._score_tree()

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
            self.largest = max(self.largest, largest_logit(logits))
            for index, own in enumerate(logits, start=at - first):
                if 0 <= index < len(parents):
                    raw = torch.log_softmax(own.double(), dim=-1)
                    self._note(index, _raw_errors(self._steps[index], parents[index], raw))

        read_again(self._model, self._trace, token_ids[:-1], compare)

    def _score_tree(self) -> None:
        """Step by step, each row in a context of its own."""
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
                # The rows of groups that had ended are no rows.
                kept = step.kept[: len(self._steps[index + 1].groups)]
                contexts = [contexts[c.parent].branch([0]) for c in kept]
                paths = [[*paths[c.parent], c.token_id] for c in kept]
                totals = [c.cum_logprob for c in kept]
                for context, candidate in zip(contexts, kept, strict=True):
                    context.extend([candidate.token_id])

    def _choose_again(
        self, index: int, logits: Tensor, paths: Sequence[Sequence[int]], totals: Sequence[float]
    ) -> None:
        """Shape the logits `[rows, vocab]` of a step and choose from what they leave."""
        step, lowest = self._steps[index], []
        for row, own in enumerate(logits):
            raw = torch.log_softmax(own.double(), dim=-1)
            self._note(index, _raw_errors(step, row, raw))
            lowest.append(self._lowest(step, row, raw.float(), paths[row]))
        for group in sorted(set(step.groups)):
            rows = [row for row, own in enumerate(step.groups) if own == group]
            beams = self._config.num_beams // self._config.num_beam_groups
            choice = choose(
                torch.stack([lowest[row] for row in rows]),
                [totals[row] for row in rows],
                beams,
                min(self._most, beams * logits.shape[-1]),
                self._generator,
            )
            listed = [c for c in step.candidates if step.group_of(c) == group]
            said = [(c.cum_logprob, c.rank, c.parent, c.token_id) for c in listed]
            ranks = [place + 1 for place in choice.places]
            parents = [rows[parent] for parent in choice.parents]
            again = [*zip(choice.sums, ranks, parents, choice.token_ids, strict=True)]
            if _clear(said) != _clear(again):
                if self._generator:
                    where = f"step {nth(index)}"
                    self.draws.append(f"{where}: the noise draws other candidates, or elsewhere")
                else:
                    self.deviations.append((math.inf, index))

    def _lowest(self, step: BeamStep, row: int, raw: Tensor, path: Sequence[int]) -> Tensor:
        """The shaped row `[vocab]` with the recorded numbers, and all others as low as may be."""
        listed = {c.token_id: c for c in step.candidates if c.parent == row}
        recorded = {token: c.raw_logprob for token, c in listed.items()}
        # A log-probability is a logit less the row's log-sum-exp, and either may be off.
        tolerance = 2 * logit_tolerance(self._trace, self._model, self.largest)
        nearby = NearbyRows(raw, recorded, (), tolerance)
        taken, penalty = step.taken_before(step.groups[row]), self._config.diversity_penalty

        def shaped(moved: Tensor) -> Tensor:
            row = less_taken(moved[None], penalty, taken)
            return self._shaper.rows(row, [path], [step.index])[0]

        again = [shaped(nearby.moved())]
        said = [(token, c.logprob) for token, c in listed.items()]
        for kept, table in zip(step.kept, step.kept_logprobs, strict=True):
            if step.group_of(kept) == step.groups[row]:
                number = table[row]
                said.append((kept.token_id, -math.inf if number is None else number))
        errors = [_distance(number, token, again) for token, number in said]
        if self._config.draws and max(errors, default=0.0) > tolerance:
            kept = (again[0] > -math.inf).nonzero().flatten()
            again += map(shaped, nearby.edges([kept]))
            errors = [_distance(number, token, again) for token, number in said]
        self._note(step.index, errors)
        lowest = shaped(nearby.moved(-tolerance))
        numbers = lowest.new_tensor([c.logprob for c in listed.values()])
        return lowest.scatter(0, torch.tensor([*listed], dtype=torch.long), numbers)

    def _note(self, index: int, errors: Sequence[float]) -> None:
        self.deviations.append((max(errors, default=0.0, key=nan_first), index))


def _raw_errors(step: BeamStep, row: int, raw: Tensor) -> list[float]:
    """How far entropy and candidates of a row are from its log-probabilities `[vocab]`."""
    listed = [c for c in step.candidates if c.parent == row]
    errors = [abs(float(raw[c.token_id]) - c.raw_logprob) for c in listed]
    return [abs(entropy_of(raw) - step.entropies[row]), *errors]


def _distance(said: float, token_id: int, rows: Sequence[Tensor]) -> float:
    """How far a token's number lies outside of what nearby rows give; infinite where it is in
    and they remove it, or the other way round."""
    numbers = [float(row[token_id]) for row in rows]
    if said == -math.inf:
        return 0.0 if -math.inf in numbers else math.inf
    numbers = [number for number in numbers if number > -math.inf] or [math.inf]
    return max(min(numbers) - said, said - max(numbers), 0.0)


def _clear(ranked: Sequence[tuple[float, int, int, int]]) -> list[tuple[int, ...]]:
    """Places, rows and tokens of a choice, those aside that have no probability in float32."""
    best = max((total for total, *_ in ranked), default=0.0)
    return [tuple(rest) for total, *rest in ranked if total > best - _FAINT]
