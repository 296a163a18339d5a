"""Controls: declared once, set by the address, turned into configs."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from core.decoding.autoregressive.config import Greedy
from core.decoding.errors import ConfigError, DecodingError
from core.decoding.requirements import require_given
from core.decoding.shaping.config import SETTINGS, Shaping
from core.models.scripted import ScriptedModel
from pages.ui.beam import controls as beam_controls
from pages.ui.decode import controls
from pages.ui.run.files import save as share
from pages.ui.widgets.controls.control import (
    LONGEST_TEXT,
    Control,
    Text,
    defaults,
    in_words,
    row_of,
)
from pages.ui.widgets.controls.knob import LAB_KNOBS
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS
from tests.figures.traces import make_trace
from tests.ui.conftest import ROOT, Open
from tests.ui.knobs import shown_knobs
from tests.ui.seen import texts


def test_every_control_is_declared_once() -> None:
    """A second row of the same key would take the first one's default and range."""
    kinds = {
        "Knob",
        "Slider",
        "Segments",
        "Menu",
        *(kind.__name__ for kind in Control.__subclasses__()),
    }
    keys = [
        call.args[0].value
        for path in (ROOT / "pages").rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in kinds
        if call.args and isinstance(call.args[0], ast.Constant)
    ]
    assert len(keys) > 40 and len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("The end.", ("The end.",)),
        ("a\nb", ("a", "b")),
        ("\\n\\n\nx\\ty", ("\n\n", "x\ty")),
        ("\n  \n", ("  ",)),
    ],
)
def test_stop_strings_stand_one_a_line(text: str, expected: tuple[str, ...]) -> None:
    assert controls.stop_strings(text) == expected


def test_no_field_takes_a_text_without_end() -> None:
    """One that was sent past the widget; the search's took 15 s at 600,000 characters."""
    assert len(Text(key="x", label="X", default="").fit("|" * 600_000)) == LONGEST_TEXT
    assert len(beam_controls.stop_strings("a|" * (LONGEST_TEXT // 2))) == LONGEST_TEXT // 2


def test_a_changed_control_is_named_once_whatever_declares_it_again(open_app: Open) -> None:
    (sentence,) = re.findall("Changed since this run: .*", texts(open_app(seed="5")))
    assert sentence.count("Seed") == 1


def test_greedy_keeps_the_penalties_and_drops_the_rest(open_app: Open) -> None:
    app = open_app(
        method="Greedy",
        temperature="0.3",
        penalty="1.2",
        frequency_penalty="0.5",
        presence_penalty="-0.25",
    )
    knobs = shown_knobs(app)
    firsts = {row.key for row in KNOB_ROWS if SETTINGS[row.knob.field].penalises}
    enabled = {key for key, shown in knobs.items() if shown["enabled"]}
    assert {"penalty", "frequency_penalty", "presence_penalty"} <= enabled <= firsts
    assert not enabled & {"temperature", "top_p"}
    assert app.selectbox(key="draw").disabled
    held = app.session_state
    config = controls.config(lambda key: held[key] if key in held else row_of(key).default)
    shaping = Shaping(repetition_penalty=1.2, frequency_penalty=0.5, presence_penalty=-0.25)
    assert config == Greedy(max_new_tokens=40, shaping=shaping)


def test_a_run_s_file_sets_the_lab_s_knobs_too(open_app: Open) -> None:
    app = open_app()
    shaping = Shaping(temperature=1.5, typical_p=0.7, epsilon_cutoff=0.02, eta_cutoff=0.03)
    run = make_trace(4)
    run = replace(run, config=replace(run.config, shaping=shaping))
    app.file_uploader[0].upload("run.json", share.trace_file(run), "application/json").run()
    assert {knob.field: app.session_state[knob.key] for knob in LAB_KNOBS} == {
        knob.field: getattr(shaping, knob.field) for knob in LAB_KNOBS
    }


def test_a_beam_sample_s_temperature_is_the_nearest_that_there_is() -> None:
    values = {**defaults(), "beam_sample": True, "beam_temperature": 0.0006}
    assert beam_controls.config(values.__getitem__).shaping.temperature == 0.001


def test_an_error_names_each_control_by_its_label() -> None:
    model = ScriptedModel({(): [1 / 8] * 8})
    with pytest.raises(ConfigError) as raised:
        require_given(model, [1, 2, 3], Greedy(max_new_tokens=2))
    assert "max_new_tokens" in str(raised.value)
    assert in_words(raised.value) == (
        "3 tokens are given and “New tokens” is 2; raise it, or give fewer."
    )
    own = DecodingError("The text 'max_new_tokens' needs max_new_tokens, top_x and no_repeat_y.")
    assert in_words(own) == ("The text 'max_new_tokens' needs “New tokens”, top_x and no_repeat_y.")


def test_a_further_number_of_a_setting_acts_while_that_is_on() -> None:
    (row,) = (row for row in KNOB_ROWS if row.key == "xtc_threshold")
    held = {**defaults(), "xtc_threshold": 0.3}
    for probability, threshold in ((0.0, Shaping().xtc_threshold), (0.5, 0.3)):
        read = {**held, "xtc_probability": probability}.__getitem__
        assert row.acts(read) is (probability > 0)
        assert controls.config(read).shaping.xtc_threshold == threshold
    assert row.knob.part_of == "xtc_probability"
