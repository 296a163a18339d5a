"""The Compare page: two runs, where they part, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from core import Greedy, Shaping, collect
from core.decoding.comparison.types import PartedToken, Parting
from core.decoding.record.trace import Trace
from core.models.scripted import ScriptedModel
from pages.ui.compare import page, work
from pages.ui.compare.pairs import PAIRS
from pages.ui.compare.sources import labels
from pages.ui.compare.state import LEFT, RIGHT, PairView, SessionRun, SideView
from pages.ui.decode.state import DecodeView
from pages.ui.resources import models
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from tests.depth import mostly_slow
from tests.figures.traces import make_trace
from tests.ui import seen
from tests.ui.conftest import open_page, serve
from tests.ui.seen import data_of

TRACES = Path(__file__).parents[3] / "assets" / "traces"
PROBS = {(): [0.1, 0.0, 0.1, 0.1, 0.4, 0.3, 0.0, 0.0], (4,): [0.5, 0, 0, 0, 0, 0, 0.5, 0]}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat` or ` ran`, then the end."""
    found, coarse = (
        ScriptedModel(PROBS, context_window=64, model_id="embedded:target") for _ in range(2)
    )
    coarse.dtype = "bfloat16"
    found.in_dtype = {"bfloat16": coarse, "float32": found}.__getitem__  # type: ignore[attr-defined]
    return cast(ScriptedModel, serve(monkeypatch, found))


def opened(state: dict[str, object] | None = None, **parameters: str) -> AppTest:
    pair = {"pair": PairView(painted=True)}
    return open_page("compare.py", pair | (state or {}), **parameters)


def pair_of(app: AppTest) -> PairView:
    return cast(PairView, app.session_state["pair"])


def side_of(app: AppTest, slot: str) -> SideView:
    return cast(SideView, app.session_state[f"{slot}side"])


def settle(app: AppTest) -> AppTest:
    for key in (f"{LEFT}side", f"{RIGHT}side", "pair", f"{LEFT}side", f"{RIGHT}side"):
        seen.settle(app, key)
    return app.run()


def selected(app: AppTest) -> dict[str, int]:
    """The step that each side's strip shows."""
    return {data["key"]: data["selected"] for _, data in data_of(app, "token_strip")}


def choose(app: AppTest, strip: str, index: int) -> AppTest:
    """Run the app as the browser has it run when a token was chosen in this strip."""
    states = app._tree.get_widget_states()
    name = next(name for name, data in data_of(app, "token_strip") if data["key"] == strip)
    states.widgets.append(WidgetState(id=name, json_value=json.dumps({"selected": index})))
    return app._run(states).run()


def test_two_stored_runs_are_compared_before_any_model_is_loaded() -> None:
    app = opened()
    said = seen.texts(app)
    assert "They differ in temperature (0.8 | 0.3)." in said
    assert "Only temperature can have decided it" in said
    assert "margin 2.6 nats, rounding" in said
    assert {"candidates", "heatmap", "entropy"} <= set(seen.charts(app))
    parted = pair_of(app).parting(*pair_of(app).shown)
    assert selected(app) == {"a_strip": parted.at, "b_strip": parted.at}
    tokens = {data["key"]: data["tokens"] for _, data in data_of(app, "token_strip")}
    for strip in tokens.values():
        assert [at for at, token in enumerate(strip) if "parted" in token[3]] == [parted.at]


def test_a_chosen_token_is_shown_on_both_sides_and_in_the_address() -> None:
    app = choose(opened(), "b_strip", 9)
    assert not app.exception
    assert selected(app) == {"a_strip": 9, "b_strip": 9}
    assert app.query_params["step"] == "9"
    drawn = [json.dumps(spec) for spec in seen.specs(app)]
    assert sum("Candidates at step 10" in spec for spec in drawn) == 2
    app = app.button(key="first_difference").click().run()
    assert selected(app)["a_strip"] == 4 and "step" not in app.query_params
    again = open_page("compare.py", {}, step="9")
    assert selected(again) == {"a_strip": 9, "b_strip": 9}


