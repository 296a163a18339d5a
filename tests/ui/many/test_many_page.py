"""The page of many runs: the stored examples, runs of its own, links, and hostile text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.many.methods import whole_text
from core.decoding.many.types import ManyRuns
from pages.ui.many.state import ManyView, example, whole_runs
from pages.ui.resources import models
from pages.ui.run import jobs
from tests.figures.traces import make_trace
from tests.models.builders import random_language_model
from tests.ui.conftest import Open, serve
from tests.ui.knobs import move
from tests.ui.seen import charts, settle, texts

HOSTILE = "![x](https://evil.example/x.png) :red[a] <b>"
TRACES = Path(__file__).parents[3] / "assets/traces"
PROMPT = "Once upon a time"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is by a small model with random weights, however long nobody polls it."""
    monkeypatch.setattr(jobs, "GONE_SECONDS", 600.0)
    serve(monkeypatch, random_language_model("llama"))


def _run(app: AppTest) -> ManyRuns:
    app.button(key="start").click().run()
    settle(app, "many-view")
    return app.session_state["many-view"].made[app.session_state["many_mode"]]


def test_both_modes_open_with_stored_runs_and_load_no_model(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "load", lambda *_: pytest.fail("a model was loaded"))
    app = open_app("many.py")
    assert "Example · 20 runs" in texts(app) and "different texts" in texts(app)
    assert "Something went wrong" not in texts(app) and charts(app) == ["tree", "forks"]
    move(app, "many_mode", "grid").run()
    assert "Something went wrong" not in texts(app) and "Example · 9 runs" in texts(app)
    assert charts(app) == ["tree", "grid"]
    assert app.query_params["many_mode"] == "grid"


@pytest.mark.usefixtures("quick")
def test_greedy_runs_of_the_same_request_give_one_verdict(open_app: Open) -> None:
    app = open_app("many.py", many_tokens="6", times="4", vary="nothing", temperature="0")
    many = _run(app)
    assert many.count == 4 and len(many.texts) == 1
    assert "4 of 4 runs gave the same 6 tokens. Their recorded probabilities are equal" in texts(
        app
    )
    assert app.query_params["made"] == "1" and "press Run" not in texts(app)
    move(app, "times", 5).run()
    assert app.query_params["made"] == "times=4" and "press Run" in texts(app)


@pytest.mark.usefixtures("quick")
def test_a_grid_runs_and_a_pick_shows_its_text_and_opens_it_on_decode(open_app: Open) -> None:
    app = open_app(
        "many.py", many_mode="grid", many_tokens="5", values_a="0.2, 1", knob_b="none", pick="1"
    )
    many = _run(app)
    assert list(many.settings) == [{"temperature": "0.2"}, {"temperature": "1"}]
    assert whole_text(many.traces[1]) in texts(app) and "Run 2: temperature 1" in texts(app)
    app.button(key="open_on_decode").click().run()
    view = app.session_state["view"]
    assert view.trace.token_ids == many.traces[1].token_ids
    assert app.session_state["tokens"] == 5 and view.source == "many"


@pytest.mark.usefixtures("quick")
def test_runs_that_a_stop_cut_or_left_out_are_counted(open_app: Open) -> None:
    app = open_app("many.py", many_tokens="4", times="3", vary="nothing")
    many = _run(app)
    assert "Your runs · 3 runs" in texts(app) and "stopped" not in texts(app)
    view: ManyView = app.session_state["many-view"]
    cut = replace(many.traces[0], finish_reason="cancelled")
    view.made["again"], view.version = ManyRuns((cut, cut)), view.version + 1
    app.run()
    assert "Your runs · 2 of 3 runs · 2 stopped before their end" in texts(app)


