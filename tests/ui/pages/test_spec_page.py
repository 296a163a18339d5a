"""The speculative page without a browser: its states, its measurements, what it may not load."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Greedy
from core.decoding.shaping.config import KNOB_SETTINGS, STATEFUL, Shaping
from core.decoding.speculative.acceptance import acceptance_table
from core.decoding.speculative.config import Speculative
from core.decoding.speculative.sources import SOURCES, DraftSource
from core.decoding.speculative.types import DraftRecord
from core.figures.base.measure import text_width
from core.figures.opening import telling_token
from core.figures.speculative.lossless import lossless_words
from core.figures.speculative.metrics import scoring_words
from core.figures.speculative.time import verdict
from core.figures.speculative.words import EXTRA, emitted, kind_color
from core.models.places import DEFAULT_DRAFTS
from core.models.scripted import ScriptedModel
from pages.ui.resources import models
from pages.ui.run import named_run
from pages.ui.run.files import save as share
from pages.ui.speculative import controls as spec_controls
from pages.ui.speculative import save as spec_share
from pages.ui.speculative import state as spec_state
from pages.ui.speculative.state import SpecView
from pages.ui.widgets.controls.control import defaults
from tests.figures.specs import COUNTED, SWEEP, make_comparison, make_spec, spec_model
from tests.figures.traces import make_trace
from tests.ui import seen
from tests.ui.conftest import Open, set_example
from tests.ui.knobs import move, shown_knobs
from tests.ui.seen import charts, markup, texts
from tests.ui.stores import uncached

PROMPT, OTHER = " the a", "embedded:target"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The models that are there, by name."""
    torch.set_num_threads(1)
    models_by_name: dict[str, ScriptedModel] = {}

    def load(where: str) -> ScriptedModel:
        return models_by_name.setdefault(where, spec_model(where.removeprefix("embedded:")))

    monkeypatch.setattr(models, "MODELS", uncached(load))


