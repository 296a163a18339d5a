"""A picture as Plotly writes one: styles, random ids, an invisible bar, a bitmap."""

from __future__ import annotations

import io
from base64 import b64encode

from PIL import Image


def _pixel() -> str:
    out = io.BytesIO()
    Image.new("RGB", (2, 2), "#0072b2").save(out, "PNG")
    return "data:image/png;base64," + b64encode(out.getvalue()).decode()


PIXEL = _pixel()


def raw(
    text: str = "word",
    *,
    id_: str = "3f9a2c",
    more: str = "",
    size: tuple[float, float] = (320, 100),
) -> str:
    """An SVG of so many px with this text, escaped already."""
    width, height = size
    return (
        '<svg class="main-svg" xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="{width}" height="{height}" '
        'style="fill: rgb(255, 255, 255); fill-opacity: 1;"/>'
        f'<defs id="defs-{id_}"><clipPath id="clip{id_}xy"><rect width="9" height="9"/></clipPath>'
        f'</defs><g class="bars" clip-path="url(#clip{id_}xy)">'
        '<path d="M0,0H9V9H0Z" style="opacity: 0; fill: rgb(0, 0, 0);"/>'
        '<path d="M0,0H5V5H0Z" style="opacity: 1; fill: rgb(0, 114, 178);"/></g>'
        f'<image xlink:href="{PIXEL}" width="4" height="4"/>{more}'
        '<text x="10" y="40" style="font-family: \'Source Sans\', \'Noto Sans\', sans-serif; '
        f'font-size: 12px; white-space: pre;">{text}<tspan style="font-weight:700">bold</tspan>'
        "</text></svg>"
    )
