"""Fonts of the translations: exported figures need no font of the machine for their own texts."""

from __future__ import annotations

import io
import json
from unicodedata import east_asian_width

import pytest
from fontTools.pens.areaPen import AreaPen
from fontTools.ttLib import TTFont

from core import figures
from core.export.drawing import fonts
from core.export.drawing.font_files import BOLD, REGULAR, SANS, TRANSLATED, covered
from core.export.drawing.make_fonts import characters_of
from core.figures.base.labels import exact_plain
from core.language import use
from tests.figures.manys import make_many


@pytest.mark.parametrize(("language", "weight"), list(TRANSLATED))
def test_a_font_has_the_characters_of_its_catalogue(language: str, weight: int) -> None:
    """Where it fails: `python -m core.export.drawing.make_fonts`."""
    assert sorted(characters_of(language) - covered(TRANSLATED[language, weight])) == []


@pytest.mark.parametrize("character", ["分", "갈"])
def test_bold_text_of_a_translation_is_drawn_by_a_bold_font(character: str) -> None:
    regular, bold = fonts.fonts_for({(SANS, weight): character for weight in (REGULAR, BOLD)}).faces
    assert (regular.weight, bold.weight) == (REGULAR, BOLD)
    assert 1.2 * _ink(regular.data, character) < _ink(bold.data, character)


def _ink(data: bytes, character: str) -> float:
    """Return the area of a character's outline, in square ems."""
    font = TTFont(io.BytesIO(data))
    pen = AreaPen(glyphs := font.getGlyphSet())
    glyphs[font.getBestCmap()[ord(character)]].draw(pen)
    return abs(float(pen.value)) / font["head"].unitsPerEm ** 2


@pytest.mark.parametrize(
    ("language", "title"), [("ja", "実行が分かれる場所"), ("ko", "실행이 갈라지는 곳")]
)
def test_a_translated_figure_is_drawn_without_the_machine_s_fonts(
    language: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "on_machine", lambda _: None)
    with use(language):
        figure = figures.many_tree(make_many())
    assert exact_plain(figure.layout.meta["title"]) == title
    words = json.dumps(figure.to_plotly_json(), ensure_ascii=False, default=str)
    asian = {character for character in words if east_asian_width(character) in "WF"}
    assert len(asian) > 20 and fonts.fonts_for({(SANS, REGULAR): asian}).missing == ""
