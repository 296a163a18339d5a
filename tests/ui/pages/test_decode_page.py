"""The Decode page without a browser: its states, its runs, and what it may not show as markup."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from html import escape
from typing import cast
from unittest.mock import Mock

import pytest
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from core.decoding.errors import ModelError
from core.decoding.record.trace import Check, Trace
from core.models.scripted import ScriptedModel
from pages.ui.beam.state import BeamView
from pages.ui.decode import controls
from pages.ui.decode import save as decode_save
from pages.ui.decode.parts import timed_runs
from pages.ui.decode.state import DecodeView
from pages.ui.decode.work import CACHE_PAIRS
from pages.ui.lab import controls as lab_controls
from pages.ui.resources import models, prompts
from pages.ui.run import named_run
from pages.ui.run.display import bar
from pages.ui.run.files import save as share
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.run.view import View
from pages.ui.speculative.state import SpecView
from pages.ui.widgets.controls.control import defaults
from tests.figures.traces import HOSTILE, make_trace
from tests.ui import seen
from tests.ui.conftest import Open, serve, set_example
from tests.ui.knobs import move
from tests.ui.seen import charts, data_of, markup, texts
from tests.ui.stores import uncached

PROMPT = "the cat"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat` or ` ran`, then the end."""
    model = ScriptedModel(
        {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]},
        context_window=64,
        model_id="embedded:target",
    )
    return serve(monkeypatch, model)


def view_of(app: AppTest) -> DecodeView:
    return cast(DecodeView, app.session_state["view"])


def run(app: AppTest, button: str = "start") -> AppTest:
    """Press Run, wait for the worker, draw the page again."""
    return settle(app.button(key=button).click().run())


settle = partial(seen.settle, key="view")


def test_measurements_that_end_during_a_run_do_not_begin_the_page_anew_for_ever(
    open_app: Open, example: Trace
) -> None:
    app = open_app()
    view, ended = view_of(app), Job(ended=0.0)
    ended.done.set()
    view.request = Request("embedded:target", PROMPT, example.config)
    view.jobs |= {"decode": Job(stage="Decoding", steps=list(example.steps)), "logits": ended}
    view.pending_key["logits"] = "of another step"
    assert view.news
    assert "Decoding\N{NO-BREAK SPACE}· " in texts(app.run())
    assert not app.exception and not view.news


@pytest.mark.parametrize(
    ("kind", "script"),
    [(DecodeView, "decode.py"), (BeamView, "beam.py"), (SpecView, "speculative.py")],
)
def test_a_missing_example_leaves_a_page_that_says_what_to_do(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, kind: type[View], script: str
) -> None:
    set_example(monkeypatch, kind, None)
    app = open_app(script)
    assert charts(app) == []
    assert "Nothing to show yet" in markup(app) and "Press Run" in markup(app)


@pytest.mark.usefixtures("scripted")
def test_a_run_replaces_the_example(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, seed="3", top_p="1"))
    trace = view_of(app).trace
    assert view_of(app).source == "run" and trace is not None and trace.prompt == PROMPT
    assert trace.checks and all(check.passed for check in trace.checks)
    assert "Your run" in texts(app)
    assert "1" in app.query_params["run"]


@pytest.mark.usefixtures("scripted")
def test_a_link_with_run_runs_at_once_and_once(open_app: Open) -> None:
    app = settle(open_app(prompt=PROMPT, run="1"))
    assert view_of(app).source == "run"
    number = view_of(app).number
    assert view_of(settle(app.run())).number == number


def test_a_link_loads_no_model_of_a_stranger(open_app: Open) -> None:
    app = open_app(model="stranger/model", run="1")
    assert named_run.NEEDS_RUN in texts(app)
    assert "decode" not in view_of(app).jobs


@pytest.mark.usefixtures("scripted")
def test_too_long_a_prompt_names_its_numbers_and_an_empty_one_is_asked_for(open_app: Open) -> None:
    app = run(open_app(prompt="the" + " cat" * 80))
    assert "81 tokens" in texts(app) and "64" in texts(app)
    app.text_area(key="prompt").set_value("   ").run()
    app.button(key="start").click().run()
    assert bar.EMPTY_PROMPT in texts(app)
    assert view_of(app).source == "example"
    # A link's empty prompt is not the default one.
    assert bar.EMPTY_PROMPT in texts(open_app(prompt="", run="1"))


