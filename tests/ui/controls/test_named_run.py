"""The run that the address names: a reload makes it again, after controls have moved too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.ui import registry
from pages.ui.resources import models
from pages.ui.run import cost, jobs, named_run
from tests.figures.specs import spec_model
from tests.models.builders import random_language_model
from tests.ui import seen
from tests.ui.conftest import Open, open_page, serve
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
    return seen.settle(open_page(script, {}, **address_of(app) | moved), PAGES[script][0])


def address_of(app: AppTest) -> dict[str, str]:
    """Return the words of the address by their names, each of them once."""
    words = {name: app.query_params[name] for name in app.query_params}
    assert all(isinstance(word, str) or len(word) == 1 for word in words.values())
    return {name: word if isinstance(word, str) else word[0] for name, word in words.items()}


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
        *("prompt=", "prompt=+", "prompt=" + "a" * 2_000),
        # The address holds controls of other pages too, once their modules are imported.
        *("beams=3", "tokens=5&draft_length=3"),
    ],
)
def test_a_word_that_names_no_run_starts_none_and_says_so(open_app: Open, word: str) -> None:
    for method in ("beam", "sampling"):
        assert registry.page_of(method).run_controls.find()  # type: ignore[union-attr]
    app = open_app("speculative.py", prompt=PROMPT, run=word)
    view = view_of(app, "speculative.py")
    assert not view.jobs and view.source == "example"
    assert {named_run.UNREADABLE, named_run.EARLIER} & {view.failure} and view.failure in texts(app)
    assert named_run.NAME not in app.query_params


def test_a_run_that_can_not_be_read_leaves_the_rest_of_the_address() -> None:
    address = {"tokens": "7", "step": "1", "given": "1.2", "look": "prompt", "lang": "en"}
    app = open_page("decode.py", {}, run="seed=x", prompt=PROMPT, **address)
    assert named_run.UNREADABLE in texts(app)
    assert view_of(app, "decode.py").selected != 1, "the step is not one of the example"
    assert address_of(app) == {"prompt": PROMPT, **address}


@pytest.mark.parametrize(
    ("script", "name", "word"),
    [
        ("decode.py", "step", "3"),
        ("read.py", "step", "2"),
        ("inside.py", "step", "2"),
        ("diffusion.py", "position", "4"),
        ("beam.py", "node", "2.1"),
        ("speculative.py", "token", "2.0"),
    ],
)
def test_a_step_stays_in_the_address_while_its_run_waits_for_a_press(
    monkeypatch: pytest.MonkeyPatch, script: str, name: str, word: str
) -> None:
    monkeypatch.setattr(cost, "LINK_TOKENS", 1)
    app = open_page(script, {}, run="1", **{name: word}).run()
    assert "Press Run to start." in texts(app)
    assert address_of(app).items() >= {"run": "1", name: word}.items()


def test_a_link_to_a_step_of_two_runs_opens_there(open_app: Open) -> None:
    address = {"prompt": PROMPT, "method": "sampling", "tokens": "6"}
    sides = {f"{side}{name}": word for side in ("a_", "b_") for name, word in address.items()}
    app = open_app("compare.py", a_run="1", b_run="1", b_seed="4", step="5", **sides)
    for _ in range(8):
        views = [app.session_state[key] for key in ("a_side", "b_side")]
        under_way = [job for view in views for job in view.jobs.values()]
        assert all(job.done.wait(seen.SECONDS) for job in under_way)
        app.run()
    views = [app.session_state[key] for key in ("a_side", "b_side")]
    assert [view.source for view in views] == ["run", "run"]
    assert app.session_state["pair"].selected == 5
    assert app.query_params["step"] in ("5", ["5"])


@pytest.mark.parametrize(
    "script",
    ["home.py", "course.py", "sampling.py", "compare.py", "many.py", "classroom.py",
     "evaluate_ways.py", "api_requests.py"],
)  # fmt: skip
@pytest.mark.parametrize("word", ["1", "seed=3", "<b>"])
def test_a_page_without_such_runs_says_so(open_app: Open, script: str, word: str) -> None:
    # A link to Home with other parameters than its own leads to Decode.
    mark = {"home": "1"} if script == "home.py" else {}
    app = open_app(script, run=word, figure_theme="dark", **mark)
    assert named_run.NOT_HERE in [toast.value for toast in app.toast]
    assert named_run.NAME not in app.query_params
    assert address_of(app)["figure_theme"] == "dark"


@pytest.mark.parametrize("word", ["1", "seed=3", "seed=x"])
def test_a_lesson_shows_its_own_runs_and_the_address_names_no_other(word: str) -> None:
    app = open_page("decode.py", {}, lesson="one-token", run=word)
    address = address_of(app)
    assert named_run.NAME not in address and address["lesson"] == "one-token"


def test_of_two_runs_the_last_is_made_and_stays(open_app: Open) -> None:
    app = open_app("decode.py", prompt=PROMPT, tokens="3", run=["seed=x", "1"])
    app = seen.settle(app, "view")
    assert view_of(app, "decode.py").source == "run"
    assert app.query_params["run"] in ("1", ["1"])


@pytest.mark.parametrize(
    ("script", "key", "moved", "settings"),
    [
        ("many.py", "many-view", "times", {"times": "3", "many_tokens": "4"}),
        ("home.py", "home-view", "home_tokens", {"home_tokens": "5", "home": "1"}),
    ],
)
def test_many_runs_are_kept_as_one_is(
    open_app: Open,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    key: str,
    moved: str,
    settings: dict[str, str],
) -> None:
    monkeypatch.setattr(jobs, "GONE_SECONDS", 600.0)
    serve(monkeypatch, random_language_model("llama"))

    def texts_of(app: AppTest) -> list[str]:
        view = app.session_state[key]
        many = view.made["again"] if script == "many.py" else view.runs.many
        return [trace.text for trace in many.traces]

    app = open_app(script, prompt=PROMPT, **settings)
    app = seen.settle(app.button(key="start").click().run(), key)
    assert app.query_params["made"] in ("1", ["1"])
    ran = texts_of(app)
    move(app, moved, 6).run()
    move(app, "seed", 77).run()
    address = address_of(app) | {moved: "6", "seed": "77", "prompt": PROMPT}
    again = seen.settle(open_page(script, {}, **address), key)
    assert texts_of(again) == ran and again.session_state[moved] == 6
    assert address_of(again)["made"] == address["made"]
    again = seen.settle(again.button(key="start").click().run(), key)
    assert address_of(again)["made"] == "1"


@pytest.mark.parametrize("script", ["many.py", "home.py"])
def test_many_runs_that_can_not_be_read_are_refused_in_words(open_app: Open, script: str) -> None:
    app = open_app(script, made="seed=x", home="1")
    assert named_run.UNREADABLE in texts(app) and "made" not in app.query_params


@pytest.mark.parametrize("script", ["many.py", "home.py"])
def test_many_runs_wait_for_a_press_with_their_name(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(cost, "LINK_TOKENS", 1)
    app = open_app(script, made="1", home="1").run()
    assert "Press Run to start." in texts(app) and app.query_params["made"] in ("1", ["1"])


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
