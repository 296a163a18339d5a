"""Rows of logits that a run may have had, by an independent forward and what the run recorded.

Two forwards of one model differ by rounding, and a token next to a cut may stand on its other side.
So an act of the engine is done again over rows from the edges of the tolerance, and each recorded
number must lie between theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor


class NearbyRows:
    """Rows `[vocab]` within a tolerance of an independent forward's.

    The recorded tokens have their recorded logits, as far as the tolerance allows; the others stay
    below the last of those that were listed for being the highest.

    Args:
        row: `[vocab]` logits of an independent forward.
        recorded: logits by token.
        listed: the recorded tokens that are the highest, by rank.
        tolerance: by which a logit of the run may differ.
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
            # Of equal tokens the one with the smaller id ranks first.
            highest[: listed[-1]] = torch.nextafter(last, row.new_tensor(-math.inf))
            self._high = self._high.minimum(highest).maximum(self._low)
        self._ids = torch.tensor([*recorded], dtype=torch.long)
        values = row.new_tensor([*recorded.values()])
        self._recorded = values.clamp(row[self._ids] - tolerance, row[self._ids] + tolerance)

    def moved(self, by: Tensor | float = 0.0) -> Tensor:
        """The row with the tokens that were not recorded moved, as far as they may be."""
        row = (self._row + by).clamp(self._low, self._high)
        return row.scatter(0, self._ids, self._recorded)

    def edges(self, cuts: Sequence[Tensor]) -> Iterator[Tensor]:
        """Rows from the edges of the tolerance.

        All tokens higher or lower; those that a filter keeps higher and the others lower, and the
        other way round; close tokens tied, and tied ones apart.

        Args:
            cuts: of each filter the ids that it keeps of the unmoved row.
        """
        most = self._tolerance
        yield self.moved(most)
        yield self.moved(-most)
        for ids in cuts:
            kept = torch.full_like(self._row, -most).index_fill_(0, ids, most)
            yield self.moved(kept)
            yield self.moved(-kept)
        for start in (0.0, most / 2):
            tied = ((self._row - start) / most).round() * most + start
            yield self.moved((tied - self._row).nan_to_num(nan=0.0))
        yield self.moved(torch.linspace(most, -most, len(self._row)))
