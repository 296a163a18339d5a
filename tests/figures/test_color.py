"""Ramps are even, text is readable."""

import math
from itertools import pairwise

import pytest

from core.figures.base.color import (
    contrast,
    from_oklab,
    luminance,
    readable_on,
    to_oklab,
)
from core.figures.base.theme import CATEGORIES, DARK, LIGHT, OKABE_ITO, Theme


def test_oklab_round_trip_keeps_a_colour():
    for color in ("#000000", "#ffffff", "#d55e00", "#123456"):
        assert from_oklab(to_oklab(color)) == color


def test_contrast_of_black_and_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert luminance("#ffffff") == pytest.approx(1)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("name", ["probability", "uncertainty"])
def test_ramps_change_lightness_one_way_in_even_steps(theme: Theme, name: str):
    points = [to_oklab(color) for color in getattr(theme, name)]
    steps = [math.dist(a, b) for a, b in pairwise(points)]
    assert max(steps) / min(steps) < 1.35
    lightness = [point[0] for point in points]
    assert lightness in (sorted(lightness), sorted(lightness, reverse=True))
    assert abs(lightness[0] - lightness[-1]) > 0.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_low_probability_fades_into_the_paper(theme: Theme):
    assert contrast(theme.probability_color(0.0), theme.paper) < 1.15
    assert contrast(theme.probability_color(1.0), theme.paper) > 7


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_over_every_cell_has_contrast_of_4_5(theme: Theme):
    grounds = [theme.probability_color(share / 200) for share in range(201)]
    grounds += [theme.uncertainty_color(share / 200) for share in range(201)]
    grounds += [*CATEGORIES, *OKABE_ITO.values(), theme.rest, theme.accent]
    assert all(contrast(theme.text_on(ground), ground) >= 4.5 for ground in grounds)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_words_on_paper_have_contrast_of_4_5(theme: Theme):
    for color in (theme.ink, theme.muted, theme.accent_text()):
        assert contrast(color, theme.paper) >= 4.5
    for color in (theme.accent, theme.first, theme.second):
        assert contrast(color, theme.paper) >= 3


def test_readable_on_always_finds_a_colour():
    for level in range(256):
        grey = f"#{level:02x}{level:02x}{level:02x}"
        assert contrast(readable_on(grey), grey) >= 4.5
