"""Rows of logits that a run may have had, given an independent forward and the recorded numbers.

Two forwards of one model differ by rounding, and a token near a filter's threshold may fall on
either side of it. So each engine function is run again on rows at the edges of the tolerance, and
each recorded number must lie between the results.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor


class NearbyRows:
    """Rows `[vocab]` within a tolerance of an independent forward's row.

    Recorded tokens have their recorded logits, clipped to the tolerance. Other tokens stay below
    the last of the listed highest tokens.

    Args:
        row: `[vocab]` logits of an independent forward.
        recorded: recorded logits by token.
        listed: the recorded tokens that are the highest ones, by rank.
        tolerance: largest difference of a logit from the run's.
    """

    def __init__(
        self,
        row: Tensor,
        recorded: Mapping[int, float],
        listed: Sequence[int],
        tolerance: float,
    ) -> None:
        self._row, self._tolerance = row, tolerance
        self._low, self._high = row - tolerance, row + tolerance
        if listed:
            last = row.new_tensor(recorded[listed[-1]])
            highest = torch.full_like(row, float(last))
            # Of equal logits the smaller id ranks first.
            highest[: listed[-1]] = torch.nextafter(last, row.new_tensor(-math.inf))
            self._high = self._high.minimum(highest).maximum(self._low)
        self._ids = torch.tensor([*recorded], dtype=torch.long)
        values = row.new_tensor([*recorded.values()])
        self._recorded = values.clamp(row[self._ids] - tolerance, row[self._ids] + tolerance)

    def moved(self, by: Tensor | float = 0.0) -> Tensor:
        """Return the row with unrecorded tokens moved as far as the tolerance allows."""
        row = (self._row + by).clamp(self._low, self._high)
        return row.scatter(0, self._ids, self._recorded)

    def edges(self, cuts: Sequence[Tensor]) -> Iterator[Tensor]:
        """Yield rows at the edges of the tolerance.

        All tokens are higher or lower; tokens that a filter keeps are higher and the others lower,
        and vice versa; close tokens are tied, and tied tokens are separated.

        Args:
            cuts: for each filter, the ids that it keeps of the unmoved row.
        """
        most = self._tolerance
        yield self.moved(most)
        yield self.moved(-most)
        for ids in cuts:
            moves = torch.full_like(self._row, -most).index_fill_(0, ids, most)
            yield self.moved(moves)
            yield self.moved(-moves)
        for start in (0.0, most / 2):
            tied = ((self._row - start) / most).round() * most + start
            yield self.moved((tied - self._row).nan_to_num(nan=0.0))
        yield self.moved(torch.linspace(most, -most, len(self._row)))
