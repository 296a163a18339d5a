"""Tables of a command's results, aligned by the columns that a terminal gives each character."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ..figures.base.labels import NBSP, unspaced
from ..language import tr
from ..language.columns import left, right, text_columns

if TYPE_CHECKING:
    from ..evaluation.types import Share


def print_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], to_left: Collection[int] = ()
) -> None:
    """Print rows of cells below their heads, with two spaces between columns.

    Args:
        to_left: indices of the columns that are aligned to the left.
    """
    lines = [heads, *rows]
    widths = [max(map(text_columns, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            (left if at in to_left else right)(cell, width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells))


def interval_words(share: Share) -> str:
    """Return a share's confidence interval in percent."""
    low, high = 100 * share.low, 100 * share.high
    return tr("{low:>5.1f} to {high:>5.1f} %", low=low, high=high)


def percent_words(percent: float, spec: str = ".1f") -> str:
    """Return a number of hundredths with a percent sign, in a format of its own."""
    return unspaced(f"{percent:{spec}}{NBSP}%").replace(NBSP, " ")
