"""The bitmaps in Plotly's SVG, such as a heatmap's cells."""

from __future__ import annotations

import binascii
import io
from base64 import b64decode, b64encode

import numpy as np
from PIL import Image

from core.decoding.errors import FigureError

PNG = "data:image/png;base64,"
# px: gaps between cells are so wide.
_GAP = 2


def without_dark_gaps(link: str) -> str:
    """Give the transparent pixels between cells the colour of their neighbours.

    They are a transparent black, of which a PDF viewer that scales the bitmap makes grey lines.

    Raises:
        FigureError: the bitmap is damaged.
    """
    try:
        data = b64decode(link.removeprefix(PNG))
        with Image.open(io.BytesIO(data)) as image:
            image.verify()
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image.convert("RGBA")).copy()
    except (
        OSError,
        SyntaxError,
        ValueError,
        binascii.Error,
        Image.DecompressionBombError,
    ) as error:
        raise FigureError("This picture of a figure is damaged.") from error
    if pixels[..., 3].all():
        return link
    known = pixels[..., 3] > 0
    for axis in (1, 0):
        for _ in range(_GAP):
            before = np.roll(known, 1, axis) & ~known
            pixels[..., :3][before] = np.roll(pixels[..., :3], 1, axis)[before]
            known |= before
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return PNG + b64encode(out.getvalue()).decode()
