"""Colour arithmetic: even ramps in OKLab, blending, and contrast according to WCAG 2.2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

Oklab: TypeAlias = tuple[float, float, float]


def _linear_rgb(color: str) -> tuple[float, ...]:
    channels = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


@lru_cache(maxsize=1024)
def to_oklab(color: str) -> Oklab:
    """Return the OKLab value of an `#rrggbb` colour (Ottosson 2020)."""
    r, g, b = _linear_rgb(color)
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    medium = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def from_oklab(lab: Oklab) -> str:
    """Return the `#rrggbb` colour of an OKLab value, clipped to sRGB."""
    lightness, a, b = lab
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    clipped = [min(max(channel, 0.0), 1.0) for channel in linear]
    encoded = [c * 12.92 if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in clipped]
    return "#" + "".join(f"{round(c * 255):02x}" for c in encoded)


def blend(first: str, second: str, share: float) -> str:
    """Return the colour at a `share` of the way from the first to the second colour in OKLab."""
    ends = zip(to_oklab(first), to_oklab(second), strict=True)
    lightness, a, b = (low + (high - low) * share for low, high in ends)
    return from_oklab((lightness, a, b))


def even_ramp(anchors: Sequence[str], count: int = 21) -> tuple[str, ...]:
    """Return colours along the anchors with equal OKLab distances between neighbours."""
    points = [to_oklab(color) for color in anchors]
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    ramp = []
    for step in range(count):
        remaining, leg = sum(lengths) * step / (count - 1), 0
        while leg < len(lengths) - 1 and remaining > lengths[leg]:
            remaining -= lengths[leg]
            leg += 1
        ramp.append(blend(anchors[leg], anchors[leg + 1], remaining / lengths[leg]))
    return tuple(ramp)


def on_ramp(ramp: Sequence[str], share: float) -> str:
    """Return the colour at a share of the ramp, clipped to [0, 1]; the low end for NaN."""
    place = min(max(share, 0.0), 1.0) * (len(ramp) - 1) if share == share else 0.0
    low = min(int(place), len(ramp) - 2)
    return blend(ramp[low], ramp[low + 1], place - low)


@lru_cache(maxsize=1024)
def luminance(color: str) -> float:
    """Return the relative luminance in [0, 1] (WCAG 2.2)."""
    return sum(s * c for s, c in zip((0.2126, 0.7152, 0.0722), _linear_rgb(color), strict=True))


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio in [1, 21] (WCAG 2.2)."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def readable_on(background: str, preferred: Sequence[str] = ("#16191d", "#f4f6f8")) -> str:
    """Return a text colour with a contrast of 4.5 or more: the first suitable preferred one, or
    black or white.
    """
    fitting = [color for color in preferred if contrast(color, background) >= 4.5]
    if fitting:
        return max(fitting, key=lambda color: contrast(color, background))
    return max(("#000000", "#ffffff"), key=lambda color: contrast(color, background))


def with_alpha(color: str, alpha: float) -> str:
    """Return the colour as CSS `rgba(...)`."""
    r, g, b = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha:g})"
