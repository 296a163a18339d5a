"""Window of a long run that a figure shows: its position, its text, and the columns that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...decoding.counting import span_key, span_of
from ...language import tr
from .paper import LIVE_WINDOW, Paper
from .sheet import Sheet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The columns `first` to `last` (exclusive) of `total` that a figure shows.

    Args:
        unit: name of a column's item, such as "step".
        before: number of items that are counted before the first column.
    """

    unit: str
    first: int
    last: int
    total: int
    before: int = 0

    @property
    def whole(self) -> bool:
        """True if all columns are shown."""
        return self.last - self.first >= self.total

    @property
    def words(self) -> str:
        """The window as text, such as "Steps 1 to 40 of 163"."""
        ends = self.first + self.before, self.last + self.before
        return tr(span_of(f"{self.unit.capitalize()}s", *ends, self.total + self.before))

    def sentence(self, paper: Paper) -> str:
        """Return the text as a sentence; empty if all columns are shown, or beside a page's
        pager.
        """
        return self.note if paper.printed else ""

    @property
    def note(self) -> str:
        """The window as a sentence; empty if all columns are shown."""
        return "" if self.whole else tr("{part}.", part=self.words)

    def tell(self, sheet: Sheet, holds: Callable[[float], int] | None = None) -> None:
        """Write the shown columns into the figure's meta, so that its table holds the same.

        Args:
            holds: returns the number of columns in a figure of some width; a live figure wider than
                its frame then states its minimum width.
        """
        sheet.meta["window"] = [self.first, self.last]
        if not self.whole:
            ends = self.first + self.before, self.last + self.before
            sheet.meta["shown"] = [span_key(self.unit, *ends)]
        if holds and sheet.paper.live and self.last - self.first > holds(sheet.paper.width):
            sheet.meta["least"] = LIVE_WINDOW


def even_span(count: int, held: int) -> int:
    """Return the number of columns of a window, so that as few windows as hold all columns are
    equally long and the last one isn't short.

    Args:
        held: number of columns that fit.
    """
    return -(-count // -(-count // held)) if count else held


def cut_window(first: int, columns: int, held: int, selected: int | None) -> tuple[int, int]:
    """Cut a window to the number of columns that fit.

    Args:
        held: number of columns that fit.
        selected: a column that stays in the window if it was in it.

    Returns:
        The first column and the number of columns.
    """
    span = max(min(columns, held), 1)
    if selected is not None and first <= selected < first + columns:
        first += (selected - first) // span * span
    return first, span


def window_of(items: Sequence[T], first: int, columns: int) -> Sequence[T]:
    """Return the items from index `first` on: at most `columns`, at least one if there are any."""
    start = min(max(first, 0), max(len(items) - 1, 0))
    return items[start : start + max(columns, 1)]


def numbered(items: Iterable[T], first: int, columns: int | None) -> list[tuple[int, T]]:
    """Return the items of a table's window with their indices; without `columns`, all from `first`
    on.
    """
    last = None if columns is None else first + columns
    return list(enumerate(items))[first:last]
