"""`python -m core.export.drawing.make_fonts`: make the figures' fonts from the variable fonts.

Each font gets two weights, and for each a subset that suffices for nearly every figure. The fonts
of the translations are made from Debian's fonts-noto-cjk.
"""

from __future__ import annotations

import io
from pathlib import Path
from unicodedata import east_asian_width

from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from ...language.catalogue import DOMAIN, LOCALES
from .font_files import BOLD, OWN, REGULAR, TRANSLATED, USUAL, VARIABLE, covered, plain_font
from .fonts import cut, keep_only, set_names

_RANGES = ((0x20, 0x7F), (0xA0, 0x180), (0x370, 0x3D0), (0x2010, 0x2040), (0x2190, 0x2780))
_NOTO = Path("/usr/share/fonts/opentype/noto")
_COLLECTIONS = {REGULAR: "NotoSansCJK-Regular.ttc", BOLD: "NotoSansCJK-Bold.ttc"}
# Place of each language's font in a collection.
_FONTS = {"ja": 0, "ko": 1}
_CHARACTERS = frozenset(chr(code) for first, end in _RANGES for code in range(first, end))


def make() -> None:
    """Write all font files."""
    make_weights()
    make_usual()
    make_translated()


def make_weights() -> None:
    """Write one file for each family and weight."""
    for (family, weight), file in OWN.items():
        font = TTFont(io.BytesIO(plain_font(VARIABLE[family])), recalcTimestamp=False)
        instancer.instantiateVariableFont(font, {"wght": weight}, inplace=True)
        keep_only(font, covered(VARIABLE[family]), ["STAT", "HVAR", "MVAR", "avar"])
        set_names(font, family, weight)
        font.flavor = "woff2"
        font.save(file)


def make_usual() -> None:
    """Write a subset with the usual characters for each file."""
    for kind, file in OWN.items():
        with cut(plain_font(file), _CHARACTERS & covered(file)) as font:
            font.save(USUAL[kind])


def make_translated() -> None:
    """Write a font for each language and weight, with the characters that its catalogue needs."""
    for (language, weight), file in TRANSLATED.items():
        collection = _NOTO / _COLLECTIONS[weight]
        font = TTFont(collection, fontNumber=_FONTS[language], recalcTimestamp=False)
        keep_only(font, characters_of(language), ["BASE", "VORG", "vhea", "vmtx"])
        font.flavor = "woff2"
        font.save(file)


def characters_of(language: str) -> set[str]:
    """Return the East Asian characters of a catalogue."""
    text = (LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po").read_text(encoding="utf-8")
    return {character for character in text if east_asian_width(character) in "WF"}


if __name__ == "__main__":
    make()
