"""The page Inside without a browser: its picture, its readings, its ways in, and its refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
from streamlit.testing.v1 import AppTest

from core import Greedy, Sampling, Shaping, check, collect, load_model
from core.decoding.record.trace import Trace
from core.models.scripted import ScriptedModel
from pages.ui.decode.state import DecodeView
from pages.ui.inside import boxes, save, work
from pages.ui.inside import save as inside_save
from pages.ui.inside.state import InsideView, shows
from pages.ui.run import jobs
from pages.ui.widgets.controls import link
from tests.figures.beams import make_search
from tests.figures.traces import HOSTILE, make_trace
from tests.ui import seen
from tests.ui.conftest import ROOT, open_page, serve
from tests.ui.seen import SECONDS, charts, texts


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    probs = [0.02, 0.0, 0.08, 0.1, 0.4, 0.3, 0.1, 0.0]
    model = ScriptedModel({(): probs}, context_window=64, model_id="embedded:target")
    return serve(monkeypatch, model)


@pytest.fixture(scope="module")
def embedded() -> Any:
    return load_model("embedded:target")


@pytest.fixture(scope="module")
def once(embedded) -> Trace:
    """A run of the embedded model."""
    return run_of(embedded, "Once upon a time")


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch, embedded: Any) -> Any:
    return serve(monkeypatch, embedded)


def run_of(model: Any, prompt: str, tokens: int = 6) -> Trace:
    config = Sampling(max_new_tokens=tokens, seed=3, shaping=Shaping(temperature=0.8, top_p=0.9))
    trace = collect(model, prompt, config)
    return trace.with_checks(tuple(check(trace)))


def open_inside(trace: Trace | None, selected: int = 2, **parameters: str) -> AppTest:
    decode = DecodeView()
    if trace is not None:
        decode.show(trace, "run")
        decode.select(selected)
    return settle(open_page("inside.py", {"view": decode}, **parameters))


def view_of(app: AppTest) -> InsideView:
    return cast(InsideView, app.session_state["inside"])


settle = partial(seen.settle, key="inside")


def picture(app: AppTest) -> dict[str, Any]:
    """Return the data of the boxes' component."""
    drawn = [json.loads(element.proto.json or "{}") for element in app.get("bidi_component")]
    return next(data for data in drawn if "loop" in data)


def box(app: AppTest, name: str) -> dict[str, Any]:
    data = picture(app)
    every = [*data["before"], data["prompt"], *data["inside"], *data["after"]]
    return next(entry for entry in every if entry["id"] == name)


def checks_of(view: InsideView, name: str) -> list[bool]:
    return [outcome.passed for outcome in view.cached[name][1].checks]


@pytest.mark.usefixtures("real")
def test_the_picture_holds_the_steps_own_values_and_functions(once) -> None:
    app = open_inside(once)
    step = once.token_steps[2]
    assert picture(app)["loop"] == (
        "The loop ran 6 times: one forward pass for each token. Open here: step 3 of 6."
    )
    assert [chip["value"] for chip in box(app, "ids")["chips"]] == list(map(str, once.prompt_ids))
    logits = [chip["value"] for chip in box(app, "logits")["chips"]]
    assert logits[:5] == [f"{candidate.logit:.2f}" for candidate in step.candidates[:5]]
    assert dict(box(app, "draw")["pairs"])["number"] == f"{step.draw.uniform:.4f}"
    assert dict(box(app, "answer")["pairs"])["text"] == once.text
    shapes = dict(box(app, "forward")["pairs"])
    assert shapes["shapes"] == "ids [1, 1] → [1, 1, 256] × 6 layers → logits [1, 1, 4096]"
    assert shapes["KV cache"] == "5 → 6 tokens"
    assert box(app, "forward")["rows"][0]["place"].startswith("core/models/running/contexts.py:")
    assert [row["name"] for row in box(app, "shaping")["rows"]] == ["raw_distribution", "shape"]
    view = view_of(app)
    assert checks_of(view, "record") == [True, True]
    # The page that is saved shows the same figures.
    assert charts(app) == list(view.figures) == ["calls"]
    saved = inside_save.web_page(view, view.trace).decode()
    assert saved.count("<figure") >= 5 and "Once upon a time" in saved
    # The source of a function opens.
    view.opened_source = "shaping.1"
    app.run()
    assert picture(app)["code"].startswith("def shape(")
    assert view.places["shaping.1"][0] == "core/decoding/shaping/stages.py"


