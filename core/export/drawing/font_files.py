"""Font files: the project's own, and system fonts for characters that these lack."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from pathlib import Path

from fontTools.ttLib import TTFont, TTLibError

from ...installation import ASSETS

FOLDER = ASSETS / "fonts"
# System fonts to try first, and name parts of styles that a figure's text doesn't use.
_PREFERRED = ("notosanscjk", "notosans", "hiragino", "yugoth", "malgun", "msyh", "pingfang")
_UNFIT = ("bold", "italic", "oblique", "serif", "light", "thin", "black", "medium", "mono", "color")
_MOST_FILES = 400


# Subset fonts need other names: "Source" is a reserved font name (OFL, THIRD_PARTY.md).
SANS, MONO = "Decoding Sans", "Decoding Mono"
REGULAR, BOLD = 400, 700
VARIABLE = {SANS: FOLDER / "source-sans.woff2", MONO: FOLDER / "source-code.woff2"}
# The variable fonts at two weights (`make_fonts.py`): instancing a weight takes seconds.
OWN = {
    (family, weight): file.with_stem(f"{file.stem}-{weight}")
    for family, file in VARIABLE.items()
    for weight in (REGULAR, BOLD)
}
# Uncompressed subsets with the characters that suffice for nearly every figure (`make_fonts.py`):
# subsetting and unpacking the whole fonts takes seconds.
USUAL = {kind: file.with_name(f"{file.stem}-usual.ttf") for kind, file in OWN.items()}
SIGNS = FOLDER / "signs.woff2"
# Families by which a figure's list of fonts names the fonts of the translations.
FAMILIES = {"ja": "Noto Sans JP", "ko": "Noto Sans KR"}
# Noto Sans with the characters of a language's catalogue alone (`make_fonts.py`), by language and
# weight.
TRANSLATED = {
    (language, weight): FOLDER / f"noto-sans-{region}-{weight}.woff2"
    for language, region in (("ja", "jp"), ("ko", "kr"))
    for weight in (REGULAR, BOLD)
}


@cache
def font_of(file: Path) -> TTFont:
    """Open a font file once and return its font; of a collection, the first font."""
    return TTFont(file, fontNumber=0, lazy=True)


@cache
def plain_font(file: Path) -> bytes:
    """Return the font's bytes without WOFF2 compression."""
    out = io.BytesIO()
    with TTFont(file, recalcTimestamp=False) as font:
        font.flavor = None
        font.save(out)
    return out.getvalue()


@cache
def covered(file: Path) -> frozenset[str]:
    """Return the characters that a font has an outline for; none if it can't be read."""
    try:
        with TTFont(file, fontNumber=0, lazy=True) as font:
            return frozenset(
                map(chr, (font.getBestCmap() or ()) if ("glyf" in font or "CFF " in font) else ())
            )
    except (TTLibError, OSError, AssertionError, KeyError):
        return frozenset()


@cache
def on_machine(character: str) -> Path | None:
    """Return the first system font file that has a character."""
    return next((file for file in _machine_fonts() if character in covered(file)), None)


@cache
def _machine_fonts() -> tuple[Path, ...]:
    """Return upright sans system fonts, the likeliest for CJK first; at most `_MOST_FILES`."""

    def order(path: Path) -> tuple[int, str]:
        stem = path.stem.lower().replace("-", "")
        preferred = (at for at, start in enumerate(_PREFERRED) if stem.startswith(start))
        return next(preferred, len(_PREFERRED)), str(path)

    fit = [
        path
        for folder in _font_folders()
        for suffix in ("ttf", "otf", "ttc")
        for path in folder.rglob(f"*.{suffix}")
        if not any(word in path.stem.lower() for word in _UNFIT)
    ]
    return tuple(sorted(fit, key=order)[:_MOST_FILES])


def _font_folders() -> list[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"]
    return [
        Path("/usr/share/fonts"),
        Path("/usr/local/share/fonts"),
        home / ".fonts",
        home / ".local/share/fonts",
    ]
