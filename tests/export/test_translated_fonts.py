"""Fonts of the translations: exported figures need no font of the machine for their own texts."""

from __future__ import annotations

import json
from unicodedata import east_asian_width

import pytest

from core import figures
from core.export.drawing import fonts
from core.export.drawing.font_files import REGULAR, SANS, TRANSLATED, covered
from core.export.drawing.make_fonts import characters_of
from core.figures.base.labels import exact_plain
from core.language import use
from tests.figures.manys import make_many


@pytest.mark.parametrize("language", list(TRANSLATED))
def test_a_font_has_the_characters_of_its_catalogue(language: str) -> None:
    """Where it fails: `python -m core.export.drawing.make_fonts`."""
    assert sorted(characters_of(language) - covered(TRANSLATED[language])) == []


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
