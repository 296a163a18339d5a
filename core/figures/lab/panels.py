"""Places of the panels of a step's stages: in one row, or in as many as a phone needs."""

from __future__ import annotations

from typing import NamedTuple

from core.figures.base.paper import SCREEN, Paper

FEW_PANELS = 3
"""A phone holds so many beside one another."""
# Of a panel's width: what keeps it apart from the next.
GAP = 0.06
# What stands over a panel, four lines, and what keeps a row from the next, px.
HEADS, _EDGE = 68, 10


class Places(NamedTuple):
    """Places of the panels: in rows of equally many, of a height each with its heads above.

    Args:
        across: panels in a row.
        rows: of panels.
        bars, heads: the height of a row's bars, and of what stands over those of a further row, px.
    """

    across: int
    rows: int
    bars: int
    heads: int

    @property
    def height(self) -> int:
        """Height of the plotting area, px."""
        return self.rows * self.bars + (self.rows - 1) * self.heads

    def x(self, place: int) -> tuple[float, float]:
        """A panel's part of the width; all are equally wide, so that equal bars are equal."""
        at = place % self.across
        return at / self.across, (at + 1 - GAP) / self.across

    def y(self, row: int) -> tuple[float, float]:
        """A row's part of the height."""
        top = 1 - row * (self.bars + self.heads) / self.height
        return max(top - self.bars / self.height, 0.0), top

    def axis(self, place: int) -> str:
        """The name of a panel's axis of tokens."""
        row = place // self.across
        return f"y{row + 1}" if row else "y"


def places_for(count: int, bars: int, paper: Paper) -> Places:
    """Places in as many rows as a phone needs, else in one."""
    rows = -(-count // FEW_PANELS) if is_narrow(paper) and not paper.printed else 1
    return Places(-(-count // rows), rows, bars, HEADS + _EDGE)


def is_narrow(paper: Paper) -> bool:
    """Return whether it is a phone's screen."""
    return paper.width < SCREEN.width