def test_a_step_that_one_run_lacks_is_said() -> None:
    app = opened()
    short = Trace.load(TRACES / "decode.json")
    short = replace(
        short,
        steps=short.steps[:6],
        token_ids=short.token_ids[:5],
        text="".join(step.text for step in short.token_steps[:5]),
    )
    side_of(app, LEFT).show(short, "run")
    app = choose(app.run(), "b_strip", 20)
    assert not app.exception and "A has no step 21: 5 steps." in seen.texts(app)
    assert selected(app) == {"a_strip": -1, "b_strip": 20}


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "name",
    mostly_slow(
        (name for name in PAIRS if name not in ("server", "gguf")), ("beam", "speculation")
    ),
)
def test_a_ready_made_pair_runs_both_sides_in_one_press(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "has_chat_template", lambda _: False)
    app = opened(a_prompt="the cat")
    if app.button(key=f"pair_{name}").disabled:
        assert name == "template"
        return
    app = settle(app.button(key=f"pair_{name}").click().run())
    left, right = side_of(app, LEFT), side_of(app, RIGHT)
    assert (left.source, right.source) == ("run", "run"), (left.failure, right.failure)
    assert left.trace.prompt == right.trace.prompt and left.trace is not right.trace
    assert len(left.steps) == len(left.trace.token_ids)
    assert len(right.steps) == len(right.trace.token_ids) > 0
    assert [trace for trace, _ in pair_of(app).made].count(right.trace) == 1
    if name == "dtype":
        assert (left.trace.dtype, right.trace.dtype) == ("float32", "bfloat16")
    if name in ("cache", "speculation"):
        assert "The runs emit the same tokens" in seen.markup(app)


@pytest.mark.usefixtures("model")
def test_both_texts_read_by_the_models_are_measured_over_the_whole_vocabulary() -> None:
    app = opened(a_prompt="the cat")
    app = settle(app.button(key="pair_temperatures").click().run())
    app.session_state["compare_text"] = "left"
    app.session_state["compare_of"] = "final"
    app.session_state["measure"] = "KL divergence"
    app = settle(app.run())
    shown = next(s for s in seen.specs(app) if "Divergence of the two runs" in json.dumps(s))
    assert "Over all tokens" in json.dumps(shown)
    assert len(shown["data"][0]["x"]) == len(side_of(app, LEFT).trace.token_ids)


@pytest.mark.usefixtures("model")
def test_a_side_runs_its_own_prompt_model_and_method() -> None:
    app = opened()
    app.text_area(key="b_prompt").set_value("the cat")
    app.number_input(key="b_seed").set_value(5)
    app = settle(app.run().button(key="b_start").click().run())
    left, right = side_of(app, LEFT), side_of(app, RIGHT)
    assert (left.source, right.source) == ("example", "run")
    assert right.trace.prompt == "the cat" and right.trace.config.seed == 5
    assert app.query_params["b_run"] == "1" and "a_run" not in app.query_params


@pytest.mark.usefixtures("model")
def test_a_link_makes_the_runs_of_both_sides() -> None:
    app = opened(a_run="1", b_run="1", a_prompt="the cat", b_prompt="the cat", b_method="greedy")
    app = settle(app)
    left, right = side_of(app, LEFT).trace, side_of(app, RIGHT).trace
    assert (left.prompt, left.config.method, right.config.method) == (
        "the cat",
        "sampling",
        "greedy",
    )


def test_a_model_that_is_not_offered_runs_on_neither_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.ui.platform.reach.shared", lambda: True)
    app = opened(b_run="1", b_model="someone/else")
    assert "doesn't offer that model" in side_of(app, RIGHT).failure
    assert side_of(app, RIGHT).source == "example" and not side_of(app, RIGHT).jobs


def test_a_run_of_the_menu_is_put_on_its_side_with_its_controls() -> None:
    hostile = make_trace(6, hostile=True)
    hostile = replace(hostile, config=replace(hostile.config, top_candidates=7))
    app = opened()
    pair_of(app).made.append((hostile, None))
    app = app.run()
    menu = next(m for m in app.get("menu_button") if m.proto.id.endswith(f"-{RIGHT}side_run"))
    label = next(option for option in menu.proto.options if option.startswith("Compare"))
    states = app._tree.get_widget_states()
    chosen = WidgetState(id=menu.proto.id)
    chosen.string_trigger_value.data = label
    states.widgets.append(chosen)
    before = side_of(app, LEFT).trace
    app = app._run(states).run()
    assert side_of(app, RIGHT).trace is hostile and side_of(app, LEFT).trace is before
    assert app.session_state[f"{RIGHT}prompt"] == hostile.prompt
    assert not app.exception
    assert "<img" not in seen.markup(app) and "onerror" not in seen.markup(app)


def test_two_branches_of_one_name_have_two_labels() -> None:
    """Two trees may have a branch of the same name, with the same settings."""
    words = labels([SessionRun("Branch Run 2", make_trace(count)) for count in (5, 5, 5)])
    assert len(set(words)) == 3 and "3" in words[2][-4:]


