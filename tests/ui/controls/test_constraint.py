"""The menu and the text fields of a constraint, their config, their link and their way back."""

from __future__ import annotations

import pytest

from core import ConfigError, Greedy, Sampling, Shaping
from core.decoding.constraints.value import KINDS, Constraint
from pages.ui.beam import controls as beam
from pages.ui.decode import controls as decode
from pages.ui.reasoning import controls as reasoning
from pages.ui.speculative import controls as speculative
from pages.ui.widgets.controls.constraint import KEYS
from pages.ui.widgets.controls.control import defaults, row_of
from tests.ui.conftest import Open
from tests.ui.knobs import move
from tests.ui.pages.test_decode_page import PROMPT, run, scripted, view_of  # noqa: F401

TEXTS = {"choice": "yes\nno", "regex": "[a-z]+", "json": '{"type": "null"}', "lark": 'start: "a"'}
SHARED = {"model": "embedded:target", "prompt": "Once", "seed": 1, "draft": "embedded:draft"}


@pytest.mark.parametrize("page", [decode, beam, speculative, reasoning])
@pytest.mark.parametrize("kind", KINDS)
def test_the_chosen_kind_and_its_text_are_the_config_s(page, kind) -> None:
    others = {f"rule_{other}": "not read" for other in TEXTS if other != kind}
    values = {**defaults(), **SHARED, **others, "constraint": kind, f"rule_{kind}": TEXTS[kind]}
    config = page.config(values.__getitem__)
    assert config.shaping.constraint == Constraint(kind, TEXTS[kind])
    nothing = {**values, f"rule_{kind}": " "}
    with pytest.raises(ConfigError, match=r"Write the rule of the constraint .*, or choose None\."):
        page.config(nothing.__getitem__)
    none = {**values, "constraint": "none"}
    assert page.config(none.__getitem__).shaping.constraint is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_s_constraint_is_put_back_into_the_controls(kind) -> None:
    for config in (Greedy(), Sampling()):
        constraint = Constraint(kind, TEXTS[kind])
        found = decode.values_of_config(
            type(config)(shaping=Shaping(constraint=constraint)), {**defaults()}
        )
        assert (found["constraint"], found[f"rule_{kind}"]) == (kind, TEXTS[kind])
        assert decode.values_of_config(config, {**defaults()})["constraint"] == "none"


def test_a_wrong_text_is_told_by_the_config() -> None:
    values = {**defaults(), **SHARED, "constraint": "regex", "rule_regex": "a("}
    with pytest.raises(ConfigError, match=r"^Rule is not a regular expression: unclosed group"):
        decode.config(values.__getitem__)


@pytest.mark.usefixtures("scripted")
def test_a_run_on_decode_keeps_to_it_and_shows_what_it_allowed(open_app: Open) -> None:
    app = open_app(prompt=PROMPT, constraint="choice", rule_choice=" dog ran\n home.")
    trace = view_of(run(app)).trace
    assert trace is not None and trace.text in (" dog ran", " home.")
    assert "Constraint" in [tab.label for tab in app.tabs]
    assert any("The constraint allows" in block.value for block in app.markdown)
    assert app.text_area(key="rule_choice").value == " dog ran\n home."
    app = run(move(app, "look", "Constraint").run(), "run_free")
    free = view_of(app).free
    assert free is not None and free.config.shaping.constraint is None
    assert view_of(app).trace is trace and not app.exception


def test_the_address_holds_them() -> None:
    for key in KEYS:
        row = row_of(key)
        word = row.in_address(TEXTS.get(key.removeprefix("rule_"), "json"))
        assert row.of_address(word) is not None


@pytest.mark.usefixtures("scripted")
def test_a_kind_without_a_text_is_refused_in_one_sentence(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, constraint="choice"))
    assert not app.exception
    assert "Write the rule of the constraint (Choices), or choose None." in view_of(app).failure
