"""Folds of controls: they tell what is set in them, also before they are drawn."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.ui.widgets.controls.knob import LAB_KNOBS
from tests.ui.conftest import Open
from tests.ui.knobs import shown_knobs


def more_settings(app: AppTest) -> tuple[str, str]:
    """The label of the fold and its hint."""
    folds = [block.proto.popover for block in app.get("popover")]
    (fold,) = (fold for fold in folds if fold.label.startswith("More settings"))
    return fold.label, fold.help


def test_a_short_label_counts_and_a_hint_names_the_controls_of_the_link_and_no_idle_one(
    open_app: Open,
) -> None:
    for address, count, hint in (
        ({}, 0, ""),
        ({"stop": ".", "cache": "false"}, 2, "Stop strings, KV cache"),
        ({"draw": "gumbel"}, 1, "Draw Gumbel"),
        ({"draw": "gumbel", "method": "greedy"}, 0, ""),
        ({"constraint": "choice", "rule_choice": "a"}, 1, "Constraint Choices"),
    ):
        app = open_app(**address)
        label = f"More settings ({count})" if count else "More settings"
        assert more_settings(app) == (label, hint), address
        app.text_area(key="stop").set_value("x").run()
        assert "Stop strings" in more_settings(app)[1]


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
