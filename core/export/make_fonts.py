"""`python -m core.export.make_fonts`: the variable fonts at the two weights of figures, and of each
of these the part that nearly every figure gets by with."""

from __future__ import annotations

import io

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from core.export.font_files import OWN, USUAL, VARIABLE, covered
from core.export.fonts import FEATURES, LICENCE, cut, set_names

_RANGES = ((0x20, 0x7F), (0xA0, 0x180), (0x370, 0x3D0), (0x2010, 0x2040), (0x2190, 0x2780))
_CHARACTERS = frozenset(chr(code) for first, end in _RANGES for code in range(first, end))


def make() -> None:
    """Write every file."""
    make_weights()
    make_usual()


def make_weights() -> None:
    """Write a file a family and weight, with kerning and without what no figure uses."""
    options = subset.Options()
    options.layout_features = FEATURES
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs += LICENCE
    options.drop_tables += ["STAT", "HVAR", "MVAR", "avar"]
    for (family, weight), file in OWN.items():
        font = TTFont(io.BytesIO(VARIABLE[family].read()), recalcTimestamp=False)
        instancer.instantiateVariableFont(font, {"wght": weight}, inplace=True)
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(covered(VARIABLE[family])))
        cutter.subset(font)
        set_names(font, family, weight)
        font.flavor = "woff2"
        font.save(file.path)


def make_usual() -> None:
    """Write of each the usual characters alone."""
    for kind, file in OWN.items():
        with cut(file.read(), _CHARACTERS & covered(file)) as font:
            font.save(USUAL[kind].path)


if __name__ == "__main__":
    make()
