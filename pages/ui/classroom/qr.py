"""QR code of a link, as SVG."""

from __future__ import annotations

from html import escape

import segno

# Modules of white around the code, which readers need (ISO/IEC 18004).
QUIET = 4


def picture(link: str) -> str:
    """Return HTML with the link's QR code as an SVG image, black on white in both themes."""
    source = escape(_code(link).svg_data_uri(border=QUIET, dark="#000", light="#fff"))
    return f'<img class="de-qr" src="{source}" alt="QR code of {escape(link)}">'


def _code(link: str) -> segno.QRCode:
    return segno.make(link, error="m", micro=False)
