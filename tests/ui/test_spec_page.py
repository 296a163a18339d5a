"""The speculative page without a browser: its states, its measurements, what it may not load."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Greedy
from core.decoding.shaping.config import KNOB_SETTINGS, Shaping
from core.decoding.speculative.acceptance import acceptance_table
from core.decoding.speculative.config import Speculative
from core.decoding.trace import Trace
from core.figures.opening import telling_token
from core.figures.speculative.lossless import lossless_words
from core.figures.speculative.metrics import scoring_words
from core.figures.speculative.verdict import verdict
from core.figures.speculative.words import EXTRA, emitted, kind_color
from core.models.scripted import ScriptedModel
from pages.ui.run import bar
from pages.ui.shell import examples, models
from pages.ui.speculative import controls as spec_controls
from pages.ui.speculative import save as spec_share
from pages.ui.speculative import state as spec_state
from pages.ui.speculative import tabs as spec_looks
from pages.ui.speculative.state import SpecView
from pages.ui.widgets.control import defaults
from tests.figures.specs import COUNTED, SWEEP, make_comparison, make_spec, spec_model
from tests.figures.traces import make_trace
from tests.ui import seen
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move, shown_knobs
from tests.ui.seen import charts, texts

PROMPT, OTHER = " the a", "embedded:target"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models that are there, by name."""
    torch.set_num_threads(1)
    found: dict[str, ScriptedModel] = {}

    def load(where: str) -> ScriptedModel:
        return found.setdefault(where, spec_model(where.removeprefix("embedded:")))

    monkeypatch.setattr(models, "_cached", load)


