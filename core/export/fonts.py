"""The fonts that travel with a figure: one a weight, cut to the figure's characters.

What Source Sans and Source Code lack is copied into them from the project's signs or from a font of
the machine, so that no renderer has to choose another font.
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

from core.export.font_files import (
    BOLD,
    OWN,
    SIGNS,
    USUAL,
    covered,
    font_of,
    on_machine,
    plain_font,
)
from core.figures.base.fonts import font_face

# In every face, so that most figures have the same ones, which are cut once.
_ALWAYS = frozenset(map(chr, range(0x20, 0x7F))) | set("\u00a0·×−–…’“”→␣↵")
_BOX = "missing"
# The entries of a font's names that say its licence and where that stands.
LICENCE = [13, 14]


@dataclass(frozen=True, slots=True)
class FontFile:
    """A font cut to some characters; `data` is a TrueType file."""

    family: str
    weight: int
    data: bytes

    def css(self) -> str:
        """Its `@font-face` rule, with the font in it."""
        return font_face(self.family, self.weight, _woff2(self.data))


@dataclass(frozen=True, slots=True)
class Fonts:
    """The faces of a figure's text, and the characters that no font here has: they are boxes."""

    faces: tuple[FontFile, ...]
    missing: str = ""

    def css(self) -> str:
        """All `@font-face` rules."""
        return "".join(face.css() for face in self.faces)


def fonts_for(used: Mapping[tuple[str, int], Iterable[str]], *, boxes: bool = True) -> Fonts:
    """The faces for a figure's characters.

    Args:
        used: characters by family (`SANS` or `MONO`) and weight.
        boxes: draw what no font here has as a box; else leave it to the reader's fonts.
    """
    characters_used = {c for characters in used.values() for c in characters}
    drawn = {c for c in characters_used if c.isprintable() or category(c) == "Zs"}
    # All in every face: a renderer shapes a whole text with each of its fonts, and where one lacks
    # a character it may draw everything with another.
    kinds = sorted(kind for kind, characters_of in used.items() if characters_of)
    missing = {c for c in drawn for kind in kinds if _file_of(c, *kind) is None}
    characters = "".join(sorted((drawn if boxes else drawn - missing) | _ALWAYS))
    return Fonts(tuple(_face(*kind, characters) for kind in kinds), "".join(sorted(missing)))


def _file_of(character: str, family: str, weight: int) -> Path | None:
    """The file that draws a character in a text of a family."""
    for file in (OWN[family, weight], SIGNS):
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
    """The font with these characters alone."""
    font = TTFont(io.BytesIO(source), recalcTimestamp=False)
    keep_only(font, characters, ["FFTM", "DSIG", "STAT"])
    return font


def keep_only(font: TTFont, characters: Iterable[str], dropped_tables: list[str]) -> None:
    """Cut a font to these characters, with kerning and without what no figure uses."""
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
    """Copy characters from other fonts; those without a file become the box for unknown ones."""
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
    """Give a font its names and its weight, by which renderers find it."""
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
    """The same font as browsers take it."""
    with TTFont(io.BytesIO(data), recalcTimestamp=False) as font:
        font.flavor = "woff2"
        return _saved(font)
