"""A caption that the page says once is in none of its figures."""

import json
from functools import partial

import pytest

from core.figures import probability_heatmap, settings_caption
from core.figures.base.labels import safe_plain
from core.figures.base.paper import WIDE
from core.figures.base.sheet import plain_values
from core.figures.base.theme import LIGHT
from pages.ui.run.figures import figure
from tests.figures.traces import make_trace
from tests.ui.conftest import Open
from tests.ui.seen import specs, texts


def test_the_page_says_what_made_its_figures_once(open_app: Open) -> None:
    # The knobs stand as the run's do: with others its steps are shaped anew, under another caption.
    app = open_app(top_p="0.9", seed="7", tokens="12")
    caption = settings_caption(make_trace())
    assert texts(app).count(caption) == 1
    for spec in specs(app):
        assert spec["layout"]["words"]["caption"] == caption
        assert "caption" not in [note.get("name") for note in spec["layout"]["annotations"]]


def test_without_its_caption_a_figure_stands_as_it_stood_and_ends_higher() -> None:
    draw = partial(probability_heatmap, make_trace())
    on_page = figure.FigureLook(LIGHT, WIDE.width).drawing(draw).text
    drawn = [plain_values(draw()), json.loads(on_page)]
    whole, bare = (look["layout"] for look in drawn)
    assert whole["height"] - bare["height"] == whole["margin"]["b"] - bare["margin"]["b"] > 0
    assert whole["margin"]["t"] == bare["margin"]["t"]
    # The colour bar is placed from the plotting area, which is as high.
    with_caption, without_caption = (
        next(trace["colorbar"]["y"] for trace in look["data"] if trace["type"] == "heatmap")
        for look in drawn
    )
    assert with_caption == without_caption
    assert any(note.get("name") == "caption" for note in whole["annotations"])
    assert bare["words"]["caption"] == whole["meta"]["caption"]


def test_what_one_page_says_is_no_other_page_s(monkeypatch: pytest.MonkeyPatch) -> None:
    state = {"page_before": ""}
    monkeypatch.setattr(figure.st, "session_state", state)
    figure.omit_captions("settings")
    figure.also_omit("older settings")
    assert list(figure._omitted_captions()) == ["settings", "older settings"]
    figure.omit_captions('breakers "*"')
    assert figure._omitted_captions() == (safe_plain('breakers "*"'),)
    state["page_before"] = "inside"
    assert not figure._omitted_captions()
