"""Widths of the tree's columns, and tokens cut to a column's width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..base.labels import SPACE, visible_token
from ..base.measure import fitted as cut
from ..base.measure import text_width

TEXT_SIZE, ASIDE_SIZE = 11, 10
PADDING = 6
_GAP, _WIDEST_GAP = 8.0, 46.0
_SHORTEST = 12.0
# Width to which a longer token may be cut before its column moves to another row of steps, px.
_CUT = 44.0
# Margin for the borders of the outermost nodes.
_EDGE = 2.0


def node_width(plain: str) -> float:
    """Return the width that a node needs for its text, px."""
    return max(text_width(plain, TEXT_SIZE) + PADDING, _SHORTEST)


def fitted(text: str, room: float) -> str:
    """Return a token as visible plain text, cut to a width in px with an ellipsis.

    A cut token first loses the sign of its leading space.
    """
    shown = visible_token(text, 24)
    if text_width(shown, TEXT_SIZE) <= room + 0.1:
        return shown
    return cut(shown.removeprefix(SPACE), room, TEXT_SIZE)


class Columns(NamedTuple):
    """Columns in px, for a plotting area `total` px wide.

    Args:
        starts: left edge of each column's nodes.
        rooms: maximum width of each column's nodes.
        gap: gap between the columns.
    """

    starts: tuple[float, ...]
    rooms: tuple[float, ...]
    gap: float
    total: float


def aside_width(numbers: Sequence[str]) -> float:
    """Return the width that a node needs for a number beside its token, px."""
    widest = max((text_width(number, ASIDE_SIZE) for number in numbers), default=0.0)
    return widest + PADDING if numbers else 0.0


def column_width(texts: Sequence[str]) -> float:
    """Return the width of a column's longest token, px."""
    return max((node_width(visible_token(text, 24)) for text in texts), default=_SHORTEST)


def columns_of(
    wanted: Sequence[float], total: float, kept: int = 0, widest: float = _WIDEST_GAP
) -> Columns:
    """Return columns of these widths, px; if not all fit, the widest ones except the first `kept`
    get narrower.

    Args:
        widest: the widest gap between two columns.
    """
    room = total - 2 * _EDGE - _GAP * (len(wanted) - 1)
    cap = _cap(wanted[kept:], room - sum(wanted[:kept]))
    rooms = [*wanted[:kept], *(min(width, cap) for width in wanted[kept:])]
    gap = min(_GAP + max((room - sum(rooms)) / max(len(rooms) - 1, 1), 0.0), widest)
    starts, at = [], _EDGE
    for width in rooms:
        starts.append(round(at, 1))
        at += width + gap
    return Columns(tuple(starts), tuple(round(width, 1) for width in rooms), round(gap, 1), total)


def _cap(wanted: Sequence[float], room: float) -> float:
    """Return the maximum width of the wide columns such that all fit; narrow ones keep their
    width.
    """
    left, many = room, len(wanted)
    for width in sorted(wanted):
        if width * many >= left:
            return left / many
        left -= width
        many -= 1
    return max(wanted)


def rows_of(wanted: Sequence[float], total: float, kept: int = 0, aside: float = 0.0) -> list[int]:
    """Return the number of columns in each row of steps; a row's last column also begins the next
    row.

    Args:
        wanted: width of every column, including the one before the first step.
        kept: number of first columns that must not be cut.
        aside: width of the numbers beside the tokens, which are not cut.
    """
    least = [*wanted[:kept], *(min(width, _CUT + aside) for width in wanted[kept:])]
    counts = _greedy(least, total, len(wanted))
    even = _greedy(least, total, -(-(len(wanted) - 1) // len(counts)))
    return even if len(even) == len(counts) else counts


def _greedy(least: Sequence[float], total: float, most: int) -> list[int]:
    """Return the number of columns that fit into each row, at most `most`."""
    counts, used = [0], least[0] + 2 * _EDGE
    for at, width in enumerate(least[1:], start=1):
        full = used + _GAP + width > total or counts[-1] == most
        if full and counts[-1]:
            counts.append(0)
            used = least[at - 1] + 2 * _EDGE
        counts[-1] += 1
        used += _GAP + width
    return counts
