"""Figures in other languages: pseudo-localisation shows each text that is not marked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import plotly.graph_objects as go
import pytest

from core import figures
from core.figures import LIGHT
from core.figures.base.paper import SCREEN
from core.language import use
from tests.figures.gallery import draw, entries
from tests.language.pseudo import OPEN, use_pseudo

# Rooms whose texts are all marked, by the modules of their figures.
_ROOMS = re.compile(r"core\.figures\.(constraint|decode|guided|samplers)\.")
_SENTENCE = re.compile(r"[A-Za-z]{3,}[;:]? [a-z]{2,}[,;:]? [a-z]{2,}")
# Of the name of a run in the gallery.
_RUN = "and a long n"
_TAG = re.compile(r"<[^<>]*>")


def _texts(figure: go.Figure) -> Iterator[str]:
    """Yield what a figure itself writes: title, notes, titles of axes, alt text and subtitle."""
    layout = figure.layout
    yield from (note.text for note in layout.annotations)
    yield from (layout[name].title.text or "" for name in layout if name[1:5] == "axis")
    yield from (str(layout.meta.get(name, "")) for name in ("title", "subtitle", "alt"))


def test_every_text_of_a_figure_of_decode_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    use_pseudo(monkeypatch)
    bare, drawn = set[str](), 0
    for entry in entries():
        # Hostile entries have texts of strangers everywhere.
        module = getattr(getattr(figures, entry[1]), "__module__", "")
        if entry[0].startswith("hostile") or not _ROOMS.match(f"{module}."):
            continue
        with use("ja"):
            figure = draw(entry, theme=LIGHT, paper=SCREEN)
        drawn += 1
        texts = (_TAG.sub("", text.replace("\xa0", " ")) for text in _texts(figure))
        bare |= {
            f"{entry[0]}: {text}"
            for text in texts
            if OPEN not in text and _SENTENCE.search(text) and _RUN not in text
        }
    assert drawn > 10
    assert sorted(bare) == []
