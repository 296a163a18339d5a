"""Folds of controls: their labels name what is set in them, also before they are drawn."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.ui.widgets.controls.knob import LAB_KNOBS
from tests.ui.conftest import Open
from tests.ui.knobs import shown_knobs


def labels(app: AppTest) -> list[str]:
    return [block.proto.popover.label for block in app.get("popover")]


def test_the_label_names_the_controls_of_the_link_and_no_idle_one(open_app: Open) -> None:
    for address, label in (
        ({}, "More settings"),
        ({"stop": ".", "cache": "false"}, "More settings: Stop strings, KV cache"),
        ({"draw": "gumbel"}, "More settings: Draw Gumbel"),
        ({"draw": "gumbel", "method": "greedy"}, "More settings"),
        ({"constraint": "choice", "rule_choice": "a"}, "More settings: Constraint Choices"),
    ):
        app = open_app(**address)
        assert labels(app).count(label) == 1, address
        app.text_area(key="stop").set_value("x").run()
        (changed,) = (words for words in labels(app) if words.startswith("More settings"))
        assert "Stop strings" in changed


def test_temperature_and_top_p_are_in_sight_on_decode_and_a_link_sets_a_folded_knob(
    open_app: Open,
) -> None:
    knobs = shown_knobs(open_app(top_k="7"))
    assert {key for key, knob in knobs.items() if not knob["folded"]} == {"temperature", "top_p"}
    assert knobs["top_k"]["value"] == 7
    lab = shown_knobs(open_app("sampling.py"))
    grouped = {knob.key for knob in LAB_KNOBS if knob.group}
    assert {key for key, knob in lab.items() if knob["folded"]} == grouped


def test_the_idle_settings_of_watermarks_say_what_switches_them_on(open_app: Open) -> None:
    for address, idle in (({}, True), ({"watermark_bias": "2"}, False)):
        hints = [block.value for block in open_app(**address).caption]
        assert any("under More knobs" in hint for hint in hints) == idle