@pytest.fixture
def open_spec(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Open the speculative page on a small run, with these parameters in the address."""
    set_example(monkeypatch, SpecView, make_spec(30))
    return partial(open_app, "speculative.py", prompt=PROMPT)


def view_of(app: AppTest) -> SpecView:
    return cast(SpecView, app.session_state["speculative"])


settle = partial(seen.settle, key="speculative")


def press(app: AppTest, key: str) -> AppTest:
    return settle(app.button(key=key).click().run())


def test_first_paint_is_the_example_at_a_rejected_token(open_spec: Open) -> None:
    app, example = open_spec(), make_spec(30)
    assert f"Example\N{NO-BREAK SPACE}· 30 tokens in {len(example.rounds)} rounds" in texts(app)
    assert charts(app) == ["timeline", "verification", "three-tokens", "time"]
    at, place = view_of(app).token
    assert example.rounds[at].drafted[place].outcome == "rejected"


def test_only_settings_that_act_are_there_and_a_link_brings_them(open_spec: Open) -> None:
    app = open_spec(rule="Typical", typical_epsilon="0.2", own_temperature="true")
    assert app.number_input(key="typical_epsilon").value == 0.2
    keys = {field.key for field in app.number_input}
    assert {"draft_temperature", "confidence"} <= keys and "ngram_size" not in keys
    keys = {field.key for field in open_spec(draft="prompt lookup").number_input}
    assert "ngram_size" in keys and not {"confidence", "typical_epsilon"} & keys


def test_the_shape_of_the_draft_says_what_it_changes(open_spec: Open) -> None:
    for tree, acts, words in (
        ("chain", True, "a sibling may be accepted in its place"),
        ("3.2.1", False, "so the draft length does nothing"),
        ("dynamic", True, "no longer than the draft length"),
    ):
        app = open_spec(tree=tree, draft_length="7")
        field = app.number_input(key="draft_length")
        assert field.disabled is not acts
        config = spec_controls.config({**defaults(), "tree": tree, "draft_length": 7}.__getitem__)
        assert ("draft_length" in config.idle) is not acts
        assert [words in caption.value for caption in app.caption].count(True) == 1
    app = open_spec(draft="jacobi")
    assert not any("sibling" in caption.value for caption in app.caption)


def test_every_shape_of_the_draft_can_be_chosen_and_left(open_spec: Open) -> None:
    app = open_spec()
    for tree, widths, nodes in (
        ("3.2.1", "3,2,1", 0),
        ("chain", "", 0),
        ("dynamic", "", 12),
        ("2.1.1", "2,1,1", 0),
    ):
        assert not app.selectbox(key="tree").disabled
        app.selectbox(key="tree").set_value(tree).run()
        config = spec_controls.config({**defaults(), "tree": app.session_state["tree"]}.__getitem__)
        assert (config.tree_widths, config.tree_nodes) == (widths, nodes)
    # Without probabilities of a draft the text makes a dynamic tree, whatever the menu says.
    held = {**defaults(), "draft": "suffix", "tree": "3.2.1"}
    config = spec_controls.config(held.__getitem__)
    assert (config.tree_widths, config.tree_nodes) == ("", 12)


@pytest.mark.parametrize(
    ("settings", "tree"),
    [({}, "chain"), ({"tree_widths": "2,1"}, "2.1"), ({"tree_nodes": 8}, "dynamic")],
)
def test_a_run_sets_the_shape_that_it_drafted(settings: dict[str, object], tree: str) -> None:
    assert spec_controls.control_values(make_spec(4, **settings))["tree"] == tree


def test_every_filter_of_decode_has_its_knob_and_its_place_in_the_address(open_spec: Open) -> None:
    filters = [
        spec.key
        for spec in KNOB_SETTINGS
        if spec.role == "filter" and spec.on_decode and (spec.part_of or spec.field) not in STATEFUL
    ]
    app = open_spec(top_n_sigma="1.2")
    knobs = shown_knobs(app)
    assert [key for key in knobs if key in filters] == filters and "penalty" not in knobs
    assert knobs["top_n_sigma"]["value"] == 1.2
    assert (
        spec_controls.config({**defaults(), "top_n_sigma": 1.2}.__getitem__).shaping.top_n_sigma
        == 1.2
    )


def test_a_rule_that_loses_something_says_so(open_spec: Open) -> None:
    app = open_spec(rule="Typical")
    assert "It changes the distribution" in texts(app)
    move(app, "temperature", 0.0).run()
    assert spec_controls.GREEDY_NOTE in texts(app) and "NOT" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_run_makes_a_proved_run_of_both_models_and_prompt_lookup_needs_no_draft(
    open_spec: Open,
) -> None:
    app = press(open_spec(spec_tokens="12", draft_length="3"), "start")
    trace = view_of(app).trace
    assert trace is not None and view_of(app).source == "run" and "Your run" in texts(app)
    assert (trace.model_id, trace.draft_id) == ("embedded:target", "embedded:draft")
    assert trace.config.draft_length == 3 and len(trace.token_ids) <= 12
    assert trace.checks and all(check.passed for check in trace.checks)
    app.session_state["draft"] = spec_controls.LOOKUP
    trace = view_of(press(app.run(), "start")).trace
    assert (trace.draft_id, trace.config.drafter) == ("", "prompt_lookup")  # type: ignore[union-attr]


@pytest.mark.parametrize("row", SOURCES.values(), ids=SOURCES)
def test_every_source_is_chosen_with_its_own_settings_and_a_run_gives_them_back(
    row: DraftSource,
) -> None:
    moved = {
        "ngram_size": 4,
        "ngram_min": 2,
        "suffix_factor": 3.0,
        "suffix_min_prob": 0.25,
        "lookahead_window": 5,
        "lookahead_guesses": 3,
        "exit_layer": 5,
        "confidence": 0.5,
        "own_temperature": True,
        "draft_temperature": 1.5,
    }
    chosen = "embedded:draft" if row.name == "model" else row.name
    read = {**defaults(), **moved, "draft": chosen}.__getitem__
    config = spec_controls.config(read)
    assert config.drafter == row.name
    assert spec_controls.draft(read) == DEFAULT_DRAFTS.get(row.name, "")
    plain = Speculative()
    own = {name for source in SOURCES.values() for name in source.settings}
    assert {name for name in own if getattr(config, name) != getattr(plain, name)} == row.settings
    record = DraftRecord(spec_controls.draft(read))
    trace = replace(make_spec(), config=config, method_record=record)
    values = spec_controls.control_values(trace)
    assert spec_controls.config({**defaults(), **values}.__getitem__) == config


@pytest.mark.usefixtures("scripted")
def test_a_target_with_other_tokens_begins_with_prompt_lookup(open_spec: Open) -> None:
    """No embedded model can draft for it; what a link or a visitor chooses stays."""
    app = open_spec(model="smollm2")
    assert app.session_state["draft"] == spec_controls.LOOKUP
    assert "knows other tokens than smollm2" in markup(app)
    for model in ("embedded:target", "smollm2"):
        # The second request tells that the browser has the draft that the page chose.
        app.selectbox(key="model").set_value(model).run().run()
        app.selectbox(key="draft").set_value(spec_controls.DEFAULT_DRAFT).run()
        assert app.session_state["draft"] == spec_controls.DEFAULT_DRAFT
        assert "prompt lookup does" not in markup(app)
    app = open_spec(model="smollm2", draft="some/model")
    assert app.session_state["draft"] == "some/model" and "prompt lookup does" not in markup(app)


def test_a_copy_of_an_embedded_model_keeps_its_draft(open_spec: Open, tmp_path: Path) -> None:
    copied = models.EMBEDDED_FOLDER / "target" / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_bytes(copied.read_bytes())
    assert open_spec(model=str(tmp_path)).session_state["draft"] == spec_controls.DEFAULT_DRAFT


@pytest.mark.usefixtures("scripted")
def test_time_and_losslessness_are_measured_on_demand_and_give_a_verdict_each(
    open_spec: Open,
) -> None:
    app = press(open_spec(repeats="1", runs="100", run_tokens="1"), "start-comparison")
    assert view_of(app).comparison is not None and "because a round emits" in texts(app)
    app.session_state["spec-look"] = "Acceptance and metrics"
    captions = " ".join(element.value for element in app.run().caption)
    assert "Costs and the expected speed-up follow" not in captions and "median round" in captions
    assert "The acceptance at other draft lengths" in captions
    app = press(move(app, "spec-look", "Time").run(), "start-sweep")
    assert "draft-lengths" in charts(app) and view_of(app).sweep is not None
    move(app, "spec-look", "Losslessness").run()
    assert app.number_input(key="run_tokens").value == 3, "one token would draft nothing"
    app.number_input(key="run_tokens").set_value(2)
    app = press(app, "start-counted")
    assert {"outcomes", "three-tokens"} <= set(charts(app)) and "p-value" in texts(app)
    assert view_of(app).counted.runs == 100
    # The closed tab of the times is drawn ahead, beside the open one.
    assert "because a round emits" in texts(app)
    assert "Acceptance rule speculative, 100 runs" in texts(app)
    assert not app.exception and "Something went wrong" not in texts(app)


@pytest.mark.parametrize("settings", [{}, {"tree_nodes": 4}])
def test_no_definition_of_a_metric_is_cut(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    set_example(monkeypatch, SpecView, make_spec(30, **settings))
    app = open_app("speculative.py", **{"spec-look": "metrics"})
    table = next(element for element in app.dataframe if "definition" in element.value)
    columns = json.loads(table.proto.columns)
    assert not table.proto.row_height, "one line is enough before anything is measured"
    for column in ("metric", "definition", "source"):
        widest = max(text_width(text, 14) for text in table.value[column])
        assert widest <= columns[column]["width"] - 16, column


@pytest.mark.usefixtures("scripted")
def test_the_other_tabs_draw_and_measure(open_spec: Open) -> None:
    app = open_spec(repeats="1")
    assert "positions" in charts(move(app, "spec-look", "Acceptance and metrics").run())
    app = press(move(app, "spec-look", "Input of the target").run(), "start-scored")
    assert "feed" in charts(app) and "Both emitted the same tokens." in texts(app)


@pytest.mark.usefixtures("scripted")
def test_greedy_is_compared_token_by_token(open_spec: Open) -> None:
    app = open_spec(temperature="0", spec_tokens="12", **{"spec-look": "Losslessness"})
    app = settle(press(app, "start"))
    target_run = view_of(app).alone
    assert target_run is not None and isinstance(target_run.config, Greedy)
    assert f"Identical: all {len(target_run.token_ids)} tokens." in texts(app)
    assert not settle(app.run()).exception and view_of(app).alone is target_run, "once a run"


@pytest.mark.usefixtures("scripted")
def test_a_greedy_run_of_a_strange_model_is_compared_on_demand_only(open_spec: Open) -> None:
    app = open_spec(temperature="0", **{"spec-look": "Losslessness"})
    view = view_of(app)
    view.show(
        replace(make_spec(30, temperature=0.0), method_record=DraftRecord("stranger/model")), "run"
    )
    app.run()
    assert not view.jobs and not app.button(key="start-alone").disabled


def changed(app: AppTest) -> bool:
    return "Changed since this run" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_another_prompt_or_model_is_another_run_and_what_does_nothing_is_not(
    open_spec: Open,
) -> None:
    app = press(open_spec(spec_tokens="12"), "start")
    for key, value, differs in (
        ("prompt", " the b", True),
        ("model", "embedded:draft", True),
        ("draft", OTHER, True),
        ("draft_temperature", 0.3, False),
        ("system", "be brief", False),
    ):
        before = app.session_state.get(key, "")
        assert changed(move(app, key, value).run()) == differs, key
        assert not changed(move(app, key, before).run())


def test_a_file_sets_the_controls_and_never_makes_the_app_load_a_strange_draft(
    open_spec: Open,
) -> None:
    """Settings without a control don't mark the run as changed."""
    acceptance = {"acceptance": "typical", "posterior_threshold": 0.2, "posterior_alpha": 0.4}
    drafting = {"draft_temperature": 0.5, "draft_threshold": 0.25, "adaptive": True}
    beyond = {"min_new_tokens": 3, "draft_length": 30, "top_candidates": 7}
    trace = make_spec(30, scoring="batch_expansion", **acceptance, **drafting, **beyond)
    file = share.trace_file(
        replace(trace, prompt="the a", method_record=DraftRecord("stranger/model"))
    )
    app = open_spec()
    app.file_uploader[0].upload("run.json", file, "application/json").run()
    assert not changed(app)
    config = spec_controls.config((defaults() | app.session_state.to_dict()).__getitem__)
    for name in (*acceptance, *drafting, "scoring", "seed", "shaping"):
        assert getattr(config, name) == getattr(trace.config, name), name
    assert app.button(key="start-comparison").disabled
    assert "Choose this run's models first." in texts(app)
    move(app, "draft_length", 3).run()
    assert "Changed since this run: Draft length." in texts(app)


def test_what_does_nothing_stands_in_no_caption() -> None:
    def config(**said: object) -> Speculative:
        return spec_controls.config({**defaults(), **said}.__getitem__)

    idle = {"typical_epsilon": 0.2, "typical_delta": 0.5, "ngram_size": 5, "draft_temperature": 2}
    assert config(**idle) == config()
    lookup = {"draft": spec_controls.LOOKUP}
    assert config(**lookup, own_temperature=True, confidence=0.5) == config(**lookup)
    assert config(temperature=0.0).shaping == Shaping(temperature=0.0)
    # A draft with a temperature of its own is cut by the filters still.
    own_config = config(temperature=0.0, own_temperature=True, draft_temperature=0.5)
    assert own_config.shaping.top_p == 0.95


def test_the_link_holds_the_selected_token(open_spec: Open) -> None:
    app, telling = open_spec(), telling_token(make_spec(30))
    for token, word in ((telling, None), ((1, EXTRA), "1.own"), ((2, 0), "2.0"), (telling, None)):
        view_of(app).look_at(*token)
        assert app.run().query_params.get("token") == word
        assert view_of(app).token == view_of(open_spec(**({"token": word} if word else {}))).token
    for text in ("99.0", "2.-1", "1.0.0", "٢.0"):
        assert view_of(open_spec(token=text)).token == telling


@pytest.mark.usefixtures("scripted")
def test_the_run_of_a_link_opens_at_its_token(open_spec: Open) -> None:
    app = settle(open_spec(run="1", spec_tokens="12", token="1.own"))
    assert view_of(app).source == "run" and view_of(app).token == (1, EXTRA)
    assert app.query_params["token"] == "1.own"
    app = press(app, "start")
    assert view_of(app).token == telling_token(view_of(app).trace)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("stranger/model", named_run.NEEDS_RUN),
        ("embedded:nope", "no built-in model embedded:nope"),
        ("embedded:nope", "embedded:target or embedded:draft"),
    ],
)
def test_a_link_never_loads_a_strange_draft(open_spec: Open, draft: str, said: str) -> None:
    app = open_spec(run="1", draft=draft)
    assert said in texts(app) and not view_of(app).jobs


