"""Fonts of the figures, shipped as files with the app.

The first two are the fonts that Streamlit serves to the page (SIL Open Font License); the third is
a part of DejaVu Sans Mono with signs that both lack.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Literal, TypeAlias

from ...installation import ASSETS

Face: TypeAlias = Literal["sans", "sans bold", "mono", "signs"]

FOLDER = ASSETS / "fonts"
FONTS = {
    "sans": FOLDER / "source-sans.woff2",
    "mono": FOLDER / "source-code.woff2",
    "signs": FOLDER / "signs.woff2",
}
FAMILIES = {"sans": "Source Sans", "mono": "Source Code Pro", "signs": "Decoding Signs"}
# Weight of each face in its variable font; the font for signs has a single weight.
FACES: dict[Face, tuple[str, int | None]] = {
    "sans": ("sans", 400),
    "sans bold": ("sans", 700),
    "mono": ("mono", 400),
    "signs": ("signs", None),
}
ADVANCES = FOLDER / "advances.json"


def font_face(family: str, weight: int, woff2: bytes) -> str:
    """Return a `@font-face` rule with the font embedded."""
    source = f'url(data:font/woff2;base64,{b64encode(woff2).decode()}) format("woff2")'
    return f'@font-face{{font-family:"{family}";font-weight:{weight};src:{source}}}'