@pytest.mark.usefixtures("quick")
def test_a_link_makes_its_runs_again_and_a_large_one_waits(open_app: Open) -> None:
    app = open_app("many.py", made="1", times="3", many_tokens="4")
    settle(app, "many-view")
    view = app.session_state["many-view"]
    assert view.made["again"].count == 3, (view.failures, view.failure)
    app = open_app("many.py", made="1", times="100", many_tokens="50")
    assert not app.session_state["many-view"].jobs and "Press Run to start" in texts(app)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"times": "100", "many_tokens": "60"}, "6,000 tokens"),
        ({"temperature": "0"}, "Nothing is drawn"),
        ({"many_mode": "grid", "values_a": "a"}, "numbers with commas"),
        ({"many_mode": "grid", "knob_b": "temperature"}, "the same one"),
        ({"many_mode": "grid", "values_a": "0.1 to 1 in 10"}, "2 to 12"),
        ({"many_mode": "grid", "values_b": "7"}, "Top-p"),
    ],
)
def test_wrong_settings_are_told_and_start_nothing(
    open_app: Open, said: dict[str, str], words: str
) -> None:
    app = open_app("many.py", **said)
    app.button(key="start").click().run()
    assert not app.exception and words in texts(app)
    assert not app.session_state["many-view"].jobs


@pytest.mark.usefixtures("quick")
def test_open_a_trace_takes_a_file_of_many_runs(open_app: Open) -> None:
    seeds, grid = (TRACES / f"many-{mode}.jsonl" for mode in ("again", "grid"))
    lines = grid.read_bytes().splitlines(keepends=True)
    app = open_app("many.py", temperature="0.3")
    app.file_uploader(key="trace_file").upload("runs.jsonl", b"".join(lines[:3])).run()
    view: ManyView = app.session_state["many-view"]
    assert view.made["grid"].count == 3 and "File · 3 runs" in texts(app.run())
    assert app.session_state["many_mode"] == "grid" and "press Run" not in texts(app)
    assert (app.session_state["knob_a"], app.session_state["values_a"]) == ("top_p", "0.5, 0.9, 1")
    assert app.session_state["knob_b"] == "none"
    assert _run(app).settings == view.made["grid"].settings and "Your runs" in texts(app)
    app.file_uploader(key="trace_file").upload("runs.jsonl", seeds.read_bytes()).run()
    assert "File · 20 runs" in texts(app.run()) and app.session_state["many_mode"] == "again"
    app.file_uploader(key="trace_file").upload("runs.jsonl", b"{}").run()
    assert not app.exception and view.failure in texts(app)


def test_a_file_of_many_runs_opens_from_another_page(open_app: Open) -> None:
    app = open_app("decode.py")
    file = (TRACES / "many-grid.jsonl").read_bytes()
    app.file_uploader(key="trace_file").upload("runs.jsonl", file).run()
    assert not app.exception and app.session_state["many-view"].made["grid"].count == 9
    assert app.session_state["many_mode"] == "grid"


def test_hostile_text_is_shown_as_text(open_app: Open) -> None:
    app = open_app("many.py")
    made = [make_trace(6, hostile=True, seed=seed) for seed in (1, 2)]
    traces = tuple(replace(trace, text=HOSTILE, prompt=HOSTILE) for trace in made)
    view: ManyView = app.session_state["many-view"]
    view.made["again"], view.version = ManyRuns(traces), 1
    app.run()
    assert "Something went wrong" not in texts(app) and HOSTILE in texts(app)
    assert not any("evil" in block.value for block in app.markdown)


def test_a_stop_keeps_the_whole_runs_alone_unless_there_is_none() -> None:
    stored = example("again")
    cut = replace(stored.traces[0], finish_reason="cancelled")
    assert whole_runs((stored.traces[1], cut)) == (stored.traces[1],)
    assert whole_runs((cut, cut)) == (cut, cut)


def test_the_stored_runs_are_those_of_the_page_s_defaults() -> None:
    again, grid = example("again"), example("grid")
    assert [row["seed"] for row in again.settings] == [str(seed) for seed in range(16, 36)]
    assert {trace.prompt for trace in (*again.traces, *grid.traces)} == {PROMPT}
    assert grid.settings[5] == {"temperature": "0.8", "top_p": "1"}
