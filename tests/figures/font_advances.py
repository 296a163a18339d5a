"""Advance widths of the fonts; `python -m tests.figures.font_advances` writes them.

It needs fontTools, which figures do without.
"""

from __future__ import annotations

import json

from core.figures.base.fonts import ADVANCES, FACES, FONTS, Face


def measured() -> dict[Face, dict[str, str]]:
    """The advances as the fonts themselves have them: for each width its characters."""
    from fontTools.ttLib import TTFont

    faces: dict[Face, dict[str, str]] = {}
    for face, (name, weight) in FACES.items():
        font = TTFont(FONTS[name])
        glyphs = font.getGlyphSet(location={} if weight is None else {"wght": weight})
        em = font["head"].unitsPerEm
        runs: dict[str, str] = {}
        for code, glyph in sorted(font.getBestCmap().items()):
            advance = str(round(1000 * glyphs[glyph].width / em))
            runs[advance] = runs.get(advance, "") + chr(code)
        faces[face] = runs
    return faces


if __name__ == "__main__":
    ADVANCES.write_text(json.dumps(measured(), ensure_ascii=False), encoding="utf-8")
