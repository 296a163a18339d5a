"""Fonts embedded in a figure: one per family and weight, subset to the figure's characters.

Characters that Source Sans and Source Code lack are copied into them from the project's signs, from
the fonts of its translations or from a system font, so that no renderer has to choose another font.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unicodedata import category

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from ...figures.base.fonts import font_face
from .font_files import (
    BOLD,
    OWN,
    SIGNS,
    TRANSLATED,
    USUAL,
    covered,
    font_of,
    on_machine,
    plain_font,
)

# Part of every face, so that most figures share the same cached subsets.
_ALWAYS = frozenset(map(chr, range(0x20, 0x7F))) | set("\u00a0·×−–…’“”→␣↵")
_BOX = "missing"
# Name ids of a font's licence and its URL.
LICENCE = [13, 14]


@dataclass(frozen=True, slots=True)
class FontFile:
    """A font subset to some characters; `data` is a TrueType file."""

    family: str
    weight: int
    data: bytes

    def css(self) -> str:
        """Return the `@font-face` rule with the font embedded."""
        return font_face(self.family, self.weight, _woff2(self.data))


@dataclass(frozen=True, slots=True)
class Fonts:
    """The faces of a figure's text, and the characters drawn as boxes because no font has them."""

    faces: tuple[FontFile, ...]
    missing: str = ""

    def css(self) -> str:
        """Return all `@font-face` rules."""
        return "".join(face.css() for face in self.faces)


def fonts_for(used: Mapping[tuple[str, int], Iterable[str]], *, boxes: bool = True) -> Fonts:
    """Return the faces for a figure's characters.

    Args:
        used: characters by family (`SANS` or `MONO`) and weight.
        boxes: draw characters that no font has as boxes; else leave them to the reader's fonts.
    """
    characters_used = {c for characters in used.values() for c in characters}
    drawn = {c for c in characters_used if c.isprintable() or category(c) == "Zs"}
    # Every face gets all characters: a renderer shapes a whole text with each of its fonts, and if
    # one lacks a character, it may draw the whole text with another font.
    kinds = sorted(kind for kind, characters_of in used.items() if characters_of)
    missing = {c for c in drawn for kind in kinds if _file_of(c, *kind) is None}
    characters = "".join(sorted((drawn if boxes else drawn - missing) | _ALWAYS))
    return Fonts(tuple(_face(*kind, characters) for kind in kinds), "".join(sorted(missing)))


def _file_of(character: str, family: str, weight: int) -> Path | None:
    """Return the font file that draws a character in a family and weight; None if there is none."""
    translated = (file for (_, drawn), file in TRANSLATED.items() if drawn == weight)
    for file in (OWN[family, weight], SIGNS, *translated):
        if character in covered(file):
            return file
    return on_machine(character)


@cache
def _face(family: str, weight: int, characters: str) -> FontFile:
    covered_characters = {c for c in characters if c in covered(OWN[family, weight])}
    usual = USUAL[family, weight]
    source = (
        usual.read_bytes()
        if covered_characters <= covered(usual)
        else plain_font(OWN[family, weight])
    )
    with cut(source, covered_characters) as font:
        _add(
            font,
            {c: _file_of(c, family, weight) for c in characters if c not in covered_characters},
        )
        set_names(font, family, weight)
        return FontFile(family, weight, _saved(font))


def cut(source: bytes, characters: Iterable[str]) -> TTFont:
    """Return the font with only these characters."""
    font = TTFont(io.BytesIO(source), recalcTimestamp=False)
    keep_only(font, characters, ["FFTM", "DSIG", "STAT"])
    return font


def keep_only(font: TTFont, characters: Iterable[str], dropped_tables: list[str]) -> None:
    """Subset a font to these characters, with kerning and without unused features."""
    options = subset.Options()
    options.layout_features = ["kern", "mark", "mkmk"]
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs += LICENCE
    options.drop_tables += dropped_tables
    cutter = subset.Subsetter(options)
    cutter.populate(text="".join(characters))
    cutter.subset(font)


def _add(font: TTFont, files: Mapping[str, Path | None]) -> None:
    """Copy characters from other fonts; characters without a file get the missing-glyph box."""
    if not files:
        return
    mapping = dict(font.getBestCmap() or {})
    for character, file in files.items():
        name = _BOX if file is None else f"u{ord(character):04X}"
        if name not in font.getGlyphOrder():
            _copy(font, name, file, character)
        mapping[ord(character)] = name
    FontBuilder(font=font).setupCharacterMap(mapping)


def _copy(font: TTFont, name: str, file: Path | None, character: str) -> None:
    source = font if file is None else font_of(file)
    old = ".notdef" if file is None else source.getBestCmap()[ord(character)]
    glyphs = source.getGlyphSet()
    drawn = DecomposingRecordingPen(glyphs)
    glyphs[old].draw(drawn)
    scale = font["head"].unitsPerEm / source["head"].unitsPerEm
    pen = TTGlyphPen(None)
    curves = Cu2QuPen(pen, max_err=1.0, reverse_direction="glyf" not in source)
    drawn.replay(TransformPen(curves, (scale, 0, 0, scale, 0, 0)))
    font.setGlyphOrder([*font.getGlyphOrder(), name])
    font["glyf"][name] = pen.glyph()
    font["hmtx"][name] = (round(glyphs[old].width * scale), 0)


def set_names(font: TTFont, family: str, weight: int) -> None:
    """Set a font's names and weight, by which renderers find it."""
    style = "Bold" if weight == BOLD else "Regular"
    names = font["name"]
    names.names = [entry for entry in names.names if entry.nameID in (0, *LICENCE)]
    full = f"{family} {style}"
    for number, text in (
        (1, family),
        (2, style),
        (3, full),
        (4, full),
        (6, f"{family.replace(' ', '')}-{style}"),
    ):
        names.setName(text, number, 3, 1, 0x409)
    font["OS/2"].usWeightClass = weight
    font["OS/2"].fsSelection = 0x20 if weight == BOLD else 0x40
    font["head"].macStyle = int(weight == BOLD)


def _saved(font: TTFont) -> bytes:
    out = io.BytesIO()
    font.save(out)
    return out.getvalue()


@cache
def _woff2(data: bytes) -> bytes:
    """Return the font compressed as WOFF2, for browsers."""
    with TTFont(io.BytesIO(data), recalcTimestamp=False) as font:
        font.flavor = "woff2"
        return _saved(font)
