"""Positions of the panels of a step's stages: in one row, or in several rows on a screen."""

from __future__ import annotations

from typing import NamedTuple

from ..base.paper import SCREEN, Paper

FEW_PANELS = 3
"""Maximum number of panels in a row on a phone."""
MANY_PANELS = 5
"""Maximum number of panels in a row beside the page's controls, 1280 px wide."""
# Gap between panels, as a share of a panel's width.
GAP = 0.06
# Height of a panel's heading (four lines), and gap between rows, px.
HEADS, _EDGE = 68, 10


class Places(NamedTuple):
    """Positions of the panels: rows with equal numbers of panels, each with a heading above.

    Args:
        across: number of panels in a row.
        rows: number of rows.
        bars, heads: height of a row's bars, and of the headings of a further row, px.
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
        """Return a panel's part of the width; all panels are equally wide, so that equal bars look
        equal.
        """
        at = place % self.across
        return at / self.across, (at + 1 - GAP) / self.across

    def y(self, row: int) -> tuple[float, float]:
        """Return a row's part of the height."""
        top = 1 - row * (self.bars + self.heads) / self.height
        return max(top - self.bars / self.height, 0.0), top

    def axis(self, place: int) -> str:
        """Return the name of a panel's axis of tokens."""
        row = place // self.across
        return f"y{row + 1}" if row else "y"


def places_for(count: int, bars: int, paper: Paper) -> Places:
    """Return positions in several rows for a screen, and in one row for print."""
    most = count if paper.printed else FEW_PANELS if is_narrow(paper) else MANY_PANELS
    rows = -(-count // most)
    return Places(-(-count // rows), rows, bars, HEADS + _EDGE)


def is_narrow(paper: Paper) -> bool:
    """Return whether the paper is a phone's screen."""
    return paper.width < SCREEN.width
