"""Repair the bitmaps in Plotly's SVG, such as a heatmap's cells."""

from __future__ import annotations

import io
from base64 import b64decode, b64encode

from PIL import Image, ImageChops

from ...decoding.errors import FigureError
from ...language import N_

PNG = "data:image/png;base64,"
# px: width of the gaps between cells; each is filled from its left, then from above.
_GAP = ((1, 0), (1, 0), (0, 1), (0, 1))


def without_dark_gaps(link: str) -> str:
    """Return the bitmap with the pixels between cells recoloured like their neighbours.

    These pixels are transparent black; PDF viewers that scale the bitmap turn them into grey lines.

    Raises:
        FigureError: the bitmap is damaged.
    """
    try:
        data = b64decode(link.removeprefix(PNG))
        with Image.open(io.BytesIO(data)) as image:
            image.verify()
        with Image.open(io.BytesIO(data)) as image:
            pixels = image.convert("RGBA")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FigureError(N_("This picture of a figure is damaged.")) from error
    alpha = pixels.getchannel("A")
    if alpha.getextrema() == (255, 255):
        return link
    colors, known = pixels.convert("RGB"), alpha.point(lambda value: 255 if value else 0)
    for across, down in _GAP:
        colors = Image.composite(colors, ImageChops.offset(colors, across, down), known)
        known = ImageChops.lighter(known, ImageChops.offset(known, across, down))
    colors.putalpha(alpha)
    out = io.BytesIO()
    colors.save(out, "PNG")
    return PNG + b64encode(out.getvalue()).decode()
