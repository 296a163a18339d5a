"""Write a figure's table as CSV that is safe in a spreadsheet."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

# A spreadsheet reads a cell that starts with one of these as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def csv_text(frame: DataFrame) -> str:
    """Return the table as CSV.

    Text that a spreadsheet would run as a formula gets a leading quote; control characters except
    tabs and line ends are escaped, since a terminal would obey them.
    """
    guarded = frame.rename(columns=_guard)
    for column in guarded.columns:
        if getattr(guarded[column].dtype, "kind", "O") not in "biuf":
            guarded[column] = guarded[column].map(_guard)
    return str(guarded.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC))


def csv_file(frame: DataFrame, made_by: str = "") -> bytes:
    """Return the CSV as a file, with a byte order mark so that spreadsheets detect UTF-8.

    Args:
        made_by: text for the first row of an extra last column; empty for no such column. Most
            readers would take a comment above the table for its header.
    """
    if made_by:
        frame = frame.assign(made_by=[made_by, *[""] * (len(frame) - 1)][: len(frame)])
    return ("\ufeff" + csv_text(frame)).encode()


def _guard(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    plain = _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), cell)
    return f"'{plain}" if plain.startswith(_FORMULA_STARTS) else plain
