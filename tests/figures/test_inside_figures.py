"""Figures that look inside: what is drawn follows from what was recorded."""

from __future__ import annotations

import pytest

from core.figures import (
    DARK,
    attention_map,
    attention_map_data,
    flame_chart,
    flame_chart_data,
    lens_heatmap,
    lens_heatmap_data,
    module_times,
    module_times_data,
    step_caption,
)
from core.figures.base.paper import Paper
from tests.figures.insides import make_attention, make_calls, make_forward, make_lens
from tests.figures.looking import annotations, assert_sound, shapes_named, trace_named
from tests.figures.traces import make_trace

CAPTION = "embedded:target · step 2"
FORWARDS = (("the prompt", make_forward(4)), ("this step", make_forward(1, 4)))


def test_what_the_page_draws_on_a_phone_is_sound() -> None:
    look = {"caption": CAPTION, "theme": DARK, "paper": Paper(370)}
    for figure in (
        flame_chart(make_calls(), **look),
        lens_heatmap(make_lens(), selected=12, **look),
        attention_map(make_attention(40, 8), **look),
        module_times((("the prompt", make_forward(4, layers=30)),), **look),
    ):
        assert_sound(figure)
        assert figure.layout.meta["caption"] == CAPTION
    assert "Nothing was recorded" in flame_chart((), **look).layout.meta["alt"]


def test_the_flame_has_a_bar_a_call_below_the_one_that_made_it() -> None:
    figure = flame_chart(make_calls(), caption=CAPTION)
    forward = trace_named(figure, "forward")
    assert (list(forward.base), list(forward.x), list(forward.y)) == ([3000.0], [1000.0], [2])
    assert {custom[0] for drawn in figure.data for custom in drawn.customdata} == {-1, 0, 1}
    assert [custom[0] for custom in forward.customdata] == [1]
    assert "Too short to be seen: 1 call." in " ".join(annotations(figure))
    table = flame_chart_data(make_calls())
    assert list(table["act"].unique()) == ["other", "forward", "shaping", "draw", "text", "record"]
    assert len(table) == 10 and table["step"].dropna().tolist() == [1, 2, 2, 2, 2, 2, 2, 2]


def test_the_lens_rings_the_layer_that_decided() -> None:
    lens = make_lens()
    figure = lens_heatmap(lens, caption=CAPTION, selected=12)
    rings = trace_named(figure, "chosen")
    # Rows count from the last layer down: layer i of 4 stands in row 3 - i.
    assert list(zip(rings.x, [base + 0.46 for base in rings.base], strict=True)) == [
        (0, 3), (1, 2), (2, 1)
    ]  # fmt: skip
    heat = trace_named(figure, "probability")
    assert [row[0] for row in heat.z] == [0.4, 0.3, 0.2, 0.1, None]
    assert figure.layout.xaxis.ticktext == ("11", "12", "13", "14")
    assert len(shapes_named(figure, "selected")) == 1
    table = lens_heatmap_data(lens)
    assert len(table) == 16
    assert table.groupby("position")["decided_here"].sum().tolist() == [1, 1, 1, 0]
    ranks = lens_heatmap(lens, caption=CAPTION, show="rank")
    texts = {text for drawn in ranks.data if drawn.type == "bar" for text in drawn.text or ()}
    assert {"1", "5"} <= texts


def test_attention_has_a_row_a_head_or_the_mean_of_many() -> None:
    seen = make_attention()
    (heat,) = attention_map(seen, caption=CAPTION).data
    assert [list(row) for row in heat.z] == [list(h) for layer in seen.weights for h in layer]
    (heatmap,) = attention_map(seen, caption=CAPTION, layer=1).data
    assert [list(row) for row in heatmap.z] == [list(head) for head in seen.weights[1]]
    many = attention_map(make_attention(40, 8), caption=CAPTION)
    assert len(many.data[0].z) == 40 and many.layout.yaxis.title.text == "layer"
    assert all(sum(row) == pytest.approx(1) for row in many.data[0].z)
    assert attention_map_data(seen).groupby(["layer", "head"])["weight"].sum().tolist() == [1.0] * 6


def test_modules_stand_beside_each_other_with_the_cache_around_them() -> None:
    figure = module_times(FORWARDS, caption=CAPTION)
    prompt, single = figure.data
    assert (prompt.name, single.name) == ("the prompt", "this step")
    assert list(prompt.x) == list(single.x) == pytest.approx([1, 2, 3, 4, 5, 6, 7, 8, 9])
    words = " ".join(annotations(figure)).replace("<br>", " ")
    assert "KV cache 0 tokens, 0.0 KiB → 4 tokens, 0.2 KiB" in words
    assert "KV cache 4 tokens, 0.2 KiB → 5 tokens, 0.3 KiB" in words
    table = module_times_data(FORWARDS)
    assert table["shape_in"].unique().tolist() == ["[1, 4, 8]", "[1, 1, 8]"]
    assert table["parameters"].sum() == 2 * 100 * sum(range(9))
    folded = module_times((("the prompt", make_forward(4, layers=30)),), caption=CAPTION)
    assert "a layer's attention" in folded.layout.yaxis.ticktext
    assert step_caption(make_trace(3), 1).endswith("seed 7 · step 2")
