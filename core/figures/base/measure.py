"""Text widths in the figures' fonts, and text cut or wrapped to a width."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from ...language.line_breaks import breakable
from .fonts import ADVANCES, Face

# Widths of characters that no font has, in thousandths of an em: a square for East Asian
# characters, more for pictographs, and the maximum of common fonts for other scripts.
_SQUARE, _PICTURE, _OTHER = 1000, 1250, 800
_NBSP = "\u00a0"


@cache
def advances(face: Face) -> dict[str, int]:
    """Return the width of each character of a face, in thousandths of an em."""
    runs = json.loads(ADVANCES.read_text(encoding="utf-8"))[face]
    return {char: int(advance) for advance, chars in runs.items() for char in chars}


@lru_cache(maxsize=8192)
def _advance(char: str, face: Face) -> int:
    for candidate in (face, "signs"):
        if (advance := advances(candidate).get(char)) is not None:
            return advance
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if ord(char) >= 0x1F000:
        return _PICTURE
    return _SQUARE if unicodedata.east_asian_width(char) in "WF" else _OTHER


@lru_cache(maxsize=4096)
def text_width(plain: str, size: float = 12, face: Face = "sans") -> float:
    """Return the width of plain text at a font size, px."""
    return sum(_advance(char, face) for char in plain) * size / 1000


def fitted(plain: str, room: float, size: float = 12, face: Face = "sans") -> str:
    """Return plain text that is at most `room` px wide; cut text ends with an ellipsis."""
    # Widths of rooms are rounded.
    if text_width(plain, size, face) <= room + 0.1:
        return plain
    used, limit = text_width("…", size, face), room + 0.1
    for at, char in enumerate(plain):
        used += text_width(char, size, face)
        if used > limit:
            return f"{plain[:at].rstrip()}…"
    return plain


def first_fitting(forms: Sequence[str], room: float, size: float = 12, face: Face = "sans") -> str:
    """Return the first of a plain text's forms that is at most `room` px wide, else the last one,
    cut.
    """
    fits = (form for form in forms if text_width(form, size, face) <= room + 0.1)
    return next(fits, None) or fitted(forms[-1], room, size, face)


def wrapped(plain: str, room: float, size: float = 12, face: Face = "sans") -> list[str]:
    """Return plain text in lines of at most `room` px, broken where its language allows, or inside
    a word that fits no line.
    """
    lines: list[str] = []
    for gap, word in breakable(plain, _PLAIN_WORD):
        if lines and text_width(f"{lines[-1]}{gap}{word}", size, face) <= room:
            lines[-1] += f"{gap}{word}"
            continue
        lines.append("")
        used = 0.0
        for char in word:
            width = text_width(char, size, face)
            if lines[-1] and used + width > room:
                lines.append("")
                used = 0.0
            lines[-1] += char
            used += width
    return lines


def caption_lines(caption: str, room: float, size: float) -> list[str]:
    """Return the caption in lines, broken between settings, or inside a setting that fits no
    line.
    """
    lines: list[str] = []
    for run in caption.split("\n"):
        line = ""
        *parts, last = run.split(" · ")
        for part in (*(f"{part}{_NBSP}·" for part in parts), last):
            if text_width(part, size) > room:
                *full, line = wrapped(f"{line} {part}", room, size)
                lines += full
                continue
            kept = part.replace(" ", _NBSP)
            if line and text_width(f"{line} {kept}", size) > room:
                lines.append(line)
                line = ""
            line = f"{line} {kept}" if line else kept
        if line:
            lines.append(line)
    return lines


def widest(texts: Sequence[str], size: float = 12, face: Face = "sans") -> float:
    """Return the largest width of some plain texts, px."""
    return max((text_width(text, size, face) for text in texts), default=0.0)


_TAG = re.compile(r"(<[^<>]*>)")
_WORD, _PLAIN_WORD = re.compile(r"(?:<[^<>]*>|[^ <])+"), re.compile("[^ ]+")
_SIZE = re.compile(r"font-size:([0-9.]+)px")


def plain_of(markup: str) -> str:
    """Return Plotly text without its tags; a line break becomes a space."""
    return html.unescape(_TAG.sub("", markup.replace("<br>", " ")))


@lru_cache(maxsize=4096)
def markup_width(markup: str, size: float = 12, face: Face = "sans") -> float:
    """Return the width of a line of Plotly text, px, with the sizes and faces that tags set."""
    return sum(
        text_width(text, font_size, drawn) for text, font_size, drawn in _runs(markup, size, face)
    )


def _runs(markup: str, size: float, face: Face) -> Iterator[tuple[str, float, Face]]:
    """Yield the text between the tags, with its size and face."""
    open_: list[tuple[float, Face]] = [(size, face)]
    for piece in _TAG.split(markup):
        if not piece.startswith("<") or not piece.endswith(">"):
            yield html.unescape(piece), *open_[-1]
        elif piece.startswith("</"):
            open_.pop()
        elif piece != "<br>":
            font_size, font = open_[-1]
            if resized := _SIZE.search(piece):
                font_size = float(resized[1])
            if "Code" in piece:
                font = "mono"
            elif (piece == "<b>" or "font-weight:700" in piece) and font == "sans":
                font = "sans bold"
            open_.append((font_size, font))


def wrapped_markup(markup: str, room: float, size: float = 12, face: Face = "sans") -> list[str]:
    """Return Plotly text in lines of at most `room` px, broken outside its tags where its language
    allows; tags must not span words.
    """
    lines: list[str] = []
    used = 0.0
    for gap, word in breakable(markup, _WORD):
        width = markup_width(word, size, face)
        space = text_width(gap, size, face)
        if lines and used + space + width <= room:
            lines[-1] += f"{gap}{word}"
            used += space + width
        else:
            lines.append(word)
            used = width
    return lines
