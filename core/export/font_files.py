"""Font files: the project's own, and those of the machine for what its own lack."""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from pathlib import Path

from fontTools.ttLib import TTFont, TTLibError

FOLDER = Path(__file__).parents[2] / "assets" / "fonts"
# Fonts of the machine that are tried first, and what a figure's text isn't set in.
_PREFERRED = ("notosanscjk", "notosans", "hiragino", "yugoth", "malgun", "msyh", "pingfang")
_UNFIT = ("bold", "italic", "oblique", "serif", "light", "thin", "black", "medium", "mono", "color")
_MOST_FILES = 400


# Cut fonts have names of their own: "Source" is reserved (OFL, THIRD_PARTY.md).
SANS, MONO = "Decoding Sans", "Decoding Mono"
REGULAR, BOLD = 400, 700
VARIABLE = {SANS: FOLDER / "source-sans.woff2", MONO: FOLDER / "source-code.woff2"}
# The variable fonts at two weights (`make_fonts.py`): working a weight out takes seconds.
OWN = {
    (family, weight): file.with_stem(f"{file.stem}-{weight}")
    for family, file in VARIABLE.items()
    for weight in (REGULAR, BOLD)
}
# Of these, the characters that nearly every figure has no more of, uncompressed (`make_fonts.py`):
# cutting and unpacking the whole fonts takes seconds.
USUAL = {kind: file.with_name(f"{file.stem}-usual.ttf") for kind, file in OWN.items()}
SIGNS = FOLDER / "signs.woff2"


@cache
def font_of(file: Path) -> TTFont:
    """The font of a file, opened once; of a collection its first font."""
    return TTFont(file, fontNumber=0, lazy=True)


@cache
def plain_font(file: Path) -> bytes:
    """The font's bytes, without a browser's compression."""
    out = io.BytesIO()
    with TTFont(file, recalcTimestamp=False) as font:
        font.flavor = None
        font.save(out)
    return out.getvalue()


@cache
def covered(file: Path) -> frozenset[str]:
    """The characters that a font has an outline for; none if it can't be read."""
    try:
        with TTFont(file, fontNumber=0, lazy=True) as font:
            return frozenset(
                map(chr, (font.getBestCmap() or ()) if ("glyf" in font or "CFF " in font) else ())
            )
    except (TTLibError, OSError, AssertionError, KeyError):
        return frozenset()


@cache
def on_machine(character: str) -> Path | None:
    """The first font of the machine that has a character."""
    return next((file for file in _machine_fonts() if character in covered(file)), None)


@cache
def _machine_fonts() -> tuple[Path, ...]:
    """Upright sans fonts of the machine, the likeliest for CJK first; at most so many files."""

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
