"""Render a drawing as PDF and as PNG with typst, with only the embedded fonts."""

from __future__ import annotations

import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import typst
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ...decoding.errors import FigureError
from ...language import N_, current
from .svg import SvgDrawing

# Points per px of the drawing.
_POINTS = 72 / 96
PRINT_DPI = 300
# Submission systems accept 1.5; from 1.6 on typst writes a `Suspects` entry, an error in Poppler.
PDF_VERSION: Literal["1.5"] = "1.5"
_SIZE = re.compile(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"')
_PAGE = """#set document(title: sys.inputs.title, date: none)
#set text(lang: "{language}")
#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: none)
#image("figure.svg", width: 100%, alt: sys.inputs.alt)
"""


def pdf(drawing: SvgDrawing) -> bytes:
    """Return a PDF 1.5 page of the drawing's printed size: vectors, and text with its fonts.

    Raises:
        FigureError: a bitmap in the drawing is damaged.
    """
    return _compile(drawing, "pdf")


def png(drawing: SvgDrawing, dpi: int = PRINT_DPI) -> bytes:
    """Return the drawing as PNG at this resolution of its printed size; the file states the dpi."""
    with Image.open(io.BytesIO(_compile(drawing, "png", dpi))) as image:
        metadata = PngInfo()
        metadata.add_itxt("Title", drawing.title)
        metadata.add_itxt("Description", drawing.alt)
        out = io.BytesIO()
        image.save(out, "PNG", dpi=(dpi, dpi), pnginfo=metadata)
    return out.getvalue()


def _compile(drawing: SvgDrawing, form: Literal["pdf", "png"], dpi: int = PRINT_DPI) -> bytes:
    points, text = drawing.scale * _POINTS, drawing.text
    width, height = (side * points for side in (drawing.width, drawing.height))
    if form == "png":
        text, width, height = _in_whole_pixels(text, width, height, dpi)
    page = _PAGE.format(language=current(), width=width, height=height)
    with TemporaryDirectory(prefix="figure-") as folder:
        root = Path(folder)
        (root / "figure.svg").write_text(text, encoding="utf-8")
        (root / "page.typ").write_text(page, encoding="utf-8")
        for at, face in enumerate(drawing.fonts.faces):
            (root / f"{at}.ttf").write_bytes(face.data)
        try:
            made: bytes = typst.compile(
                root / "page.typ",
                root=root,
                font_paths=[root],
                ignore_system_fonts=True,
                format=form,
                ppi=float(dpi),
                pdf_standards=[PDF_VERSION] if form == "pdf" else [],
                sys_inputs={"title": drawing.title, "alt": drawing.alt},
                package_path=root,
                package_cache_path=root,
            )
        except typst.TypstError as error:
            raise FigureError(N_("This picture of a figure is damaged.")) from error
        return made


def _in_whole_pixels(svg: str, width: float, height: float, dpi: int) -> tuple[str, float, float]:
    """Return the SVG and its size in points, adjusted to whole pixels.

    typst draws an SVG on a bitmap whose sides it rounds up, and drops a pixel row if the bitmap's
    proportions differ from the page's. A size slightly below whole pixels prevents rounding up.
    """
    across, down = (max(1, round(side * dpi / 72)) for side in (width, height))
    size = f'width="{across}" height="{down - 0.02}" preserveAspectRatio="none"'
    drawn = _SIZE.sub(lambda found: found[1] + size, svg, count=1)
    return drawn, (across - 0.01) * 72 / dpi, (down - 0.01) * 72 / dpi