@pytest.mark.usefixtures("real")
def test_without_the_cache_every_token_goes_through_again(once) -> None:
    app = open_inside(once)
    settle(app.toggle(key="no_cache").set_value(True).run())
    shapes = dict(box(app, "forward")["pairs"])
    assert shapes["shapes"].startswith("ids [1, 6] → [1, 6, 256]")
    assert shapes["KV cache"].startswith("none")
    assert checks_of(view_of(app), "record") == [True, True]


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("tab", "name"), [("Modules", "forward"), ("Logit lens", "lens"), ("Attention", "attention")]
)
def test_each_reading_is_proved_by_the_run(once, tab: str, name: str) -> None:
    app = open_inside(once, inside_look=tab)
    view = view_of(app)
    assert len(charts(app)) == 1, texts(app)
    assert all(checks_of(view, name))
    if name == "lens":
        last = view.cached["lens"][1].value.positions[-1]
        assert last.next_id == once.token_ids[2]
        top = once.token_steps[2].candidates[0]
        assert last.cells[-1].prob == pytest.approx(top.raw_prob, abs=1e-4)


@pytest.mark.usefixtures("real")
def test_the_first_step_came_from_the_prompts_forward(once) -> None:
    app = open_inside(once, selected=0, inside_look="Modules")
    assert "prompt's own forward" in box(app, "forward")["words"]
    forward = view_of(app).cached["forward"][1]
    assert (forward.prompt.tokens, forward.single.tokens) == (4, 1)
    assert checks_of(view_of(app), "forward") == [True]


@pytest.mark.usefixtures("real")
def test_a_chat_is_recorded_with_its_template() -> None:
    app = open_inside(None)
    for key, setting in {"chat": True, "prompt": "Who are you?", "inside_tokens": 3}.items():
        app.session_state[key] = setting
    settle(app.run().button(key="start").click().run())
    chat = box(app, "chat")
    assert "encode_chat" in chat["rows"][0]["name"]
    assert "Who are you?" in dict(chat["pairs"])["text"]
    assert checks_of(view_of(app), "record") == [True, True]


def test_temperature_0_became_greedy(real) -> None:
    trace = collect(real, "Once", Sampling(max_new_tokens=2, shaping=Shaping(temperature=0)))
    app = open_inside(trace, selected=1)
    assert box(app, "request")["words"].startswith("Temperature 0 means greedy")
    assert "Nothing is drawn" in box(app, "draw")["words"]


def test_a_run_that_isnt_the_models_is_not_proved(scripted) -> None:
    trace = run_of(scripted, "the cat")
    app = open_inside(replace(trace, config=replace(trace.config, seed=99)))
    assert checks_of(view_of(app), "record")[0] is False


def test_a_model_without_modules_says_so_and_its_functions_stand(scripted) -> None:
    app = open_inside(run_of(scripted, "the cat"), inside_look="Logit lens")
    assert "doesn't run through transformers' modules" in texts(app)
    assert box(app, "forward")["rows"][0]["name"] == "ScriptedContext.extend"


def test_an_architecture_without_such_a_reading_says_so(real, monkeypatch) -> None:
    monkeypatch.setattr(real.hf_model.config, "final_logit_softcapping", 0.01, raising=False)
    app = open_inside(run_of(real, "Once"), selected=1, inside_look="Logit lens")
    assert "can't be read layer by layer" in texts(app)