def test_an_uploaded_trace_becomes_its_side_s_run() -> None:
    app = opened()
    file = (TRACES / "decode.json").read_bytes()
    upload = app.file_uploader(key=f"{RIGHT}side_file")
    app = upload.upload("run.json", file, "application/json").run()
    side = side_of(app, RIGHT)
    assert not app.exception and side.source == "file"
    assert side.trace.token_ids == Trace.load(TRACES / "decode.json").token_ids
    assert "The runs emit the same tokens" in seen.markup(app)
    app.file_uploader(key=f"{RIGHT}side_file").upload("cut.json", file[:50], "application/json")
    app = app.run()
    assert "not JSON" in side_of(app, RIGHT).failure and side_of(app, RIGHT).trace is side.trace


@pytest.mark.usefixtures("model")
def test_the_model_names_the_setting_that_decides_at_a_press(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bias, one of two settings, makes another token the most probable one."""
    monkeypatch.setattr(models, "is_embedded", lambda _: True)
    left, right = (
        collect(model, [2], Greedy(max_new_tokens=2, min_new_tokens=least, shaping=shaping))
        for least, shaping in ((0, Shaping()), (1, Shaping(logit_bias=((5, 1.0),))))
    )
    app = opened()
    for slot, run in ((LEFT, left), (RIGHT, right)):
        side_of(app, slot).show(run, "file")
    app = app.run()
    assert "alone decides it" not in seen.texts(app)
    app = settle(app.button(key="explain").click().run())
    assert "logit bias alone decides it" in seen.texts(app)


def finished(work: Callable[[Job], object]) -> Job:
    job = jobs.start(work)
    assert job.done.wait(seen.SECONDS)
    return job


def test_each_model_reads_in_the_number_type_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    fine = ScriptedModel(PROBS, model_id="embedded:target")
    coarse = ScriptedModel({(): [0.3, 0, 0, 0, 0.3, 0.4, 0, 0]}, model_id="embedded:target")
    coarse.dtype = "bfloat16"
    monkeypatch.setattr(models, "load", lambda *_: fine)
    fine.in_dtype = {"bfloat16": coarse}.__getitem__  # type: ignore[attr-defined]
    left, right = (collect(model, [2], Greedy(max_new_tokens=1)) for model in (fine, coarse))
    job = finished(lambda job: work.read_under(job, left, right, "left", "raw"))
    assert job.result.steps[0].divergence.variation == pytest.approx(0.3)
    del fine.in_dtype  # type: ignore[attr-defined]
    job = finished(lambda job: work.read_under(job, left, right, "left", "raw"))
    assert "no copy in bfloat16" in job.error and job.result is None


@pytest.mark.usefixtures("model")
def test_a_beam_has_no_distribution_that_it_draws_from() -> None:
    app = opened(a_prompt="the cat", compare_of="final")
    group = next(g for g in app.button_group if g.proto.id.endswith("-compare_of"))
    assert not group.proto.disabled
    app = settle(app.button(key="pair_beam").click().run())
    group = next(g for g in app.button_group if g.proto.id.endswith("-compare_of"))
    assert group.proto.disabled
    shown = [json.dumps(spec) for spec in seen.specs(app)]
    assert not any("distributions drawn from" in spec for spec in shown)
    assert side_of(app, RIGHT).read.token_ids == side_of(app, RIGHT).trace.token_ids


def test_the_files_of_both_runs_hold_their_figures_and_a_link() -> None:
    saved = AppTest.from_function(_saved, default_timeout=seen.SECONDS).run()
    assert not saved.exception
    names = saved.session_state["names"]
    assert {"entropy", "surprisal", "kl", "variation", "b-candidates-step-5"} <= set(names)
    assert sum("heatmap" in name for name in names) >= 2
    assert "two runs" in saved.session_state["page"]
    link = saved.session_state["link"]
    assert link.parameters["b_run"] is None and link.whole == {} and not link.lost
    made = saved.session_state["made"]
    assert made.parameters["b_run"] == made.whole["b_run"] == "1"
    assert made.parameters["b_temperature"] == "0.3" and made.parameters["a_run"] is None


def _saved() -> None:
    """Save the stored pair, and the same one with a right side that was run here."""
    import streamlit as st

    from pages.ui.compare import controls, save, state  # noqa: F401
    from pages.ui.compare.parts import parts

    pair = state.PairView.current()
    left, right = (side.trace for side in state.sides())
    assert left is not None and right is not None
    pair.follow(left, right)
    measures, parting = pair.recorded(left, right, "raw"), pair.parting(left, right)
    st.session_state["names"] = [
        part.name for part in parts(state.sides(), measures, pair.selected)
    ]
    page = save.web_page(state.sides(), parting, measures, pair.selected)
    st.session_state["page"] = page.decode()
    st.session_state["link"] = save.link_to_both()
    state.sides()[1].show(right, "run")
    st.session_state["made"] = save.link_to_both()


@pytest.mark.usefixtures("model")
def test_decode_hands_two_runs_over() -> None:
    view = DecodeView.initial()
    view.painted = True
    other = make_trace(5)
    view.runs = [(other, None)]
    view.show(make_trace(7), "run")
    view.runs.append((view.trace, None))
    app = open_page("decode.py", {"view": view})
    app.button(key="compare_run").click().run()
    assert side_of(app, LEFT).trace is other and side_of(app, RIGHT).trace is view.trace


def test_the_difference_of_two_models_is_not_called_rounding() -> None:
    rivals = (PartedToken(4, " sat", 0.4, 0.1), PartedToken(5, " ran", 0.3, 0.6))
    parting = Parting(0, "model", "", (), rivals, 0.065, 1.3)
    (words,) = page._margin(parting)
    assert "rounding" not in words and "margin 0.065 nats" in words and "1.3 nats" in words
    assert "rounding 1.3 nats" in page._margin(parting._replace(cause="settings"))[0]


@pytest.mark.usefixtures("model")
def test_a_beam_read_token_by_token_shows_probabilities_and_no_forced_token() -> None:
    app = opened(a_prompt="the cat")
    app = settle(app.button(key="pair_beam").click().run())
    assert not app.exception and side_of(app, RIGHT).read is not None
    assert "not recorded" not in seen.texts(app)
    shown = json.dumps([[data["tokens"] for _, data in data_of(app, "token_strip")],
                        seen.specs(app)])  # fmt: skip
    assert "orced" not in shown


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("name", mostly_slow(["beam", "speculation", "dtype"], ["dtype"]))
def test_the_address_of_a_pair_beyond_the_controls_of_a_side_makes_it_again(name: str) -> None:
    app = opened(a_prompt="the cat")
    app = settle(app.button(key=f"pair_{name}").click().run())
    address = {key: app.query_params[key] for key in app.query_params}
    assert address["pair"] == name
    assert not {"a_run", "b_run"} & address.keys()
    again = settle(opened(**address))
    for slot in (LEFT, RIGHT):
        made, before = side_of(again, slot), side_of(app, slot)
        assert made.source == "run" and made.request == before.request, made.failure
        assert made.trace.token_ids == before.trace.token_ids
    again = again.button(key="pair_example").click().run()
    assert [side_of(again, slot).source for slot in (LEFT, RIGHT)] == ["example", "example"]
    assert not {"pair", "a_run", "b_run"} & set(again.query_params)
    assert "temperature (0.8 | 0.3)" in seen.texts(again)


@pytest.mark.usefixtures("model")
def test_a_run_that_no_link_carries_leaves_none_of_both_in_the_address() -> None:
    app = opened(a_prompt="the cat")
    app = settle(app.button(key="pair_temperatures").click().run())
    assert app.query_params["a_run"] == app.query_params["b_run"] == "1"
    side_of(app, RIGHT).open(make_trace(5))
    app = settle(app)
    assert not {"a_run", "b_run"} & set(app.query_params)


@pytest.mark.usefixtures("model")
def test_two_temperatures_keep_the_seed_of_the_controls_after_greedy_decoding() -> None:
    app = opened(a_prompt="the cat", a_method="greedy", a_tokens="7")
    app = settle(app.button(key="pair_temperatures").click().run())
    for slot in (LEFT, RIGHT):
        config = side_of(app, slot).trace.config
        assert (config.method, config.seed, config.max_new_tokens) == ("sampling", 16, 7)


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("button", ["pair_beam", "a_start"])
def test_an_empty_prompt_is_refused_without_a_word_on_the_sidebar(button: str) -> None:
    app = opened(a_prompt="")
    app.text_area(key="a_prompt").set_value("")
    app = app.run().button(key=button).click().run()
    failure = side_of(app, LEFT).failure
    assert "The prompt is empty" in failure and "sidebar" not in failure
    assert not side_of(app, LEFT).jobs


def test_the_text_the_candidates_and_the_heatmap_of_each_side_carry_its_name() -> None:
    shown = [element.value for element in opened().markdown]
    assert shown.count("**A**") == shown.count("**B**") == 3
