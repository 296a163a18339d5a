"""`python -m core.export.make_fonts`: the variable fonts at the two weights of figures."""

from __future__ import annotations

import io

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from core.export.font_files import OWN, VARIABLE, covered

_FEATURES = ["kern", "mark", "mkmk"]


def make() -> None:
    """Write a file a family and weight, with kerning and without what no figure uses."""
    options = subset.Options()
    options.layout_features = _FEATURES
    options.hinting = False
    options.notdef_outline = True
    options.drop_tables += ["STAT", "HVAR", "MVAR", "avar"]
    for (family, weight), file in OWN.items():
        font = TTFont(io.BytesIO(VARIABLE[family].read()), recalcTimestamp=False)
        instancer.instantiateVariableFont(font, {"wght": weight}, inplace=True)
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(covered(VARIABLE[family])))
        cutter.subset(font)
        font.flavor = "woff2"
        font.save(file.path)


if __name__ == "__main__":
    make()