def test_the_web_page_holds_all_that_was_measured_and_hostile_text_escaped() -> None:
    view, trace = SpecView(), make_spec(30, hostile=True)
    view.show(trace, "run")
    view.comparison, view.sweep = make_comparison(0.02, 0.03), SWEEP
    view.counted, view.alone = COUNTED, make_trace()
    view.scored = {"multi_query": [trace], "batch_expansion": [trace]}
    view.three = spec_state.ThreeTokenExample(
        acceptance_table([0.6, 0.3, 0.1], [0.2, 0.5, 0.3]), "speculative"
    )
    page = spec_share.web_page(view, trace).decode().split("</head>")[1]
    for words in (
        verdict(view.comparison),
        lossless_words(COUNTED, "speculative", claims=True),
        scoring_words(view.scored),
        "Beside the target alone: Token 1 differs",
        "<th>percentile</th>",
        "break-even draft length",
        "<td>Batch expansion</td>",
        "Emitted and target distribution",
    ):
        assert words in html.unescape(page), words
    assert "<b>a</b>" not in page and "<img" not in page


def test_the_web_page_tells_where_each_token_came_from() -> None:
    view, trace = SpecView(), make_spec(24)
    view.show(trace, "run")
    body = spec_share.web_page(view, trace).decode().split("<pre>")[1].split("</pre>")[0]
    # Once more in the line that says what the kinds are.
    for kind in ("accepted", "recovered", "bonus"):
        made = [token for token in emitted(trace) if token.kind == kind]
        assert made and body.count(f'class="{kind}"') == len(made) + 1
        assert f"border-bottom-color:{kind_color(kind)}" in body