def test_a_model_that_fails_to_load_says_why(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse = Mock(side_effect=ModelError("There is no such model."))
    monkeypatch.setattr(models, "MODELS", uncached(refuse))
    assert "There is no such model." in texts(run(open_app()))
    assert refuse.call_args.args == ("embedded:target",)


@pytest.mark.parametrize("stop", ["x\n" * 65, "x" * 1001])
def test_too_many_or_too_long_stop_strings_get_a_sentence(open_app: Open, stop: str) -> None:
    app = open_app(stop=stop)
    for times in (1, 2):
        assert not app.exception
        assert texts(app).count("Stop strings must hold") == times
        app.button(key="start").click().run()


@pytest.mark.usefixtures("scripted")
def test_a_moved_knob_reshapes_the_selected_step(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, temperature="1", top_p="1"))
    app = settle(move(app, "temperature", 0.5).run())
    assert "The bars show this step under the new knobs" in texts(app)
    captions = [spec["layout"]["words"]["caption"] for spec in seen.specs(app)]
    assert any("temperature 0.5" in caption for caption in captions)
    assert "under the new knobs" not in texts(move(app, "temperature", 1.0).run())


@pytest.mark.usefixtures("scripted")
def test_the_time_tab_times_the_cache_on_and_off_in_turns(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, top_p="1", look="Time"))
    app = run(move(app, "look", "Time").run(), "compare_cache")
    view = view_of(app)
    on, off = view.compared
    assert len(on) == len(off) == CACHE_PAIRS
    assert {run.token_ids for run in (*on, *off)} == {view.trace.token_ids}
    assert [{run.config.use_cache for run in runs} for runs in (on, off)] == [{True}, {False}]
    # No time that the run itself recorded stands beside those of now.
    drawn, others = timed_runs(view, view.trace)
    assert view.trace not in [run for _, run in drawn] and others == [on, off]


def test_a_long_run_pages_its_heatmap(open_app: Open) -> None:
    app = open_app()
    view_of(app).show(make_trace(90), "run")
    view_of(app).select(0)
    app.run()
    for first in (40, 80):
        app.button(key="later-steps").click().run()
        assert view_of(app).first == first
    assert app.button(key="later-steps").disabled
    view_of(app).select(45)
    assert view_of(app).first == 40


def test_hostile_text_reaches_no_element_that_takes_markup(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_example(monkeypatch, DecodeView, make_trace(12, hostile=True, model_id=HOSTILE[0]))
    app = open_app(prompt=HOSTILE[0])
    assert [text for text in HOSTILE if len(text) > 2 and text in markup(app)] == []


def test_a_file_is_shown_with_the_verdict_of_its_checks(open_app: Open) -> None:
    app = open_app()
    trace, passed = make_trace(5, seed=11), Check("a", True, 0.0, 1.0)
    for checks, label in (
        ((), "Not checked"),
        ((passed, passed), "Consistent: 2 of 2 checks"),
        ((passed, passed._replace(by_model=True)), "Proved by the model: 2 of 2 checks"),
        ((passed, passed._replace(passed=False, by_model=True)), "Not proved: 1 of 2 checks"),
    ):
        view_of(app).show(trace.with_checks(checks), "file")
        assert "From a file\N{NO-BREAK SPACE}· 5 tokens" in texts(app.run())
        assert label in {block.proto.popover.label for block in app.get("popover")}
    ((_, shown),) = data_of(app, "checks")
    # The failed one stands first.
    assert [row["numbers"] for row in shown["checks"]] == ["0 > 1", "0 ≤ 1"]


def test_a_file_may_not_make_the_app_load_its_model() -> None:
    view, trace = DecodeView(), make_trace(3, model_id="stranger/model")
    for source, is_allowed in (("file", False), ("run", True)):
        view.show(trace, source)
        assert view.may_load("embedded:target") == is_allowed and view.may_load("stranger/model")


def test_the_trace_file_and_the_web_page_hold_the_run() -> None:
    view, trace = DecodeView(), make_trace(6, hostile=True)
    view.show(trace, "run")
    assert Trace.from_dict(json.loads(share.trace_file(trace))) == trace
    page = decode_save.web_page(view, trace).decode()
    assert "<img src=x" not in page.replace("\\u003c", "<").split("<script")[0]
    assert page.count("<figure") == 7


@pytest.mark.parametrize(
    "address",
    [
        {"tokens": "1e400", "seed": "inf", "top_k": "-inf", "temperature": "nan"},
        {"top_p": "9" * 400, "temperature": "0.0004", "model": "embedded:" + "a" * 400},
        {"model": "embedded:../../x", "chat": "true"},
    ],
    ids=str,
)
def test_no_address_breaks_the_page(open_app: Open, address: dict[str, str]) -> None:
    app = open_app(**address)
    assert app.button(key="start")
    assert len(charts(app)) == 4


def test_a_temperature_next_to_zero_is_the_lowest_or_greedy() -> None:
    for typed, meant in ((0.0004, 0.0), (0.0006, 0.001), (0.7, 0.7), (0.0, 0.0)):
        values = {**defaults(), "temperature": typed}
        assert controls.config(values.__getitem__).shaping.temperature == meant
        assert lab_controls.settings(values.__getitem__).config.shaping.temperature == meant


def test_the_example_says_so_and_names_another_model_s(open_app: Open) -> None:
    for address, words in (
        ({}, "Example\N{NO-BREAK SPACE}· 12 tokens"),
        (
            {"model": "some/other-model"},
            "Example\N{NO-BREAK SPACE}· embedded:target\N{NO-BREAK SPACE}· 12 tokens",
        ),
    ):
        assert words in texts(open_app(**address))


def test_every_example_of_the_menu_says_what_to_look_for(open_app: Open) -> None:
    menu = prompts.examples()
    assert len({example.label for example in menu}) == len(menu)
    chat = next(example for example in menu if example.chat and example.system)
    chat_address = {"prompt": chat.prompt, "chat": "true", "system": chat.system}
    for address, named in (
        ({}, [menu[0]]),
        (chat_address, [chat]),
        ({"prompt": "anything else"}, []),
    ):
        shown = markup(open_app(**address))
        assert [example for example in menu if escape(example.look_for) in shown] == named


@pytest.mark.usefixtures("scripted")
def test_contrastive_search_runs_and_its_tab_shows_what_was_compared(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, method="Contrastive", contrastive_top_k="3"))
    trace = view_of(app).trace
    assert trace is not None and trace.config.method == "contrastive"
    assert trace.checks and all(check.passed for check in trace.checks)
    move(app, "look", "Contrastive search").run()
    assert not app.exception
    assert "compared" in charts(app) and "reshaped at once" not in texts(app)
    assert decode_save.web_page(view_of(app), trace).decode().count("<figure") == 8


