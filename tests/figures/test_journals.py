"""Every figure of the gallery as journals take it, and the words of its caption."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from core.decoding.errors import FigureError
from core.figures import GREY, LIGHT, THEMES, printed, probability_heatmap
from core.figures.base.color import contrast
from core.figures.base.labels import safe_plain
from core.figures.base.paper import BODY
from core.figures.journal.journals import JOURNALS
from core.figures.journal.key_words import SHAPES
from tests.figures.gallery import draw, entries
from tests.figures.looking import trace_named
from tests.figures.traces import make_trace

NATURE = printed(journal="nature")
_SPAN = re.compile(r'<span style="color:(#[0-9a-f]{6})[^"]*">(?:<b>)?([^<]*)')
_COLORS = re.compile(
    r"\b(colou?r\w*|orange|blue|green|yellow|red|purple|vermill?ion|gr[ae]y|hatched)\b", re.I
)


@cache
def drawn(theme: str) -> dict[str, go.Figure]:
    """Every figure in a column of Nature, by the entry's name."""
    return {e[0]: draw(e, theme=THEMES[theme], paper=NATURE) for e in entries()}


def fonts(value: Any) -> Iterator[dict[str, Any]]:
    """The fonts of a figure's JSON but those of hover labels."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from fonts(item)
    if isinstance(value, dict):
        for name, item in value.items():
            if name.endswith("font") and isinstance(item, dict):
                yield item
            elif name != "hoverlabel":
                yield from fonts(item)


def written(value: Any) -> Iterator[str]:
    """The texts that a figure draws."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if name in ("text", "ticktext"):
            yield from (
                text
                for text in (item if isinstance(item, list | tuple) else [item])
                if isinstance(text, str)
            )
        if isinstance(item, dict | list | tuple) and name != "meta":
            yield from written(item)


@pytest.mark.parametrize(
    ("journal", "column", "page"),
    [
        ("nature", 89, 183),
        ("icml", 3.25 * 25.4, 6.75 * 25.4),
        ("neurips", 5.5 * 25.4, 5.5 * 25.4),
        ("acl", 3.3 * 25.4, 6.8 * 25.4),
    ],
)
def test_a_journal_has_its_widths(journal: str, column: float, page: float) -> None:
    assert printed(journal=journal).mm == pytest.approx(column)
    assert printed("page", journal=journal).mm == pytest.approx(page)
    assert printed(journal=journal).type_pt == pytest.approx(JOURNALS[journal].type_pt, rel=1e-3)


def test_a_journal_is_refused_in_a_sentence() -> None:
    # Widths have names without a journal too.
    assert printed() == printed("85mm") and printed("page") == printed("174mm")
    with pytest.raises(FigureError, match="no journal “Science”; there are nature"):
        printed(journal="Science")
    with pytest.raises(FigureError, match="in print, such as 89mm"):
        printed("640px", journal="nature")


def test_title_and_settings_are_in_the_caption_unless_asked_for_in_the_picture() -> None:
    trace = make_trace(4)
    for paper, there in ((NATURE, False), (printed(journal="nature", title=True), True)):
        figure = probability_heatmap(trace, paper=paper)
        assert bool(figure.layout.title.text) is there
        assert not [note for note in figure.layout.annotations if note.name == "caption"]
        # The settings are said once.
        assert figure.layout.meta["caption"].count("embedded:target") == 1


@pytest.mark.parametrize("theme", ["light", "grey"])
def test_every_figure_has_type_of_the_journals_sizes_in_black_or_white(theme: str) -> None:
    points = NATURE.type_pt / BODY
    for name, figure in drawn(theme).items():
        values = figure.to_dict()
        for font in fonts(values):
            for size in np.atleast_1d(font.get("size", BODY)):
                assert 5 <= round(size * points, 3) <= 7, (name, size)
            for color in np.atleast_1d(font.get("color", "#000000")):
                assert color in ("#000000", "#ffffff") or color.startswith("rgba(0,0,0,0"), name
        for text in written(values):
            for size in map(float, re.findall(r"font-size:([0-9.]+)px", text)):
                assert 5 <= round(size * points, 3) <= 7, (name, text)
            for color, words in _SPAN.findall(text):
                assert words in SHAPES or color in ("#000000", "#ffffff"), (name, text)


@pytest.mark.parametrize("theme", ["light", "grey"])
def test_no_figure_has_gridlines_or_hatching_and_axes_have_lines_and_ticks(theme: str) -> None:
    for name, figure in drawn(theme).items():
        values = figure.to_dict()
        assert '"pattern"' not in figure.to_json(), name
        axes = {k: v for k, v in values["layout"].items() if k.startswith(("xaxis", "yaxis"))}
        for axis in axes.values():
            assert axis.get("showgrid") is False or axis.get("visible") is False, name
            if axis.get("visible", True) and axis.get("showticklabels", True):
                assert axis["showline"] and axis["ticks"] == "outside", name
                assert axis["linecolor"] == axis["tickcolor"] == "#000000", name


def test_bars_that_were_hatched_differ_from_their_neighbours() -> None:
    for theme in (LIGHT, GREY):
        final = draw(_entry("candidate_bars 5"), theme=theme, paper=NATURE)
        assert len(set(trace_named(final, "final").marker.color[:5])) == 5
        both = draw(_entry("trial 1 1"), theme=theme, paper=NATURE)
        fills = [d.marker.color for d in both.data if d.name in ("both", "target only")]
        assert all(contrast(fill, theme.paper) > 1.25 for fill in fills) and fills[0] != fills[1]


def _entry(name: str) -> Any:
    return next(entry for entry in entries() if entry[0] == name)


def test_in_grey_nothing_speaks_of_colour() -> None:
    column = printed("85mm")
    for entry in entries():
        name = entry[0]
        # Tokens may be the names of colours, and a watermark's list is called green.
        if name.startswith(("hostile", "beam_tree", "lab_tree", "many_", "methods_", "green list")):
            continue
        ordinary = draw(entry, theme=GREY, paper=column).layout
        texts = [note.text for note in ordinary.annotations]
        texts += [*ordinary.meta.values(), *drawn("grey")[name].layout.meta.values()]
        for text in (text for text in texts if isinstance(text, str)):
            assert not _COLORS.search(re.sub("<[^>]*>|#[0-9a-f]{6}", "", text)), (name, text)


def test_the_caption_explains_each_symbol_of_the_key() -> None:
    for theme in ("light", "grey"):
        for name, figure in drawn(theme).items():
            caption = figure.layout.meta["caption"].replace("\u00a0", " ")
            for note in figure.layout.annotations:
                if note.name != "key":
                    continue
                for words in re.findall(r"</span>([^<]*)", note.text):
                    label = safe_plain(unescape(words)).replace("\u00a0", " ").strip()
                    assert label in caption, (name, label)


def test_signs_of_one_key_have_different_names() -> None:
    sign = re.compile(rf"(?:^|[;.] )([A-Za-z ]*\b(?:{'|'.join(set(SHAPES.values()))})): ")
    for name, figure in drawn("light").items():
        signs = [sign_name.lower() for sign_name in sign.findall(figure.layout.meta["shows"])]
        assert len(set(signs)) == len(signs), (name, signs)