def test_the_timeline_opens_at_the_selected_token_and_may_then_be_turned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spec_state, "telling_token", lambda _: (13, 0))
    view, trace = SpecView(), make_spec(90)
    view.show(trace, "run")
    for shown, first in ((25, 0), (5, 10)):  # The browser reports a phone's width late.
        view.fit_window(shown)
        assert view.first == first
    view.turn_page("first", 0)
    view.fit_window(5)
    assert view.first == 0 and view.token == (13, 0)
    view.show(trace, "run")
    view.fit_window(5)
    assert view.first == 10


def test_a_run_without_a_draft_says_so(open_spec: Open) -> None:
    app = open_spec()
    view_of(app).show(make_spec(1), "run")
    app.run()
    assert "nothing was drafted" in texts(app) and "0 of 0" not in texts(app)


def test_the_proof_on_three_tokens_is_titled_by_what_its_rule_does(open_spec: Open) -> None:
    for rule, title in (
        ("speculative", "Why nothing changes"),
        ("exact", "Why nothing changes"),
        ("typical", "What this rule changes"),
    ):
        app = open_spec(rule=rule)
        assert f"## {title}" in markup(app) and "three-tokens" in charts(app)
        lost = view_of(app).three.table.total_variation
        assert (lost < 1e-9) == (title == "Why nothing changes")