@pytest.fixture
def open_spec(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open the speculative page on a small run, with these parameters in the address."""
    set_example(monkeypatch, SpecView, make_spec(30))

    def open_it(**parameters: str) -> AppTest:
        return open_app("speculative.py", prompt=PROMPT, **parameters)

    return open_it


def view_of(app: AppTest) -> SpecView:
    view: SpecView = app.session_state["speculative"]
    return view


def settle(app: AppTest) -> AppTest:
    """Wait for the workers, draw the page again."""
    return seen.settle(app, view_of(app))


def hints(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def press(app: AppTest, key: str) -> AppTest:
    return settle(app.button(key=key).click().run())


def test_first_paint_is_the_example_at_a_rejected_token(open_spec: Open) -> None:
    app, example = open_spec(), make_spec(30)
    assert not app.exception
    assert f"Example · 30 tokens in {len(example.rounds)} rounds" in texts(app)
    assert charts(app) == ["timeline", "verification", "time"]
    at, place = view_of(app).token
    assert example.rounds[at].drafted[place].outcome == "rejected"


def test_the_stored_example_is_what_the_defaults_describe() -> None:

    example = SpecView.load_example()
    assert example is not None
    told = defaults()
    assert example.config == spec_controls.config(told.__getitem__)
    assert example.prompt == told["prompt"] and example.draft_id == told["draft"]
    assert example.checks and all(check.passed for check in example.checks)
    kinds = {token.outcome for step in example.rounds for token in step.drafted}
    assert kinds == {"accepted", "rejected", "not_reached"}
    assert any(step.bonus for step in example.rounds)
    assert (examples.FOLDER / SpecView.example).stat().st_size < 250_000


def test_the_controls_describe_a_run() -> None:

    told = {**defaults(), "seed": 5, "rule": "typical"}
    told |= {"typical_epsilon": 0.2, "typical_delta": 0.4, "adaptive": True, "confidence": 0.25}
    told |= {"own_temperature": True, "draft_temperature": 0.5, "scoring": "batch_expansion"}
    assert spec_controls.config(told.__getitem__) == Speculative(
        max_new_tokens=48,
        draft_length=5,
        acceptance="typical",
        scoring="batch_expansion",
        draft_temperature=0.5,
        draft_threshold=0.25,
        adaptive=True,
        posterior_threshold=0.2,
        posterior_alpha=0.4,
        seed=5,
        shaping=Shaping(temperature=0.8, top_p=0.95),
    )
    told |= {"draft": spec_controls.LOOKUP, "own_temperature": False}
    found = spec_controls.config(told.__getitem__)
    assert found.drafter == "prompt_lookup" and found.draft_temperature is None


def test_the_address_sets_the_controls(open_spec: Open) -> None:
    app = open_spec(draft_length="3", rule="Exact match", temperature="0.5", draft="prompt lookup")
    assert app.number_input(key="draft_length").value == 3
    assert app.session_state["rule"] == "exact"
    assert app.session_state["draft"] == spec_controls.LOOKUP
    assert "Changed since this run" in texts(app)


def test_only_settings_that_act_are_there_and_a_link_brings_them(open_spec: Open) -> None:
    app = open_spec(rule="Typical", typical_epsilon="0.2", own_temperature="true")
    assert app.number_input(key="typical_epsilon").value == 0.2
    keys = {field.key for field in app.number_input}
    assert {"draft_temperature", "confidence"} <= keys and "ngram_size" not in keys
    keys = {field.key for field in open_spec(draft="prompt lookup").number_input}
    assert "ngram_size" in keys and not {"confidence", "typical_epsilon"} & keys


def test_every_filter_of_decode_has_its_knob_and_its_place_in_the_address(open_spec: Open) -> None:
    filters = [spec for spec in KNOB_SETTINGS if spec.role == "filter" and spec.on_decode]
    assert "top_n_sigma" in {spec.field for spec in filters}
    app = open_spec(top_n_sigma="1.2")
    keys = list(shown_knobs(app))
    shown = [key for key in keys if key in {spec.key for spec in filters}]
    assert shown == [spec.key for spec in filters] and "penalty" not in keys
    assert shown_knobs(app)["top_n_sigma"]["value"] == 1.2
    told = {**defaults(), **{spec.key: spec.slider.low for spec in filters if spec.slider}}
    assert spec_controls.config({**told, "top_n_sigma": 1.2}.__getitem__).shaping.top_n_sigma == 1.2


def test_a_rule_that_loses_something_says_so(open_spec: Open) -> None:
    app = open_spec(rule="Typical")
    assert "Changes what the target would write" in texts(app)
    move(app, "temperature", 0.0).run()
    assert spec_controls.GREEDY_NOTE in texts(app) and "NOT" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_run_makes_a_proved_run_of_both_models(open_spec: Open) -> None:
    app = press(open_spec(spec_tokens="12", draft_length="3"), "start")
    trace = view_of(app).trace
    assert trace is not None and view_of(app).source == "run"
    assert (trace.model_id, trace.draft_id) == ("embedded:target", "embedded:draft")
    assert trace.config.draft_length == 3 and len(trace.token_ids) <= 12
    assert trace.checks and all(check.passed for check in trace.checks)
    assert "Your run" in texts(app) and not app.exception


@pytest.mark.usefixtures("scripted")
def test_a_target_with_other_tokens_begins_with_prompt_lookup(open_spec: Open) -> None:
    """No embedded model can draft for it; what a link or a visitor chooses stays."""
    app = open_spec(model="smollm2")
    assert app.session_state["draft"] == spec_controls.LOOKUP
    assert "for smollm2 prompt lookup does" in hints(app)
    app.selectbox(key="model").set_value("embedded:target").run()
    assert app.session_state["draft"] == spec_controls.DEFAULT_DRAFT
    assert "prompt lookup does" not in hints(app)
    app.selectbox(key="model").set_value("smollm2").run()
    app.selectbox(key="draft").set_value(spec_controls.DEFAULT_DRAFT).run()
    assert app.session_state["draft"] == spec_controls.DEFAULT_DRAFT
    app = open_spec(model="smollm2", draft="some/model")
    assert app.session_state["draft"] == "some/model" and "prompt lookup does" not in hints(app)


def test_a_copy_of_an_embedded_model_keeps_its_draft(open_spec: Open, tmp_path: Path) -> None:
    copied = models.ASSETS / "target" / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(copied.read_bytes())
    app = open_spec(model=str(tmp_path))
    assert app.session_state["draft"] == spec_controls.DEFAULT_DRAFT


def test_prompt_lookup_needs_no_draft(open_spec: Open) -> None:
    app = press(open_spec(spec_tokens="12", draft="prompt lookup"), "start")
    trace = view_of(app).trace
    assert trace is not None and trace.draft_id == "" and trace.config.drafter == "prompt_lookup"
    assert not app.exception and view_of(app).failure == ""


@pytest.mark.usefixtures("scripted")
def test_time_is_measured_on_demand_and_gives_a_verdict(open_spec: Open) -> None:
    app = press(open_spec(repeats="1"), "start-comparison")
    found = view_of(app).comparison
    assert found is not None and not app.exception
    assert "because a round emits" in texts(app)
    app.session_state["spec-look"] = "Acceptance and metrics"
    said = " ".join(element.value for element in app.run().caption)
    assert "Costs and the expected speed-up follow" not in said and "median round" in said
    assert "The best and the break-even draft length follow" in said
    app.session_state["spec-look"] = "Where the time goes"
    app = press(app.run(), "start-sweep")
    assert "draft-lengths" in charts(app) and view_of(app).sweep is not None


@pytest.mark.usefixtures("scripted")
def test_the_other_tabs_draw_and_measure(open_spec: Open) -> None:
    app = open_spec(**{"spec-look": "Acceptance and metrics"})
    assert "positions" in charts(app)
    app = press(
        open_spec(**{"spec-look": "What is fed to the target", "repeats": "1"}), "start-scored"
    )
    assert "feed" in charts(app) and "Both emitted the same tokens." in texts(app)
    app = open_spec(**{"spec-look": "Losslessness", "runs": "100", "run_tokens": "1"})
    assert app.number_input(key="run_tokens").value == 3, "one token would draft nothing"
    app.number_input(key="run_tokens").set_value(2)
    app = press(app, "start-counted")
    assert {"outcomes", "three-tokens"} <= set(charts(app)) and "p-value" in texts(app)
    assert view_of(app).counted.runs == 100
    assert "Acceptance rule speculative, 100 runs" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_two_verdicts_stand_beside_each_other(open_spec: Open) -> None:
    """The closed tab of the times is drawn ahead, beside the open one."""
    app = press(open_spec(repeats="1", runs="100", run_tokens="2"), "start-comparison")
    app.session_state["spec-look"] = "Losslessness"
    app = press(app.run(), "start-counted")
    said = texts(app)
    assert "because a round emits" in said and "Acceptance rule speculative, 100 runs" in said
    assert not app.exception and "Something went wrong" not in said


@pytest.mark.usefixtures("scripted")
def test_greedy_is_compared_token_by_token(open_spec: Open) -> None:
    app = open_spec(temperature="0", spec_tokens="12", **{"spec-look": "Losslessness"})
    app = settle(press(app, "start"))
    other = view_of(app).alone
    assert other is not None and isinstance(other.config, Greedy)
    assert f"Identical: all {len(other.token_ids)} tokens." in texts(app)
    assert not settle(app.run()).exception and view_of(app).alone is other, "once a run"


@pytest.mark.usefixtures("scripted")
def test_a_greedy_run_of_a_strange_model_is_compared_on_demand_only(open_spec: Open) -> None:
    app = open_spec(temperature="0", **{"spec-look": "Losslessness"})
    view = view_of(app)
    view.show(replace(make_spec(30, temperature=0.0), draft_id="stranger/model"), "run")
    app.run()
    assert not view.jobs and not app.button(key="start-alone").disabled


def changed(app: AppTest) -> bool:
    return "Changed since this run" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_another_prompt_or_model_is_another_run_and_what_does_nothing_is_not(
    open_spec: Open,
) -> None:
    app = press(open_spec(spec_tokens="12"), "start")
    assert not changed(app)
    for key, value in (("prompt", " the b"), ("model", "embedded:draft"), ("draft", OTHER)):
        before = app.session_state[key]
        app.session_state[key] = value
        assert changed(app.run()), key
        app.session_state[key] = before
        assert not changed(app.run())
    for key, value in (("typical_epsilon", 0.2), ("ngram_size", 5), ("draft_temperature", 0.3)):
        app.session_state[key] = value
    app.session_state["system"] = "be brief"
    assert not changed(app.run())


def test_a_file_beyond_the_controls_does_not_ask_for_another_run() -> None:
    beyond = make_spec(30, min_new_tokens=3, draft_length=30, top_candidates=7)
    trace = replace(beyond, prompt="the a", draft_id="stranger/model")

    def script() -> None:
        import streamlit as st

        from pages.ui import registry
        from pages.ui.run import changed
        from pages.ui.speculative import controls as spec_controls
        from pages.ui.speculative import state as spec_state

        trace = st.session_state["given"]
        found = spec_state.SpecView()
        found.show(trace, "file")
        spec_controls.load_controls(trace)
        st.session_state.update(temperature=1.0, top_p=1.0)  # as the knobs are drawn then
        page = registry.page_at("speculative")
        st.text(changed.note(found, page))
        st.session_state["draft_length"] = 3
        st.text(changed.note(found, page))

    app = AppTest.from_function(script, default_timeout=60)
    app.session_state["given"] = trace
    app.run()
    assert not app.exception
    before, after = (text.value for text in app.text)
    assert before == "" and "Changed since this run: Draft length." in after


def test_what_does_nothing_stands_in_no_caption() -> None:

    told = defaults()
    plain = spec_controls.config(told.__getitem__)
    idle = {"typical_epsilon": 0.2, "typical_delta": 0.5, "ngram_size": 5, "draft_temperature": 2}
    assert spec_controls.config({**told, **idle}.__getitem__) == plain
    lookup = {**told, "draft": spec_controls.LOOKUP}
    idle = {"own_temperature": True, "confidence": 0.5}
    found = spec_controls.config({**lookup, **idle}.__getitem__)
    assert found == spec_controls.config(lookup.__getitem__)
    greedy = {**told, "temperature": 0.0}
    assert spec_controls.config(greedy.__getitem__).shaping == Shaping(temperature=0.0)
    # A draft with a temperature of its own is cut by the filters still.
    greedy |= {"own_temperature": True, "draft_temperature": 0.5}
    assert spec_controls.config(greedy.__getitem__).shaping.top_p == 0.95


def test_the_link_holds_the_selected_token(open_spec: Open) -> None:
    example = make_spec(30)
    app = open_spec()
    assert "token" not in app.query_params
    view_of(app).look_at(1, EXTRA)
    app.run()
    assert app.query_params["token"] == "1.own"
    view_of(app).look_at(2, 0)
    app.run()
    assert app.query_params["token"] == "2.0"
    view_of(app).look_at(*telling_token(example))
    app.run()
    assert "token" not in app.query_params
    for text, token in (("2.0", (2, 0)), ("1.own", (1, EXTRA))):
        assert view_of(open_spec(token=text)).token == token
    for text in ("99.0", "2", "a.b", "-1.0", "2.-1", "1.0.0", "².", "٢.0"):
        assert view_of(open_spec(token=text)).token == telling_token(example)


@pytest.mark.usefixtures("scripted")
def test_the_run_of_a_link_opens_at_its_token(open_spec: Open) -> None:
    app = settle(open_spec(run="1", spec_tokens="12", token="1.own"))
    assert view_of(app).source == "run" and view_of(app).token == (1, EXTRA)
    assert app.query_params["token"] == "1.own"
    app = press(app, "start")
    assert view_of(app).token == telling_token(view_of(app).trace)


@pytest.mark.parametrize("rule", ["speculative", "exact", "typical"])
def test_what_to_notice_is_true_of_the_rule(rule: str) -> None:
    said = spec_looks.notice(make_spec(30, acceptance=rule))
    assert ("never\nrejected" in said or "never rejected" in said) == (rule == "speculative")
    assert ("Nothing is thrown" in said) == (rule == "typical")
    assert "temperature 0" in spec_looks.notice(make_spec(30, temperature=0.0))


def test_another_run_forgets_what_was_measured() -> None:
    view = SpecView()
    view.show(make_spec(30), "run")
    view.alone, view.first = make_trace(), 40
    view.show(make_spec(20), "run")
    assert view.alone is None and view.first == 0


def test_a_token_that_is_not_there_stays_unselected() -> None:
    view = SpecView()
    view.show(make_spec(30), "run")
    before = view.token
    for at, place in ((99, 0), (0, 99), (-1, 0), (0, -2)):
        view.look_at(at, place)
    assert view.token == before
    view.look_at(1, 0)
    assert view.token == (1, 0)


def test_a_file_never_makes_the_app_load_a_strange_draft(open_spec: Open) -> None:
    app = open_spec()
    view = view_of(app)
    view.show(replace(make_spec(30), draft_id="stranger/model"), "file")
    app.run()
    assert app.button(key="start-comparison").disabled
    assert "Choose this run's models first." in texts(app)


def test_a_link_never_loads_a_strange_draft(open_spec: Open) -> None:
    app = open_spec(run="1", draft="stranger/model")
    assert bar.LINK_NEEDS_RUN in texts(app) and not view_of(app).jobs


def test_a_link_to_a_built_in_model_that_there_is_not_names_those_that_there_are(
    open_spec: Open,
) -> None:
    app = open_spec(run="1", draft="embedded:nope")
    assert "no built-in model embedded:nope" in texts(app)
    assert "embedded:target or embedded:draft" in texts(app) and not view_of(app).jobs


def test_loading_a_run_restores_its_settings() -> None:
    trace = make_spec(20, acceptance="exact", draft_temperature=0.5, adaptive=True)

    def script() -> None:
        import streamlit as st

        from pages.ui.speculative import controls as spec_controls

        spec_controls.load_controls(st.session_state["given"])

    app = AppTest.from_function(script, default_timeout=60)
    app.session_state["given"] = trace
    app.run()
    assert not app.exception
    assert app.session_state["rule"] == "exact" and app.session_state["adaptive"] is True
    assert app.session_state["draft_temperature"] == 0.5
    assert app.session_state["draft"] == "embedded:draft"


def test_hostile_text_is_escaped_on_the_web_page() -> None:
    view, trace = SpecView(), make_spec(24, hostile=True)
    view.show(trace, "run")
    page = spec_share.web_page(view, trace).decode()
    body = page.split("</head>")[1]
    assert "<img" not in body and "Rounds and their drafted tokens" in page


def test_the_web_page_holds_all_that_was_measured() -> None:
    view, trace = SpecView(), make_spec(30)
    view.show(trace, "run")
    view.comparison, view.sweep = make_comparison(0.02, 0.03), SWEEP
    view.counted, view.alone = COUNTED, make_trace()
    view.scored = {"multi_query": [trace], "batch_expansion": [trace]}
    view.three = spec_state.Three(acceptance_table([0.6, 0.3, 0.1], [0.2, 0.5, 0.3]), "speculative")
    page = html.unescape(spec_share.web_page(view, trace).decode())
    for words in (
        verdict(view.comparison),
        lossless_words(COUNTED, "speculative", claims=True),
        scoring_words(view.scored),
        "Beside the target alone: Token 1 differs",
        "<th>percentile</th>",
        "break-even draft length",
        "<td>Batch expansion</td>",
        "Emitted against the target",
    ):
        assert words in page, words
    assert "<b>a</b>" not in spec_share.web_page(view, trace).decode().split("</head>")[1]


def test_the_web_page_tells_where_each_token_came_from() -> None:
    view, trace = SpecView(), make_spec(24)
    view.show(trace, "run")
    body = spec_share.web_page(view, trace).decode().split("<pre>")[1].split("</pre>")[0]
    # Once more in the line that says what the kinds are.
    for kind in ("accepted", "recovered", "bonus"):
        made = [found for found in emitted(trace) if found.kind == kind]
        assert made and body.count(f'class="{kind}"') == len(made) + 1
        assert f"border-bottom-color:{kind_color(kind)}" in body


def test_a_run_without_a_draft_says_so(open_spec: Open) -> None:
    app = open_spec()
    view_of(app).show(make_spec(1), "run")
    app.run()
    assert "nothing was drafted" in texts(app) and "0 of 0" not in texts(app)


def test_a_trace_file_knows_its_page() -> None:
    again = Trace.from_dict(json.loads(make_spec(20).to_json()))
    assert again.config.method == "speculative" and again.rounds == make_spec(20).rounds


def test_numbers_that_are_all_nought_and_temperature_nought_are_said_beside_the_table(
    open_spec: Open,
) -> None:
    app = open_spec(temperature="0", **{"spec-look": "Losslessness"})
    for name in "ABC":
        app.number_input(key=f"target_{name}").set_value(0.0)
    app = settle(app.run())
    assert "All numbers of the target are 0" in texts(app)
    assert "numbers of the draft" not in texts(app) and "at temperature 0" in texts(app)
