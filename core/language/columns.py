"""Widths of texts in columns of a monospaced font, as terminals count them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from .line_breaks import breakable

_WORDS = re.compile(r"\S+")


def text_columns(text: str) -> int:
    """Return the width of plain text; an East Asian wide character takes two columns."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me") else 1


def left(text: str, columns: int) -> str:
    """Return a text with spaces after it up to a width."""
    return text + " " * (columns - text_columns(text))


def right(text: str, columns: int) -> str:
    """Return a text with spaces before it up to a width."""
    return " " * (columns - text_columns(text)) + text


def cut(text: str, columns: int) -> str:
    """Return the beginning of a text that fits into a width."""
    while text_columns(text) > columns:
        text = text[:-1]
    return text


def wrapped(text: str, columns: int) -> Iterator[str]:
    """Yield the lines of a text of this width, broken by the rules of the current language.

    A word that is wider stands on a line of its own.
    """
    line = ""
    for gap, piece in breakable(text, _WORDS):
        longer = f"{line}{gap}{piece}" if line else piece
        if line and text_columns(longer) > columns:
            yield line
            line = piece
        else:
            line = longer
    if line:
        yield line
