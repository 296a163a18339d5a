"""The Decode page without a browser: its states, its runs, and what it may not show as markup."""

from __future__ import annotations

import json
from html import escape

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from core.decoding.errors import ModelError
from core.decoding.trace import Trace
from core.models.scripted import ScriptedModel
from pages.ui.decode import controls, work
from pages.ui.decode import save as decode_save
from pages.ui.decode.state import DecodeView
from pages.ui.decode.tabs import timed_runs
from pages.ui.decode.work import CACHE_PAIRS
from pages.ui.run import bar
from pages.ui.run import save as share
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.shell import models, prompts
from pages.ui.widgets.control import defaults
from tests.figures.traces import HOSTILE, make_trace
from tests.ui import seen
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move
from tests.ui.seen import SECONDS, charts, texts

PROMPT = "the cat"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat` or ` ran`, then the end."""
    torch.set_num_threads(1)
    model = ScriptedModel(
        {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]},
        context_window=64,
        model_id="embedded:target",
    )
    monkeypatch.setattr(models, "_cached", lambda _: model)
    return model


def view_of(app: AppTest) -> DecodeView:
    view: DecodeView = app.session_state["view"]
    return view


def run(app: AppTest, button: str = "start") -> AppTest:
    """Press Run, wait for the worker, draw the page again."""
    return settle(app.button(key=button).click().run())


def settle(app: AppTest) -> AppTest:
    """Wait for the workers, draw the page again."""
    return seen.settle(app, view_of(app))


def test_first_paint_is_the_example(open_app: Open) -> None:
    app = open_app()
    assert not app.exception
    assert "Example · 12 tokens" in texts(app)
    assert len(charts(app)) == 4


def test_measurements_that_end_during_a_run_do_not_begin_the_page_anew_for_ever(
    open_app: Open, example: Trace
) -> None:
    app = open_app()
    view = view_of(app)
    view.request = Request("embedded:target", PROMPT, example.config)
    view.jobs["decode"] = Job(stage="Decoding", steps=list(example.steps))
    view.pending_key["logits"] = "of another step"
    view.jobs["logits"] = Job(ended=0.0)
    view.jobs["logits"].done.set()
    assert view.news
    app.run()
    assert not app.exception and not view.news
    assert "Decoding · " in texts(app)


def test_the_text_and_its_step_go_ahead_of_the_other_charts(open_app: Open) -> None:
    app = open_app()
    view_of(app).painted = False
    assert charts(app.run()) == ["candidates"]
    assert len(charts(app.run())) == 4


def test_a_missing_example_leaves_a_page_that_says_what_to_do(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_example(monkeypatch, DecodeView, None)
    app = open_app()
    assert not app.exception
    assert any("Nothing to show yet" in element.value for element in app.markdown)
    assert charts(app) == []


@pytest.mark.usefixtures("scripted")
def test_a_run_replaces_the_example(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, seed="3", top_p="1"))
    assert not app.exception
    view = view_of(app)
    assert view.source == "run" and view.trace is not None
    assert view.trace.prompt == PROMPT and view.trace.checks
    assert all(check.passed for check in view.trace.checks)
    assert "Your run" in texts(app)
    assert "1" in app.query_params["run"]


@pytest.mark.usefixtures("scripted")
def test_a_link_with_run_runs_at_once_and_once(open_app: Open) -> None:
    app = open_app(prompt=PROMPT, run="1")
    settle(app)
    assert view_of(app).source == "run"
    number = view_of(app).number
    app.run()
    assert view_of(app).number == number


def test_a_link_loads_no_model_of_a_stranger(open_app: Open) -> None:
    app = open_app(model="stranger/model", run="1")
    assert bar.LINK_NEEDS_RUN in texts(app)
    assert "decode" not in view_of(app).jobs


def test_an_empty_prompt_is_asked_for(open_app: Open) -> None:
    app = open_app()
    app.text_area(key="prompt").set_value("   ").run()
    app.button(key="start").click().run()
    assert bar.EMPTY_PROMPT in texts(app)
    assert "Example" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_too_long_a_prompt_names_its_numbers(open_app: Open) -> None:
    app = run(open_app(prompt="the" + " cat" * 80))
    assert "81 tokens" in texts(app) and "64" in texts(app)
    assert view_of(app).source == "example"


def test_a_model_that_fails_to_load_says_why(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(where: str) -> object:
        raise ModelError(f"There is no model at {where}.")

    monkeypatch.setattr(models, "_cached", refuse)
    app = run(open_app())
    assert "There is no model at embedded:target." in texts(app)
    assert app.button(key="start")


@pytest.mark.parametrize("stop", ["x\n" * 65, "x" * 1001])
def test_too_many_or_too_long_stop_strings_get_a_sentence(open_app: Open, stop: str) -> None:
    app = open_app(stop=stop)
    assert not app.exception
    assert texts(app).count("Stop strings must hold") == 1
    app.button(key="start").click().run()
    assert not app.exception
    assert texts(app).count("Stop strings must hold") == 2


@pytest.mark.usefixtures("scripted")
def test_a_moved_knob_reshapes_the_selected_step(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, temperature="1", top_p="1"))
    move(app, "temperature", 0.5).run()
    if job := view_of(app).jobs.get("logits"):
        assert job.done.wait(SECONDS)
        app.run()
    assert "The bars show this step under the new knobs" in texts(app)
    assert "temperature 0.5" in captions(app)
    move(app, "temperature", 1.0).run()
    assert "under the new knobs" not in texts(app)


def captions(app: AppTest) -> str:
    return "\n".join(spec["layout"]["words"]["caption"] for spec in seen.specs(app))


@pytest.mark.usefixtures("scripted")
def test_the_time_tab_times_the_cache_on_and_off_in_turns(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, top_p="1", look="Time"))
    app.session_state["look"] = "Time"
    app = run(app.run(), "compare_cache")
    view = view_of(app)
    assert view.compared is not None and view.trace is not None
    on, off = view.compared
    assert len(on) == len(off) == CACHE_PAIRS
    assert {run.token_ids for run in (*on, *off)} == {view.trace.token_ids}
    assert {run.config.use_cache for run in on} == {True}
    assert {run.config.use_cache for run in off} == {False}
    # No time that the run itself recorded stands beside those of now.
    drawn, others = timed_runs(view, view.trace)
    assert view.trace not in [run for _, run in drawn] and others == [on, off]


def test_a_long_run_pages_its_heatmap(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    set_example(monkeypatch, DecodeView, make_trace(90))
    app = open_app()
    view_of(app).select(0)
    app.run()
    app.button(key="later-steps").click().run()
    app.button(key="later-steps").click().run()
    assert view_of(app).first == 80 and app.button(key="later-steps").disabled
    view_of(app).select(45)
    assert view_of(app).first == 40


@pytest.fixture
def hostile_app(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    trace = make_trace(12, hostile=True, model_id=HOSTILE[0])
    set_example(monkeypatch, DecodeView, trace)
    return open_app(prompt=HOSTILE[0])


def test_hostile_text_reaches_no_element_that_takes_markup(hostile_app: AppTest) -> None:
    app = hostile_app
    assert not app.exception
    shown = [element.value for element in [*app.markdown, *app.caption, *app.title]]
    labels = [button.label for button in app.button]
    for text in HOSTILE:
        if len(text) > 2:
            assert not any(text in value for value in [*shown, *labels])


def test_a_file_is_shown_and_its_own_claims_are_not(open_app: Open) -> None:
    app = open_app()
    view_of(app).show(make_trace(5, seed=11).with_checks(()), "file")
    app.run()
    assert "From a file · 5 tokens" in texts(app)
    assert {"Not checked", "Text"} <= {block.proto.popover.label for block in app.get("popover")}


def test_a_file_may_not_make_the_app_load_its_model() -> None:
    view = DecodeView()
    view.show(make_trace(3, model_id="stranger/model"), "file")
    assert not view.may_load("embedded:target")
    assert view.may_load("stranger/model")
    view.show(make_trace(3), "run")
    assert view.may_load("whatever")


def test_the_trace_file_and_the_web_page_hold_the_run() -> None:
    view = DecodeView()
    view.show(make_trace(6, hostile=True), "run")
    assert view.trace is not None
    assert Trace.from_dict(json.loads(share.trace_file(view.trace))) == view.trace
    page = decode_save.web_page(view, view.trace).decode()
    assert "<img src=x" not in page.replace("\\u003c", "<").split("<script")[0]
    assert page.count("<figure") == 7


def test_the_stored_example_was_made_with_the_default_controls() -> None:
    trace = DecodeView.load_example()
    assert trace.prompt == defaults()["prompt"]
    assert trace.model_id == models.DEFAULT_MODEL
    assert not work.differs(trace.config, controls.config())
    assert trace.checks and all(check.passed for check in trace.checks)


@pytest.mark.parametrize(
    "address",
    [
        {"tokens": "1e400"},
        {"seed": "inf"},
        {"top_k": "-inf", "temperature": "nan"},
        {"top_p": "9" * 400},
        {"temperature": "0.0004"},
        {"model": "embedded:" + "a" * 400},
        {"model": "embedded:../../x", "chat": "true"},
    ],
    ids=str,
)
def test_no_address_breaks_the_page(open_app: Open, address: dict[str, str]) -> None:
    app = open_app(**address)
    assert not app.exception
    assert app.button(key="start")
    assert len(charts(app)) == 4


def test_a_temperature_next_to_zero_is_the_lowest_or_greedy() -> None:
    for typed, meant in ((0.0004, 0.0), (0.0006, 0.001), (0.7, 0.7), (0.0, 0.0)):
        values = {**defaults(), "temperature": typed}
        assert controls.config(values.__getitem__).shaping.temperature == meant


def test_another_model_s_run_is_named(open_app: Open) -> None:
    app = open_app(model="some/other-model")
    assert "Example · embedded:target · 12 tokens" in texts(app)


def test_every_example_of_the_menu_says_what_to_look_for(open_app: Open) -> None:
    menu = prompts.examples()
    assert len({example.label for example in menu}) == len(menu) >= 12
    assert escape(menu[0].look_for) in markup(open_app())
    chat = next(example for example in menu if example.chat and example.system)
    app = open_app(prompt=chat.prompt, chat="true", system=chat.system)
    assert escape(chat.look_for) in markup(app)
    assert escape(menu[0].look_for) not in markup(app)
    other = markup(open_app(prompt="anything else"))
    assert not any(escape(example.look_for) in other for example in menu)


def markup(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


@pytest.mark.usefixtures("scripted")
def test_contrastive_search_runs_and_its_tab_shows_what_was_compared(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, method="Contrastive", contrastive_top_k="3"))
    assert not app.exception
    view = view_of(app)
    assert view.source == "run" and view.trace is not None and view.step is not None
    assert view.trace.config.method == "contrastive" and view.step.compared
    assert all(check.passed for check in view.trace.checks)
    app.session_state["look"] = "Contrastive"
    app.run()
    assert not app.exception
    assert "compared" in charts(app)
    assert "reshaped at once" not in texts(app)
    assert decode_save.web_page(view, view.trace).decode().count("<figure") == 8


def test_charts_follow_although_the_first_run_was_cut_off_behind_the_text(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app()
    app.session_state["view"].painted = False
    color, drawn = controls.color, []

    def cut_off_once() -> None:
        drawn.append(1)
        if len(drawn) == 1:
            st.rerun()
        color()

    monkeypatch.setattr(controls, "color", cut_off_once)
    app.run()
    assert len(drawn) == 2 and charts(app) == ["candidates"]
    asking = [element.proto.component_name for element in app.get("bidi_component")]
    assert any(name.endswith(".later") for name in asking), "nobody asks for the others"
