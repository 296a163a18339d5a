"""How wide the columns of the tree are, and what of a token fits into one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from core.figures.base.labels import SPACE, escaped, visible_token

TEXT_SIZE = 11
PADDING = 6
_SPACE_SIZE = 7
_GAP, _WIDEST_GAP = 8.0, 46.0
_SHORTEST = 12.0
# What keeps the borders of the outermost nodes inside.
_EDGE = 2.0
# Widths in a proportional font of 11 px, as its own letters and those of its stand-ins have them.
_WIDTHS = {
    **dict.fromkeys("ijlI.,:;!|'`", 2.9),
    **dict.fromkeys("tfrs()[]-/\\", 4.0),
    **dict.fromkeys("mwMW@%…", 9.0),
    **dict.fromkeys("ABCDGHKNOQRUVX", 6.9),
    SPACE: 4.2,
}


def _character_width(char: str) -> float:
    if unicodedata.east_asian_width(char) in "WF":
        return 11.5
    return _WIDTHS.get(char, 5.5)


def text_width(plain: str) -> float:
    """About how many px a label is wide."""
    return sum(map(_character_width, plain))


def fitted(text: str, room: float) -> str:
    """A token as visible plain text, cut to so many px.

    What is cut loses the sign of its leading space first; it ends with an ellipsis where at least
    two letters fit beside one.
    """
    shown = visible_token(text, 24)
    # Rooms are rounded.
    if text_width(shown) <= room + 0.1:
        return shown
    letters = shown.removeprefix(SPACE)
    kept = _prefix(letters, room - _character_width("…"))
    return f"{kept}…" if len(kept) >= 2 else _prefix(letters, room)


def _prefix(plain: str, room: float) -> str:
    """As many characters as fit."""
    used = 0.0
    for at, char in enumerate(plain):
        used += _character_width(char)
        if used > room:
            return plain[:at]
    return plain


def label(plain: str) -> str:
    """A fitted token as Plotly text; the sign for a space is small, since most tokens begin so."""
    small = f'<span style="font-size:{_SPACE_SIZE}px">{SPACE}</span>'
    return escaped(plain).replace(SPACE, small)


class Columns(NamedTuple):
    """Columns in px, for a plotting area `total` px wide.

    Args:
        starts: the left edge of each column's nodes.
        rooms: how wide the nodes of a column may be.
        gap: between the columns.
    """

    starts: tuple[float, ...]
    rooms: tuple[float, ...]
    gap: float
    total: float


def columns_for(texts: Sequence[Sequence[str]], total: float) -> Columns:
    """Each column as wide as its longest token; where that is too wide, the longest are cut.

    Args:
        texts: the tokens of each column.
    """
    wanted = [
        max((text_width(visible_token(text, 24)) + PADDING for text in column), default=0.0)
        for column in texts
    ]
    wanted = [max(width, _SHORTEST) for width in wanted]
    room = total - 2 * _EDGE - _GAP * (len(wanted) - 1)
    cap = _cap(wanted, room)
    rooms = [min(width, cap) for width in wanted]
    spare = (room - sum(rooms)) / max(len(rooms) - 1, 1)
    gap = min(_GAP + max(spare, 0.0), _WIDEST_GAP)
    starts, at = [], _EDGE
    for width in rooms:
        starts.append(round(at, 1))
        at += width + gap
    return Columns(tuple(starts), tuple(round(width, 1) for width in rooms), round(gap, 1), total)


def _cap(wanted: Sequence[float], room: float) -> float:
    """The width that the wide columns may have so that all fit (the narrow ones keep theirs)."""
    left, many = room, len(wanted)
    for width in sorted(wanted):
        if width * many >= left:
            return left / many
        left -= width
        many -= 1
    return max(wanted)
