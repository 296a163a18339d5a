"""Home: the stored runs, runs of its own that equal the pages' runs, files, links, ways in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import check, load_model
from core.decoding.many.types import ManyRuns
from core.decoding.record.trace import Trace
from core.traces.many_file import many_jsonl
from pages.ui import registry
from pages.ui.home import controls
from pages.ui.home.example import make_example
from pages.ui.home.state import HomeView, example
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.widgets.controls.control import row_of
from tests.figures.traces import make_trace
from tests.models.builders import random_language_model
from tests.ui.conftest import Open, serve
from tests.ui.knobs import move, trigger
from tests.ui.seen import charts, data_of, settle, texts

TRACES = Path(__file__).parents[3] / "assets/traces"
HOSTILE = "![x](https://evil.example/x.png) :red[a] <b>"
TABLE = "home-runs"
# What each page's own Run is asked for, and the key of its view.
ON_PAGES: list[tuple[str, str, dict[str, str]]] = [
    ("decode.py", "view", {"method": "greedy", "tokens": "9"}),
    *(("decode.py", "view", {"tokens": "9", "seed": str(seed)}) for seed in (5, 6, 7)),
    ("beam.py", "beam", {"beam_tokens": "9", "beam_stop": ""}),
    ("speculative.py", "speculative", {"spec_tokens": "9", "temperature": "0"}),
]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is by a small model with random weights, however long nobody polls it."""
    monkeypatch.setattr(jobs, "GONE_SECONDS", 600.0)
    serve(monkeypatch, random_language_model("llama"))


def view_of(app: AppTest) -> HomeView:
    view: HomeView = app.session_state["home-view"]
    return view


def run(app: AppTest) -> ManyRuns:
    app.button(key="start").click().run()
    settle(app, "home-view")
    runs = view_of(app).runs
    assert runs is not None, view_of(app).failures
    return runs.many


def rows_of(app: AppTest) -> list[dict[str, Any]]:
    ((_, data),) = data_of(app, "home_runs")
    rows: list[dict[str, Any]] = data["rows"]
    return rows


def test_it_opens_with_the_stored_runs_and_loads_no_model(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("a model was loaded"))
    app = open_app("home.py")
    assert charts(app) == ["methods"] and "6 runs of one prompt gave" in texts(app)
    assert "Example · embedded:target" in texts(app)
    names = ["Greedy", *(f"Sampling, seed {seed}" for seed in (16, 17, 18))]
    assert [row["name"] for row in rows_of(app)] == [*names, "Beam search", "Speculative"]
    assert not app.query_params


def test_the_stored_runs_are_those_of_the_defaults_and_are_proved() -> None:
    stored = example()
    assert stored is not None
    made = make_example()
    for trace, again in zip(stored.many.traces, made, strict=True):
        assert (trace.config, trace.token_ids) == (again.config, again.token_ids)
    asked = controls.requests(lambda key: row_of(key).default)
    assert [trace.config for trace in stored.many.traces] == [one.config for one in asked]
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    for trace in stored.many.traces:
        drafted = draft if trace.draft_id else None
        assert all(outcome.passed for outcome in check(trace, target, drafted)), trace.config.method


def test_its_runs_equal_those_of_the_pages_to_the_token(open_app: Open) -> None:
    many = run(open_app("home.py", home="1", home_tokens="9", seed="5", prompt="A list of"))
    for trace, (script, key, asked) in zip(many.traces, ON_PAGES, strict=True):
        app = open_app(script, prompt="A list of", run="1", **asked)
        settle(app, key)
        shown = app.session_state[key].trace
        assert shown.token_ids == trace.token_ids and shown.config == trace.config


@pytest.mark.parametrize("place", range(6))
def test_a_row_opens_its_run_on_its_page_with_its_controls(open_app: Open, place: int) -> None:
    app = open_app("home.py", home="1", home_tokens="9", seed="5")
    many = run(app)
    script, key, asked = ON_PAGES[place]
    trigger(app, TABLE, "opened", place)
    assert not app.exception
    view = app.session_state[key]
    assert view.trace.token_ids == many.traces[place].token_ids and view.source == "run"
    page = registry.page_of(many.traces[place].config.method)
    assert page.script == script
    settle(app, key)
    for name, held in asked.items():
        assert str(app.session_state[name]).removesuffix(".0") == held, name
    assert app.query_params["run"] == "1" and "Changed since" not in texts(app)


def test_the_example_opens_as_an_example(open_app: Open) -> None:
    app = open_app("home.py")
    trigger(app, TABLE, "opened", 4)
    assert app.session_state["beam"].source == "example"
    assert app.session_state["beam_tokens"] == 20 and "run" not in app.query_params