def test_hostile_tokens_and_prompts_are_text_in_the_picture() -> None:
    trace = make_trace(8, hostile=True, shaping=Shaping(temperature=1.8))
    drawn = boxes.picture(trace, trace.token_steps[3], None, "waiting")
    assert HOSTILE[0] in json.dumps(drawn._asdict(), ensure_ascii=False)
    source = (ROOT / "pages/ui/inside/way.js").read_text(encoding="utf-8")
    assert "textContent" in source
    assert not any(word in source for word in ("innerHTML", "insertAdjacent", "outerHTML"))


def test_a_setting_of_decode_s_run_that_no_control_here_sets_is_told(real) -> None:
    shaped = run_of(real, "Once")
    app = open_inside(shaped, prompt="Once", seed="3")
    assert "No control here sets this run's top-p 0.9: Run makes another." in texts(app)
    # The address would make the run without it.
    assert "run" not in app.query_params
    plain = Sampling(max_new_tokens=4, seed=16, shaping=Shaping(temperature=0.8))
    app = open_inside(collect(real, "Once upon a time", plain))
    assert "No control here" not in texts(app) and "Changed since" not in texts(app)
    assert app.query_params["run"] in ("1", ["1"])


@pytest.mark.usefixtures("real")
def test_decode_opens_its_selected_step_here(once, open_app) -> None:
    """The run's controls come along."""
    app = open_app()
    app.session_state["view"].show(once, "run")
    app.session_state["view"].select(4)
    app.run().button(key="open_inside").click().run()
    assert app.title[0].value == "Inside"
    # AppTest stays on the page that it opened; a browser follows.
    app.switch_page("inside.py")
    settle(app.run())
    assert view_of(app).selected == 4 and view_of(app).trace is once
    assert "step 5 of 6" in picture(app)["loop"]
    assert app.number_input(key="inside_tokens").value == 6


def test_only_runs_of_a_token_a_step_are_shown() -> None:
    assert shows(make_trace(2)) and not shows(make_search())


@pytest.mark.usefixtures("real")
def test_a_link_brings_its_step_and_one_that_the_run_lacks_is_told(
    once, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[str] = []
    monkeypatch.setattr(link, "report", reports.append)
    for step, selected in (("3", 3), ("banana", 2)):
        app = open_inside(once, step=step)
        assert view_of(app).selected == selected
        assert app.query_params["step"] in (str(selected), [str(selected)])
    (sentence,) = reports
    assert sentence.startswith("“banana” in the link is no step of this run")


@pytest.mark.usefixtures("real")
def test_the_data_path_is_given_away_in_three_formats(once) -> None:
    app = open_inside(once)
    path = view_of(app).cached["record"][1].path
    ours, spans, chrome = (
        json.loads(save._json(form, path))
        for form in (save.export.as_json, save.export.as_otlp, save.export.as_chrome)
    )
    assert ours["schema"] == "decoding-explorer-data-path" and spans["resourceSpans"]
    assert len(chrome["traceEvents"]) == sum(1 for _ in path.walk())
    assert save._text(path).decode().startswith("== The request")
    keys = {button.key for button in app.get("download_button")}
    assert keys >= {"path-json", "path-otlp", "path-chrome", "path-txt"}


def test_a_recording_takes_turns_and_stops(scripted) -> None:
    trace = collect(scripted, "the cat", Greedy(max_new_tokens=5))
    job = jobs.start(lambda job: (job.stop(), work._record(job, trace, None, True))[1])
    assert job.done.wait(SECONDS)
    assert job.result is None and not job.error


@pytest.mark.usefixtures("real")
def test_every_part_is_told_in_one_sentence(once) -> None:
    data = picture(open_inside(once))
    parts = [*data["before"], data["prompt"], *data["inside"], *data["after"]]
    assert len(parts) == 12
    for part in parts:
        assert part["words"].endswith(".") and len(part["words"]) < 100, part["title"]
