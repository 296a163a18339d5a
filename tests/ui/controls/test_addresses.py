"""Controls write their values to the address, and read them from it in a new session."""

from __future__ import annotations

import string
from typing import Any

import pytest

from pages.ui.resources import prompts
from pages.ui.resources.prompts import Example
from pages.ui.shell import sidebar
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import load
from tests.ui.conftest import Open
from tests.ui.knobs import shown_knobs

_SET = ("prompt", "chat", "system")
# One without a chat, the first with a system prompt.
TELLING = {0, next(at for at, example in enumerate(prompts.examples()) if example.system)}


@pytest.fixture
def example() -> None:
    """Nothing is drawn: the controls and the address are what is looked at."""


@pytest.fixture
def load_in_callback(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let a press on "New seed" set these controls, as a choice in the menu of examples does."""
    values: dict[str, Any] = {}
    monkeypatch.setattr(sidebar, "_new_seed", lambda: load(values))
    return values


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param(example, id=example.label, marks=() if at in TELLING else pytest.mark.slow)
        for at, example in enumerate(prompts.examples())
    ],
)
def test_all_that_an_example_sets_is_in_the_address(
    open_app: Open, load_in_callback: dict[str, Any], chosen: Example
) -> None:
    load_in_callback |= {key: getattr(chosen, key) for key in _SET}
    app = open_app().button(key="new_seed").click().run()
    again = open_app(**app.query_params)
    held = {key: again.session_state[key] for key in _SET if key in again.session_state}
    assert {"system": "", **held} == load_in_callback


@pytest.mark.parametrize(
    ("key", "word", "sentence"),
    [
        ("tokens", "5000", "New tokens: 5,000 in the link lies outside 1 to 2,000: 40 is used."),
        (
            "tokens",
            "1234567",
            "New tokens: 1,234,567 in the link lies outside 1 to 2,000: 40 is used.",
        ),
        ("temperature", "150", "Temperature: 150 in the link lies outside 0 to 10: 0.8 is used."),
        ("temperature", "10.5", "Temperature: 10.5 in the link lies outside 0 to 10: 0.8 is used."),
        ("temperature", "warm", "Temperature: “warm” in the link is no number: 0.8 is used."),
        ("seed", "nan", "Seed: “nan” in the link is no number: 16 is used."),
        ("tokens", "3.5", "New tokens: 3.5 in the link is no whole number: 3 is used."),
        ("cache", "maybe", "KV cache: “maybe” in the link is not true or false: true is used."),
        (
            "method",
            "Best",
            "Method: “Best” in the link is none of Sampling, Greedy, Contrastive search, "
            "Contrastive decoding, By the engine: Sampling is used.",
        ),
        (
            "constraint",
            "ebnf",
            "Constraint: “ebnf” in the link is none of None, Choices, Regular expression, JSON "
            "schema, Lark grammar: None is used.",
        ),
        (
            "prompt",
            "word " * 5000,
            "Prompt: the link holds more than 20,000 characters: the beginning, 20,000 "
            "characters, is used.",
        ),
    ],
)
def test_what_a_link_asks_for_in_vain_is_told_with_what_is_used(
    open_app: Open, key: str, word: str, sentence: str
) -> None:
    app = open_app(**{key: word})
    assert [toast.value for toast in app.toast] == [sentence]
    assert not app.run().toast


def test_a_link_names_the_question_of_an_evaluation(open_app: Open) -> None:
    menu = open_app("evaluate_ways.py").selectbox(key="asked_question")
    assert menu.index == 0
    app = menu.set_value(menu.options[3]).run()
    assert app.query_params["asked_question"] == "3"
    for address, index in ((app.query_params, 3), ({"asked_question": "999"}, 0)):
        again = open_app("evaluate_ways.py", **address)
        assert again.selectbox(key="asked_question").index == index
    assert "“999” in the link is none of" in again.toast[0].value and not again.query_params


def test_each_value_that_a_link_asks_for_in_vain_is_told(open_app: Open) -> None:
    app = open_app(tokens="5000", top_p="7", method="greedy", seed="3")
    assert len(app.toast) == 2
    assert [app.number_input(key=key).value for key in ("tokens", "seed")] == [40, 3]
    assert shown_knobs(app)["top_p"]["value"] == 0.95
    assert app.query_params == {"method": "greedy", "seed": "3"}


def test_a_page_comes_back_with_its_own_address_alone(open_app: Open) -> None:
    app = open_app(tokens="5").switch_page("beam.py").run()
    app.query_params["node"] = "4.1"
    app = app.switch_page("decode.py").run()
    assert app.query_params == {"tokens": "5"}


def test_an_old_link_s_labels_open_and_become_keys(open_app: Open) -> None:
    app = open_app(method="Greedy", draw="Gumbel")
    assert app.segmented_control(key="method").value == "greedy"
    assert app.selectbox(key="draw").value == "gumbel"
    assert app.query_params == {"method": "greedy", "draw": "gumbel"} and not app.toast


def test_a_link_s_word_is_no_markup() -> None:
    marks = string.punctuation.translate({ord("-"): None, ord("."): None})
    assert link.literal(f"a-1.{marks}") == "a-1." + "".join(f"\\{mark}" for mark in marks)