def test_a_run_opens_at_its_fork(open_app: Open) -> None:
    app = open_app("home.py")
    assert (runs := example()) is not None
    trigger(app, TABLE, "opened", 0)
    assert app.session_state["view"].selected == runs.many.forks[0].at == 4


@pytest.mark.usefixtures("quick")
def test_changed_controls_are_told_and_a_link_repeats_the_runs(open_app: Open) -> None:
    app = open_app("home.py", home="1", home_tokens="5")
    many = run(app)
    assert app.query_params == {"home": "1", "home_tokens": "5", "made": "1"}
    assert "Your runs" in texts(app) and "press Run" not in texts(app)
    again = open_app("home.py", **app.query_params)
    settle(again, "home-view")
    repeated = view_of(again).runs
    assert repeated is not None
    assert [t.token_ids for t in repeated.many.traces] == [t.token_ids for t in many.traces]
    move(app, "seed", 4).run()
    assert "press Run" in texts(app) and app.query_params["made"] == "seed=16"


@pytest.mark.usefixtures("quick")
def test_an_empty_prompt_starts_nothing(open_app: Open) -> None:
    app = open_app("home.py", home="1", prompt=" ")
    app.button(key="start").click().run()
    assert not view_of(app).jobs and "The prompt is empty" in texts(app)
    app.session_state["prompt"] = "Once"
    assert "The prompt is empty" not in texts(app.run())


@pytest.mark.usefixtures("quick")
def test_a_stop_keeps_the_whole_runs(open_app: Open) -> None:
    app = open_app("home.py", home="1", home_tokens="4")
    many = run(app)
    view = view_of(app)
    requests = controls.requests(lambda key: row_of(key).default)
    cut = replace(many.traces[1], finish_reason="cancelled")
    view.live = [(many.traces[0], requests[0]), (cut, requests[1])]
    view.collect("home", None)
    assert view.runs is not None and view.runs.many.traces == many.traces[:1]
    before, view.live = view.runs, [(cut, requests[1])]
    view.collect("home", None)
    assert view.runs is before and not view.asked


def test_a_file_of_its_runs_opens_on_home_from_any_page(open_app: Open) -> None:
    stored = example()
    assert stored is not None
    file = many_jsonl(stored.many.traces[::-1][:3]).encode()
    app = open_app("beam.py", seed="3")
    app.file_uploader(key="trace_file").upload("runs.jsonl", file).run()
    assert not app.exception and "From a file · embedded:target" in texts(app)
    assert [row["name"] for row in rows_of(app)] == [
        "Speculative",
        "Beam search",
        "Sampling, seed 18",
    ]
    assert app.session_state["home_tokens"] == 20
    trigger(app.switch_page("home.py").run(), TABLE, "opened", 1)
    assert app.session_state["beam"].source == "file"


def test_a_trace_opened_on_home_leads_to_the_page_of_its_method(open_app: Open) -> None:
    for name, key in (("beam", "beam"), ("decode", "view")):
        app = open_app("home.py")
        trace = Trace.load(TRACES / f"{name}.json")
        upload = app.file_uploader(key="home_trace_file")
        upload.upload("run.json", trace.to_json().encode(), "application/json").run()
        assert not app.exception and app.session_state[key].trace.token_ids == trace.token_ids
        assert app.session_state[key].source == "file" and "From a file" in texts(app.run())


def test_a_wrong_file_is_told_on_home(open_app: Open) -> None:
    app = open_app("home.py")
    app.file_uploader(key="home_trace_file").upload("run.json", b"{}", "application/json").run()
    assert not app.exception and view_of(app).failure in texts(app) and view_of(app).failure


def test_every_page_has_a_card_with_its_picture(open_app: Open) -> None:
    app = open_app("home.py")
    others = [page for page in registry.PAGES if page is not registry.HOME]
    assert all(page.summary in texts(app) for page in others)
    pictures = [element.proto.body for element in app.get("html")]
    for page in others:
        assert sum(f"/pictures/{page.name}-light" in body for body in pictures) == 1, page.name


def test_hostile_text_is_shown_as_text(open_app: Open) -> None:
    app = open_app("home.py")
    made = [make_trace(6, hostile=True, seed=seed) for seed in (1, 2)]
    traces = tuple(replace(trace, text=HOSTILE, prompt=HOSTILE) for trace in made)
    view_of(app).open(ManyRuns(traces))
    app.run()
    assert "Something went wrong" not in texts(app)
    assert rows_of(app)[0]["text"] == HOSTILE
    assert not any("evil" in block.value for block in app.markdown)
