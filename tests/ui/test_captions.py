"""A caption that the page says once is in none of its figures."""

import json
from functools import partial

from streamlit.testing.v1 import AppTest

from core.figures import probability_heatmap, settings_caption
from core.figures.base.paper import WIDE
from core.figures.base.plain import plain_values
from core.figures.base.theme import LIGHT
from pages.ui.widgets import figure
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
        assert "caption" not in [one.get("name") for one in spec["layout"]["annotations"]]


def test_without_its_caption_a_figure_stands_as_it_stood_and_ends_higher() -> None:
    whole = plain_values(probability_heatmap(make_trace()))
    bare = json.loads(
        figure.FigureLook(LIGHT, WIDE.width)
        .drawing(partial(probability_heatmap, make_trace()))
        .text
    )
    heights, margins = zip(
        *((one["layout"]["height"], one["layout"]["margin"]) for one in (whole, bare)),
        strict=True,
    )
    assert heights[0] - heights[1] == margins[0]["b"] - margins[1]["b"] > 0
    assert margins[0]["t"] == margins[1]["t"]
    # The colour bar is placed from the plotting area, which is as high.
    one, other = (
        next(trace["colorbar"]["y"] for trace in look["data"] if trace["type"] == "heatmap")
        for look in (whole, bare)
    )
    assert one == other
    assert any(note.get("name") == "caption" for note in whole["layout"]["annotations"])
    assert bare["layout"]["words"]["caption"] == whole["layout"]["meta"]["caption"]


def test_what_one_page_says_is_no_other_page_s() -> None:
    def script() -> None:
        import streamlit as st

        from pages.ui.widgets import figure

        st.session_state["page_before"] = ""
        figure.said("settings")
        figure.said_before("older settings")
        st.text(" and ".join(figure._said()))
        st.session_state["page_before"] = "inside"
        st.text(len(figure._said()))

    texts = [text.value for text in AppTest.from_function(script).run().text]
    assert texts == ["settings and older settings", "0"]
