"""Paper of a figure: its width, page or print, and the parts to draw."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ...decoding.errors import FigureError
from ...language import Message
from ..journal.journals import COLUMN, JOURNALS, NAMES, PAGE, Journal

# px: body text, and the smallest text of a figure; with 7 pt for the body the smallest is 6.1 pt.
BODY, SMALL = 12.0, 10.5
# px: minimum window of a live page; in a narrower frame the page scrolls.
LIVE_WINDOW = 640.0
_TYPE = (7.0, 9.0)
_WIDTHS = (300.0, 2400.0)
_POINT = 25.4 / 72
_UNITS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": _POINT}
_GIVEN = re.compile(r"\s*(\d{1,5}(?:\.\d{1,4})?)\s*(px|mm|cm|in|pt)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Paper:
    """Paper of a figure; widths are in px with body text of 12 px, even in print.

    Args:
        width: width of the layout, px; a page may stretch the figure.
        mm: width in print; None for a width in px.
        printed: whether the width is fixed; then the caption names the prompt, and no text mentions
            clicking.
        selection: whether the page's selection is drawn.
        title, caption: whether title and subtitle, and the caption, are drawn.
        transparent: whether the background is transparent.
        whole_prompt: whether the caption names the whole prompt.
        live: for a stand-alone page whose knobs work in the reader's browser.
        journal: the journal whose rules apply; None for the app's style.
    """

    width: float = 400.0
    mm: float | None = None
    printed: bool = False
    selection: bool = True
    title: bool = True
    caption: bool = True
    transparent: bool = False
    whole_prompt: bool = False
    live: bool = False
    journal: Journal | None = None

    @property
    def window(self) -> float:
        """Width that determines the number of columns in a window of a long run, px."""
        return max(self.width, LIVE_WINDOW) if self.live else self.width

    @property
    def scale(self) -> float | None:
        """Millimetres per px in print."""
        return None if self.mm is None else self.mm / self.width

    @property
    def type_pt(self) -> float | None:
        """Size of body text in print, points."""
        return None if self.scale is None else self.scale * BODY / _POINT


SCREEN = Paper()
"""Paper for a column of a page; the figure fits into 400 px and is stretched."""
WIDE = Paper(width=900.0)
"""Paper for the whole width of a page."""


def _journal(name: str) -> Journal | None:
    """Return the journal of this name; None for an empty one."""
    if name and name not in JOURNALS:
        known = ", ".join(JOURNALS)
        raise FigureError(
            Message(
                "There is no journal “{journal}”; there are {journals}.",
                journal=name[:20],
                journals=known,
            )
        )
    return JOURNALS[name] if name else None


def printed(
    width: str | float = "column",
    *,
    journal: str = "",
    type_pt: float = 7.5,
    selection: bool = False,
    title: bool | None = None,
    caption: bool | None = None,
    transparent: bool = False,
) -> Paper:
    """Return paper of a fixed width: `"85mm"`, `"17.4 cm"`, `"3.5in"`, `"240pt"`, `"640px"` or px.

    Args:
        width: a length, or `"column"` (the default) or `"page"` of the journal; without a journal
            these are 85 and 174 mm.
        journal: a name in `JOURNALS`; empty for none.
        type_pt: size of body text in print, 7 to 9 points; a width in px has body text of 12 px. A
            journal sets its own size.
        title, caption: whether they are drawn; by default they are, except for a journal.

    Raises:
        FigureError: the journal is unknown, or the width or type size can't be laid out.
    """
    if not (isinstance(type_pt, int | float) and _TYPE[0] <= type_pt <= _TYPE[1]):
        wrong = Message("The type size {size!r} is not between 7 and 9 points.", size=type_pt)
        raise FigureError(wrong)
    row = _journal(journal)
    type_pt = row.type_pt if row else type_pt
    amount, unit = _read(length_of(width, journal))
    mm = None if unit == "px" else amount * _UNITS[unit]
    if row and mm is None:
        raise FigureError(
            Message(
                "{label} takes a width in print, such as {column}, not in px.",
                label=row.label,
                column=row.column,
            )
        )
    px = amount if mm is None else mm / _POINT * BODY / type_pt
    if not _WIDTHS[0] <= px <= _WIDTHS[1]:
        low, high = (_shown(edge, unit, type_pt) for edge in _WIDTHS)
        raise FigureError(
            Message(
                "The width {width!r} is not between {low} and {high}.",
                width=width,
                low=low,
                high=high,
            )
        )
    drawn = {"title": title, "caption": caption}
    texts = {name: row is None if choice is None else choice for name, choice in drawn.items()}
    return Paper(
        round(px, 2),
        mm,
        printed=True,
        selection=selection,
        transparent=transparent,
        journal=row,
        **texts,
    )


def length_of(width: str | float, journal: str = "") -> str | float:
    """Return the length of a named width, or another width unchanged."""
    row = JOURNALS.get(journal)
    column, page = (row.column, row.page) if row else (COLUMN, PAGE)
    return (
        dict(zip(NAMES, (column, page), strict=True)).get(width, width)
        if isinstance(width, str)
        else width
    )


def _read(width: str | float) -> tuple[float, str]:
    if isinstance(width, int | float) and math.isfinite(width):
        return float(width), "px"
    match = _GIVEN.fullmatch(width) if isinstance(width, str) else None
    if match is None:
        raise FigureError(
            Message(
                "The width “{width}” is no length such as 85mm, 3.5in or 640px.",
                width=str(width)[:20],
            )
        )
    return float(match[1]), match[2] or "px"


def _shown(px: float, unit: str, type_pt: float) -> str:
    if unit == "px":
        return f"{px:g} px"
    return f"{px * type_pt / BODY * _POINT / _UNITS[unit]:.4g} {unit}"