@pytest.mark.usefixtures("scripted")
def test_a_watermark_s_tab_shows_the_detector_and_what_another_word_does(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, watermark_bias="2", watermark_key="7", watermark_ratio="0.5"))
    trace = view_of(app).trace
    assert trace is not None and trace.config.shaping.watermark_key == 7
    move(app, "look", "Watermark").run()
    assert "watermark" in charts(app) and "unmarked texts" in texts(app)
    app.text_input(key="edited").set_value("#5").run()
    settle(app)
    edited = view_of(app).result("edited")
    assert edited.token_ids[view_of(app).selected] == 5
    assert edited.config.shaping == replace(trace.config.shaping, temperature=1.0, top_p=1.0)
    assert not app.exception


@pytest.mark.usefixtures("scripted")
def test_a_guided_run_draws_both_forwards_and_is_not_reshaped(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, guidance_scale="1.5", negative_prompt="the"))
    trace = view_of(app).trace
    assert trace is not None and trace.config.shaping.negative_prompt == "the"
    move(app, "look", "Two forwards").run()
    assert "second" in charts(app)
    move(app, "temperature", 1.5).run()
    assert "Press Run to see" in texts(app) and not app.exception


@pytest.mark.usefixtures("scripted")
def test_contrastive_decoding_takes_its_draft_and_says_it_in_the_address(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, method="contrastive_decoding", contrastive_beta="1.5"))
    trace = view_of(app).trace
    assert trace is not None and trace.config.method == "contrastive_decoding"
    assert trace.draft_id and trace.config.shaping.contrastive_beta == 1.5
    move(app, "look", "Two forwards").run()
    assert "second" in charts(app) and not app.exception
    assert controls.control_values(trace)["contrast_draft"] == trace.draft_id
    assert "Fork points" not in {tab.label for tab in app.tabs}
    popovers = {block.proto.popover.label for block in app.get("popover")}
    assert "Another token" not in popovers


def test_charts_follow_although_the_first_run_was_cut_off_behind_the_text(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app()
    view_of(app).painted = False
    decode = RerunData(page_script_hash=app._page_hash)
    cut_off_once = Mock(side_effect=[RerunException(decode), None])
    monkeypatch.setattr(controls, "color", cut_off_once)
    assert charts(app.run()) == ["candidates"] and cut_off_once.call_count == 2
    asking = [element.proto.component_name for element in app.get("bidi_component")]
    assert any(name.endswith(".later") for name in asking), "nobody asks for the others"


@pytest.mark.parametrize(
    "link",
    [
        {"prompt": "a zebra"},
        {"prompt": " "},
        {"prompt": "the cat", "given": "5.5", "tokens": "1"},
    ],
    ids=["a run that fails", "no prompt", "settings that fail"],
)
def test_the_address_above_an_error_makes_no_run(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, link: dict[str, str]
) -> None:
    serve(monkeypatch, ScriptedModel({(): [1 / 8] * 8}, model_id="embedded:target"))
    app = settle(open_app(**link, run="1"))
    view = app.session_state["view"]
    assert view.failure and view.source == "example"
    assert "run" not in app.query_params
