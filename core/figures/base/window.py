"""The window of a long run that a figure shows: its place, its words, what a paper holds of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from core.decoding.counting import span_key, span_of
from core.figures.base.paper import LIVE_WINDOW, Paper
from core.figures.base.sheet import Sheet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The columns `first` up to and without `last` of `total` that a figure shows.

    Args:
        unit: what a column is, as "step".
        before: so many are counted before the first of them.
    """

    unit: str
    first: int
    last: int
    total: int
    before: int = 0

    @property
    def whole(self) -> bool:
        """Return whether all columns are shown."""
        return self.last - self.first >= self.total

    @property
    def words(self) -> str:
        """The part in words, such as "Steps 1 to 40 of 163"."""
        ends = self.first + self.before, self.last + self.before
        return span_of(f"{self.unit.capitalize()}s", *ends, self.total + self.before)

    def sentence(self, paper: Paper) -> str:
        """The words as a sentence; empty for all columns, and beside a page's pager."""
        return f"{self.words}." if paper.printed and not self.whole else ""

    def tell(self, sheet: Sheet, holds: Callable[[float], int] | None = None) -> None:
        """Write into the figure's meta which columns it shows: its table holds the same.

        Args:
            holds: number of columns that a figure of some width holds; a live figure that its frame
                can't hold says how wide it is at least.
        """
        sheet.meta["window"] = [self.first, self.last]
        if not self.whole:
            ends = self.first + self.before, self.last + self.before
            sheet.meta["shown"] = [span_key(self.unit, *ends)]
        if holds and sheet.paper.live and self.last - self.first > holds(sheet.paper.width):
            sheet.meta["least"] = LIVE_WINDOW


def cut_window(first: int, columns: int, held: int, selected: int | None) -> tuple[int, int]:
    """Cut a window to the columns that a paper holds.

    Args:
        held: how many columns that is.
        selected: the part of the window that is kept has this column, if the window has it.

    Returns:
        The first column and how many there are.
    """
    span = max(min(columns, held), 1)
    if selected is not None and first <= selected < first + columns:
        first += (selected - first) // span * span
    return first, span


def window_of(items: Sequence[T], first: int, columns: int) -> Sequence[T]:
    """Items from the place `first` on, at most `columns`, at least one where there is any."""
    start = min(max(first, 0), max(len(items) - 1, 0))
    return items[start : start + max(columns, 1)]


def numbered(items: Iterable[T], first: int, columns: int | None) -> list[tuple[int, T]]:
    """The items of a table's window with their places; without `columns` all from `first` on."""
    last = None if columns is None else first + columns
    return list(enumerate(items))[first:last]
