"""Controls: declared once, set by the address, turned into configs."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.shaping.config import Shaping
from pages.ui.beam import controls as beam_controls
from pages.ui.decode import controls
from pages.ui.run import save as share
from pages.ui.widgets.control import LONGEST_TEXT, Text, defaults
from pages.ui.widgets.knob import LAB_KNOBS
from tests.figures.traces import make_trace
from tests.ui.conftest import ROOT, Open
from tests.ui.knobs import shown_knobs
from tests.ui.seen import texts


def test_every_control_is_declared_once() -> None:
    """A second row of the same key would take the first one's default and range."""
    keys = [key for path in (ROOT / "pages").rglob("*.py") for key in _declared(path)]
    assert len(keys) > 40 and len(keys) == len(set(keys))


def _declared(path: Path) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    kinds = {"Number", "Choice", "Menu", "Text", "Toggle", "Knob"}
    rows = [call for call in calls if getattr(call.func, "id", "") in kinds and call.args]
    return [row.args[0].value for row in rows if isinstance(row.args[0], ast.Constant)]


def test_the_defaults_are_a_sampling_config() -> None:
    assert controls.config() == Sampling(
        max_new_tokens=40, seed=16, shaping=Shaping(temperature=0.8, top_p=0.95)
    )


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


def test_the_address_sets_the_controls(open_app: Open) -> None:
    app = open_app(temperature="1.25", top_k="5", tokens="12", prompt="日本の", seed="99")
    shown = shown_knobs(app)
    assert (shown["temperature"]["value"], shown["top_k"]["value"]) == (1.25, 5)
    assert [app.number_input(key=key).value for key in ("tokens", "seed")] == [12, 99]
    assert app.text_area(key="prompt").value == "日本の"


def test_a_changed_control_is_named_once_whatever_declares_it_again(open_app: Open) -> None:
    (said,) = re.findall("Changed since this run: .*", texts(open_app(seed="5")))
    assert said.count("Seed") == 1


def test_greedy_disables_what_only_sampling_uses(open_app: Open) -> None:
    app = open_app(method="Greedy")
    idle = {key: not shown["enabled"] for key, shown in shown_knobs(app).items()}
    assert idle == {
        "temperature": True,
        "top_n_sigma": True,
        "top_k": True,
        "top_p": True,
        "min_p": True,
        "penalty": False,
    }
    assert app.selectbox(key="draw").disabled


def test_greedy_keeps_the_penalty_and_drops_the_rest(open_app: Open) -> None:
    state = open_app(method="Greedy", temperature="0.3", penalty="1.2").session_state
    config = controls.config(lambda key: state[key])
    assert config == Greedy(max_new_tokens=40, shaping=Shaping(repetition_penalty=1.2))


def test_a_run_s_file_sets_the_lab_s_knobs_too(open_app: Open) -> None:
    app = open_app()
    shaping = Shaping(temperature=1.5, typical_p=0.7, epsilon_cutoff=0.02, eta_cutoff=0.03)
    run = make_trace(4)
    run = replace(run, config=replace(run.config, shaping=shaping))
    app.file_uploader[0].upload("run.json", share.trace_file(run), "application/json").run()
    assert {own.field: app.session_state[own.key] for own in LAB_KNOBS} == {
        own.field: getattr(shaping, own.field) for own in LAB_KNOBS
    }


def test_a_beam_sample_s_temperature_is_the_nearest_that_there_is() -> None:
    said = {**defaults(), "beam_sample": True, "beam_temperature": 0.0006}
    assert beam_controls.config(said.__getitem__).shaping.temperature == 0.001
