"""The run that the address names: a reload makes it again, after controls have moved too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.ui.resources import models
from pages.ui.run import cost, named_run
from pages.ui.run.display import bar
from tests.figures.specs import spec_model
from tests.ui import seen
from tests.ui.conftest import Open, open_page
from tests.ui.knobs import move
from tests.ui.seen import texts
from tests.ui.stores import uncached

PROMPT, MODELS = " the a", ("embedded:target", "embedded:draft")
PAGES = {
    "decode.py": ("view", "tokens", {"method": "sampling", "tokens": "6"}),
    "beam.py": ("beam", "beams", {"beams": "3", "beam_tokens": "5"}),
    "speculative.py": ("speculative", "draft_length", {"spec_tokens": "9", "draft_length": "3"}),
}


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    by_name = {name: spec_model(name.removeprefix("embedded:")) for name in MODELS}
    monkeypatch.setattr(models, "MODELS", uncached(by_name.__getitem__))


def started(open_app: Open, script: str) -> AppTest:
    """Open a page, and run what its controls describe."""
    key, _, settings = PAGES[script]
    app = open_app(script, prompt=PROMPT, **settings)
    return seen.settle(app.button(key="start").click().run(), key)


def reloaded(app: AppTest, script: str, **moved: str) -> AppTest:
    """Open the page's address in a new session.

    Args:
        moved: what the browser has written of controls.
    """
    address = {name: app.query_params[name] for name in app.query_params}
    words = {name: word[0] if isinstance(word, list) else word for name, word in address.items()}
    return seen.settle(open_page(script, {}, **words | moved), PAGES[script][0])


def view_of(app: AppTest, script: str) -> Any:
    return app.session_state[PAGES[script][0]]


@pytest.mark.parametrize("script", PAGES)
def test_a_reload_shows_the_run_and_the_controls_as_they_stood(open_app: Open, script: str) -> None:
    app, moved = started(open_app, script), PAGES[script][1]
    ran = view_of(app, script).trace
    assert app.query_params["run"] in ("1", ["1"])
    app.text_area(key="prompt").set_value(" the a the & a=b").run()
    move(app, moved, 4).run()
    move(app, "seed", 77).run()
    word = app.query_params["run"]
    assert moved in str(word) and "prompt" in str(word)
    again = reloaded(app, script, prompt=" the a the & a=b", seed="77", **{moved: "4"})
    view = view_of(again, script)
    assert view.source == "run" and view.trace.token_ids == ran.token_ids
    assert (view.trace.prompt, view.trace.config) == (PROMPT, ran.config)
    assert again.session_state["prompt"] == " the a the & a=b"
    assert (again.session_state[moved], again.session_state["seed"]) == (4, 77)
    assert "Changed since this run" in texts(again)
    assert again.query_params["run"] in (word, [word])
    # Set back, the controls make it.
    move(again, moved, int(PAGES[script][2][moved])).run()
    move(again, "seed", 16).run()
    again.text_area(key="prompt").set_value(PROMPT).run()
    assert again.query_params["run"] in ("1", ["1"])


def test_a_run_after_a_reload_is_that_of_the_controls(open_app: Open) -> None:
    app = started(open_app, "speculative.py")
    move(app, "draft_length", 4).run()
    again = reloaded(app, "speculative.py", draft_length="4")
    again = seen.settle(again.button(key="start").click().run(), "speculative")
    assert view_of(again, "speculative.py").trace.config.draft_length == 4
    assert again.query_params["run"] in ("1", ["1"])


@pytest.mark.parametrize(
    "word",
    [
        *("0", "true", "nothing=1", "seed=x", "seed=-1", "draft_length=99", "=", "&&", "seed"),
        *("model=stranger%2Fmodel", "draft=stranger%2Fmodel", "spec_tokens=500&tree_nodes=64&x=1"),
        "prompt=" + "a" * 2_000,
    ],
)
def test_a_word_that_names_no_run_starts_none_and_says_so(open_app: Open, word: str) -> None:
    app = open_app("speculative.py", prompt=PROMPT, run=word)
    view = view_of(app, "speculative.py")
    assert not view.jobs and view.source == "example"
    assert {bar.UNREADABLE_RUN, bar.EARLIER_RUN} & {view.failure} and view.failure in texts(app)
    assert named_run.NAME not in app.query_params


def test_nothing_costly_starts(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = started(open_app, "decode.py")
    move(app, "tokens", 5).run()
    assert named_run.NAME in app.query_params
    monkeypatch.setattr(cost, "LINK_TOKENS", 5)
    assert view_of(reloaded(app, "decode.py", tokens="5"), "decode.py").source == "example"
    assert named_run.NAME not in app.run().query_params, "the address promises it no more"


def test_a_run_with_a_long_prompt_is_not_written_twice(open_app: Open) -> None:
    app = open_app("decode.py", prompt="a" * 1_500, tokens="3")
    app = seen.settle(app.button(key="start").click().run(), "view")
    app.text_area(key="prompt").set_value("b").run()
    assert named_run.NAME not in app.query_params
