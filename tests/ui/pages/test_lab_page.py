"""The sampling lab without a browser: its states, its links, and what may not be markup."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast
from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Sampling
from core.decoding.decode import collect
from core.decoding.errors import ConfigError, ModelError
from core.decoding.lab.types import LabExample
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.draws import noise_at
from core.models.scripted import ScriptedModel
from core.traces.lab import lab_bytes, load_lab, telling_step
from pages.ui.decode.state import DecodeView
from pages.ui.lab import controls as lab_controls
from pages.ui.lab import page as lab_page
from pages.ui.lab import save as lab_share
from pages.ui.lab import state as lab_state
from pages.ui.lab import tabs as lab_looks
from pages.ui.lab import work as lab_work
from pages.ui.lab.state import Lab, StepRef
from pages.ui.resources import examples, models
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.widgets.controls.control import defaults
from tests.figures.labs import make_lab
from tests.figures.traces import HOSTILE, make_trace
from tests.ui import seen
from tests.ui.conftest import open_page, serve, set_example
from tests.ui.knobs import move, report, shown_knobs
from tests.ui.seen import SECONDS, charts, markup, specs, texts
from tests.ui.stores import uncached

FIGURES = ["draw", "stages", "flips"]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat`, ` ran` or ` home`, whatever was before."""
    probs = [0.02, 0.0, 0.08, 0.1, 0.4, 0.3, 0.1, 0.0]
    model = ScriptedModel({(): probs}, context_window=64, model_id="embedded:target")
    return serve(monkeypatch, model)


def open_lab(run: Trace | None = None, **parameters: str) -> AppTest:
    """The lab, opened at this address beside this run on the Decode page."""
    view = DecodeView()
    if run is not None:
        view.show(run, "example")
    return settle(open_page("sampling.py", {"view": view}, **parameters))


@pytest.fixture(autouse=True)
def no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    set_example(monkeypatch, DecodeView, None)
    monkeypatch.setattr(lab_state, "load_example", lambda: None)


def lab_of(app: AppTest) -> Lab:
    return cast(Lab, app.session_state["lab"])


settle = partial(seen.settle, key="lab")


def captions(app: AppTest) -> list[str]:
    return [spec["layout"]["words"]["caption"] for spec in specs(app)]


def test_a_link_s_run_is_dropped_where_none_is_made() -> None:
    app = open_lab()
    app.query_params["run"] = "1"
    assert "run" not in settle(app.run()).query_params


def test_the_stored_example_was_made_with_the_default_controls() -> None:
    example = load_lab(examples.FOLDER / "lab.json")
    run, values = Trace.load(examples.FOLDER / DecodeView.example), defaults()
    lab = Lab(example=example, index=telling_step(run))
    ref = lab_state._ref_in(run, lab.index)
    assert lab_work.is_example(lab, ref, lab_controls.settings(values.__getitem__))
    grown = example.continuations
    assert (len(grown.sampled), grown.config.max_new_tokens) == (values["ways"], values["length"])


def test_without_any_example_the_page_stands_and_reads_the_prompt(scripted) -> None:
    app = open_lab(prompt="the cat")
    assert charts(app)[:3] == FIGURES
    assert lab_of(app).step.trace.prompt_ids == tuple(scripted.encode("the cat"))
    # What is kept of a step holds no model.
    assert lab_of(app).cached["logits"][1].model == models.load("embedded:target").vocabulary


@pytest.mark.usefixtures("scripted")
def test_a_control_of_the_lab_draws_only_what_it_changes(monkeypatch) -> None:
    app, whole = open_lab(prompt="the cat"), list[Lab]()
    monkeypatch.setattr(lab_state, "follow", lambda lab, _: whole.append(lab))
    for touch, words in (
        (lambda: report(app, temperature=0.5), "temperature 0.5"),
        (lambda: report(app, top_k=2), "top-k 2"),
        (lambda: app.segmented_control(key="dice").set_value("gumbel").run(), "draw gumbel"),
        (lambda: app.number_input(key="roll").set_value(2).run(), "roll 3 "),
        (lambda: app.button(key="roll_again").click().run(), "roll 4 "),
    ):
        assert words not in " ".join(captions(app))
        assert words in " ".join(captions(touch()))
        assert not whole
        settle(app.run())
        assert whole
        whole.clear()


@pytest.mark.usefixtures("scripted")
def test_a_value_that_no_config_takes_is_one_sentence_while_work_goes_on(monkeypatch) -> None:
    app = open_lab(prompt="the cat", lab_look="Temperature")
    wrong = ConfigError("must lie in [0, 1], got 7.", "top_p", "Shaping")
    monkeypatch.setattr(lab_controls, "settings", Mock(side_effect=wrong))
    move(app, "temperature", 0.5).run()
    assert not app.exception
    assert "Top-p must lie in" in texts(app)
    assert not lab_of(settle(app.run())).news


@pytest.mark.usefixtures("scripted")
def test_the_order_is_an_argument_its_source_is_shown_and_what_it_lacks_is_said() -> None:
    app = open_lab(prompt="the cat", order="vLLM", typical_p="0.5", temperature="1.5")
    assert "vLLM has no typical-p: left out" in texts(app)
    assert not shown_knobs(app)["typical_p"]["enabled"] and shown_knobs(app)["top_p"]["enabled"]
    assert "typical-p" not in captions(app)[0]
    app = settle(app.segmented_control(key="order").set_value("llama.cpp").run())
    names = [stage.name for stage in lab_of(app).step.step.stages]
    assert names == ["raw", "typical_p", "top_p", "temperature", "final"]
    assert any("common_params_sampling::samplers" in c.value for c in app.caption)
    assert "order of llama.cpp" in captions(app)[0] and "typical-p 0.5" in captions(app)[0]
    assert shown_knobs(app)["typical_p"]["enabled"]


def test_a_constraint_is_a_stage_of_the_step_and_its_empty_rule_is_one_sentence(scripted) -> None:
    app = open_lab(prompt="the cat", constraint="choice", top_p="1")
    assert "Write the rule of the constraint (Choices), or choose None." in texts(app)
    app = settle(app.text_area(key="rule_choice").set_value(" sat\n ran").run())
    lab = lab_of(app)
    names = [stage.name for stage in lab.step.step.stages]
    allowed = {token for text in (" sat", " ran") for token in scripted.encode(text)}
    kept = {c.token_id for c in lab.step.step.candidates if c.removed_by is None}
    assert names[1] == "constraint" and kept == allowed
    assert "constraint choice  sat |  ran" in captions(app)[0].replace("\xa0", " ")
    app = settle(app.segmented_control(key="order").set_value("mlx-lm").run())
    assert "mlx-lm has no constraint: left out" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_roll_again_throws_the_next_dice_of_the_seed() -> None:
    app = open_lab(prompt="the cat", top_p="1", temperature="1")
    first = lab_of(app).step
    app = settle(app.button(key="roll_again").click().run())
    steps = (first, lab_of(app).step)
    assert [step.throw for step in steps] == [0, 1] and app.number_input(key="roll").value == 1
    config = Sampling(seed=16, shaping=Shaping(), max_new_tokens=2)
    run = collect(models.load("embedded:target"), "the cat", config)
    thrown = [step.step.draw.uniform for step in steps]
    assert [step.draw.uniform for step in run.token_steps] == thrown


def _late_seed() -> int:
    """A seed whose first number falls behind the likeliest tokens."""
    return next(seed for seed in range(999) if float(noise_at("inverse_cdf", seed, 0, 8)) > 0.9)


@pytest.mark.usefixtures("scripted")
def test_the_page_says_when_a_knob_flipped_the_token() -> None:
    app = open_lab(prompt="the cat", top_p="1", temperature="1", seed=str(_late_seed()))
    before = lab_of(app).step.step.token_id
    knob = next(
        boundaries for boundaries in lab_of(app).cached["flips"][1][1] if boundaries.name == "top_k"
    )
    interval = next(piece for piece in knob.pieces if piece.low > 0 and piece.token_id != before)
    app = settle(report(app, top_k=int(interval.low)))
    assert lab_of(app).step.step.token_id == interval.token_id
    assert "flipped by the last change: it was" in texts(app)
    app = settle(app.button(key="roll_again").click().run())
    assert "flipped by the last change" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_two_samplers_of_a_kind_are_refused_in_one_sentence() -> None:
    app = open_lab(prompt="the cat", mirostat="2", adaptive_target="0.4")
    assert "Adaptive-p can't act together with Mirostat: both choose the token" in texts(app)
    app = open_lab(prompt="the cat", watermark_bias="2", synthid_depth="7")
    assert "SynthID layers can't act together with Green list: transformers takes" in texts(app)


# Of the samplers that exclude each other, one in each case.
ONE_OF_A_KIND = (
    {"mirostat": 1, "mirostat_tau": 3.5, "mirostat_eta": 0.25, "watermark_bias": 2.5}
    | {"watermark_ratio": 0.4},
    {"adaptive_target": 0.45, "adaptive_decay": 0.8, "synthid_depth": 7, "synthid_ngram": 4},
)


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize("alone", ONE_OF_A_KIND)
def test_the_address_restores_every_control(alone) -> None:
    app = open_lab(
        **{name: str(number) for name, number in alone.items()},
        prompt="the cat",
        temperature="1.25",
        top_n_sigma="2.5",
        top_k="5",
        top_p="0.9",
        min_p="0.001",
        typical_p="0.9",
        eta="0.002",
        at="The prompt's next token",
        length="9",
        fold="false",
        lab_look="Continuations",
        epsilon="0.004",
        dynatemp_high="1.5",
        dynatemp_low="0.75",
        dynatemp_exponent="1.25",
        smoothing_factor="0.3",
        smoothing_curve="1.5",
        top_h="0.6",
        min_k="3.5",
        tail_free="0.95",
        top_a="0.15",
        p_less="2",
        xtc_probability="0.35",
        xtc_threshold="0.07",
        dry_multiplier="0.85",
        dry_base="1.5",
        dry_allowed_length="3",
        dry_penalty_last_n="64",
        no_repeat_ngram_size="3",
        length_decay="1.02",
        length_decay_start="12",
        penalty="1.1",
        frequency_penalty="0.5",
        presence_penalty="-0.25",
        order="mlx-lm",
        dice="Gumbel",
        roll="3",
        ways="4",
        seed="99",
    )
    app = settle(app.run())  # The first run may draw the first figure alone.
    for key, value in {
        "at": "prompt",
        "ways": 4,
        "length": 9,
        "fold": False,
        "lab_look": "Continuations",
    }.items():
        assert app.session_state[key] == value
    values = defaults()
    values |= {key: app.session_state[key] for key in values if key in app.session_state}
    settings = lab_controls.settings(values.__getitem__)
    shaping = Shaping(
        temperature=1.25,
        top_n_sigma=2.5,
        top_k=5,
        top_p=0.9,
        min_p=0.001,
        typical_p=0.9,
        epsilon_cutoff=0.004,
        eta_cutoff=0.002,
        dynatemp_high=1.5,
        dynatemp_low=0.75,
        dynatemp_exponent=1.25,
        smoothing_factor=0.3,
        smoothing_curve=1.5,
        top_h=0.6,
        min_k=3.5,
        dry_multiplier=0.85,
        dry_base=1.5,
        dry_allowed_length=3,
        dry_penalty_last_n=64,
        no_repeat_ngram_size=3,
        length_decay=1.02,
        length_decay_start=12,
        tail_free=0.95,
        top_a=0.15,
        p_less=2,
        xtc_probability=0.35,
        xtc_threshold=0.07,
        repetition_penalty=1.1,
        frequency_penalty=0.5,
        presence_penalty=-0.25,
        **alone,
    )
    assert settings.config == Sampling(shaping=shaping, seed=99, draw="gumbel")
    assert settings.order.key == "mlx-lm" and settings.rolls == 3
    assert lab_of(app).step.throw == 3


RUN = replace(make_trace(9), model_id="embedded:target")
STEPS = replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4])


@pytest.mark.usefixtures("scripted")
def test_a_step_of_another_model_s_run_is_in_the_link_and_comes_back_from_it() -> None:
    app = open_lab(replace(STEPS, model_id="embedded:draft"))
    lab_of(app).index = 1
    app = settle(app.run())
    assert app.selectbox(key="model").value == "embedded:target"
    link = app.query_params["ids"]
    assert link == "1-2~4~embedded:draft"
    reopened = open_lab(None, ids=link)
    for step in (lab_of(app).step, lab_of(reopened).step):
        assert (step.trace.prompt_ids, step.throw) == ((1, 2, 4), 1)
    assert (
        lab_state.step_ref(lab_of(reopened), reopened.session_state["view"]).model
        == "embedded:draft"
    )
    assert "Step 2 of a link" in [popover.label for popover in popovers(reopened)]


def popovers(app: AppTest) -> list[object]:
    return [block.proto.popover for block in app.get("popover")]


WRONG_IDS = ["", "x~y~m", "1-2~4", "~", "~~m", "1~2~", "-1~2~m", "9" * 30 + "~1~m", "1_0~2~m"]
WRONG_IDS += [
    "9" * 5000 + "~~m",
    "\u0663~4~m",
    " 1~2~m",
    "1~" + "2-" * 9000 + "2~m",
    "1~2~" + "m" * 20000,
]


@pytest.mark.parametrize("ids", WRONG_IDS)
def test_wrong_ids_in_the_address_are_ignored(ids: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state.st, "query_params", {"ids": ids})
    assert lab_state._linked() is None


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"ids": "1-2~900~embedded:target"}, ["Token id 900 is outside the model's vocabulary"]),
        ({"prompt": "the" + " cat" * 80}, ["81 tokens", "64"]),
        ({"prompt": "  "}, [lab_page.NO_TEXT, lab_page.OTHER_STEP]),
    ],
)
def test_a_step_that_can_t_be_read_is_one_sentence(address, said) -> None:
    app = open_lab(**address)
    assert all(words in texts(app) for words in said) and "draws" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_a_step_that_was_selected_elsewhere_comes_before_another_prompt() -> None:
    app = open_lab(STEPS)
    app.session_state["view"].show(replace(STEPS, token_ids=(5, 6, 4)), "run")
    app.session_state["view"].select(2)
    app = settle(app.text_area(key="prompt").set_value("the dog").run())
    assert app.session_state["at"] == "run"
    assert lab_of(app).step.trace.prompt_ids == (1, 2, 5, 6)
    app = settle(app.text_area(key="prompt").set_value("the cat").run())
    assert app.session_state["at"] == "prompt" and lab_of(app).step.text_before == "the cat"


@pytest.mark.usefixtures("scripted")
def test_another_step_of_the_run_can_be_picked_while_a_link_is_open() -> None:
    app = open_lab(STEPS, ids="3-3~4~embedded:target")
    assert lab_of(app).step.trace.prompt_ids == (3, 3, 4)
    lab_state.pick(lab_of(app), 2)
    app = settle(app.run())
    assert lab_of(app).step.trace.prompt_ids == (1, 2, 4, 5)


def test_a_link_loads_no_model_of_a_stranger_until_asked() -> None:
    lab, view, ref = Lab(), DecodeView(), StepRef("stranger/model", "the cat")
    run = make_trace(3, model_id="stranger/model")
    assert not lab_state.may_load(lab, view, ref)
    for source, loads in (("run", True), ("file", False)):
        view.show(run, source)
        assert lab_state.may_load(lab, view, ref) == loads
    lab.allowed.add("stranger/model")
    assert lab_state.may_load(lab, view, ref)


@pytest.mark.usefixtures("scripted")
def test_a_look_is_worked_out_when_it_is_open_and_each_api_has_its_source() -> None:
    app = open_lab(prompt="the cat")
    move(app, "lab_look", "API log-probabilities").run()
    table = next(m.value for m in app.markdown if "| what one asks for" in m.value)
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert rows and all("github.com" in row or "the same" in row for row in rows)
    for look, chart in (("1,000 rolls", "rolls"), ("Temperature", "sweep")):
        assert chart in charts(settle(move(app, "lab_look", look).run()))


@pytest.mark.usefixtures("scripted")
def test_continuations_grow_by_the_button_and_by_a_link_and_leave_it_under_other_settings() -> None:
    address = {"prompt": "the cat", "lab_look": "Continuations", "ways": "3", "length": "5"}
    app = open_lab(**address)
    assert "tree" not in charts(app)
    app = settle(app.button(key="start_grow").click().run())
    assert "tree" in charts(app) and app.query_params["grow"] == "1"
    grown = lab_of(app).grown[1]
    assert [row.seed for row in grown.rows] == [16, 17, 18, None]
    app = open_lab(**address, grow="1")
    assert lab_of(app).grown[1].rows == grown.rows
    assert "Other settings since" not in texts(app) and app.query_params["grow"] == "1"
    for key, value in (("dice", "gumbel"), ("length", 6), ("ways", 4), ("seed", 3)):
        before = app.session_state[key]
        app = settle(move(app, key, value).run())
        assert "Other settings since" in texts(app) and "grow" not in app.query_params
        app.session_state[key] = before
    assert "Other settings since" not in texts(settle(app.run()))


def test_stopped_continuations_are_shorter_and_called_cancelled(scripted, monkeypatch) -> None:
    job = Job()

    def stop_after_three(ids):
        if len(ids) == 5:
            job.stop()
        return [0.0, 0.5, 0.5, 0, 0, 0, 0, 0]

    monkeypatch.setattr(scripted, "_script", stop_after_three)
    settings = lab_controls.settings(defaults().__getitem__)
    ref = StepRef("embedded:target", "the cat")
    _, grown = lab_work.grow.__wrapped__(job, ref, settings, 3, 40)
    assert [(len(row.tokens), row.finish_reason) for row in grown.rows] == [(4, "cancelled")] * 4


def test_the_stored_tree_is_not_shown_for_another_model() -> None:
    lab = Lab(example=make_lab())
    stored = lab.example.step.trace
    for model, shown in ((stored.model_id, lab.example.continuations), ("embedded:draft", None)):
        assert lab_looks.shown_rows(lab, StepRef(model, "", ids=stored.prompt_ids)) == shown


def test_hostile_text_reaches_no_element_that_takes_markup(monkeypatch) -> None:
    example = make_lab(Shaping(), hostile=True, name=HOSTILE[0])
    monkeypatch.setattr(lab_state, "load_example", lambda: example)
    run = make_trace(12, hostile=True, model_id=HOSTILE[0])
    app = open_lab(run, prompt=HOSTILE[0])
    assert [text for text in HOSTILE if len(text) > 2 and text in markup(app)] == []


def open_file(app: AppTest, example: LabExample) -> AppTest:
    """The page after a step's file was opened in the sidebar."""
    app.file_uploader[0].upload("step.json", lab_bytes(example), "application/json").run()
    return settle(app)


def saved(app: AppTest) -> LabExample:
    """Return the example that the page's menu saves."""
    lab = lab_of(app)
    ref, *settings = lab.step_of
    return lab_share.shown(lab, ref, lab_controls.LabSettings(*settings), lab.step)


@pytest.mark.usefixtures("scripted")
def test_a_saved_step_opens_with_all_its_settings_and_is_proved_by_its_model() -> None:
    shaping = {"temperature": "1.25", "top_p": "0.9", "typical_p": "0.8", "epsilon": "0.01"}
    app = open_lab(prompt="the cat", order="vLLM", dice="Gumbel", roll="2", seed="5", **shaping)
    example = saved(app)
    assert example.flips and example.rolls is not None and example.sweep is None
    reopened = open_file(open_lab(prompt="the dog"), example)
    assert lab_of(reopened).step == example.step
    assert "From a file: the model gives the same numbers" in texts(reopened)
    assert shown_knobs(reopened)["typical_p"]["value"] == 0.8
    assert "Step 1 of a file" in [block.label for block in popovers(reopened)]
    assert reopened.query_params["ids"] == "1-2~~embedded:target"


@pytest.mark.usefixtures("scripted")
def test_a_broken_file_says_why_and_a_forged_one_is_told_from_the_model_s_numbers() -> None:
    app = open_lab(prompt="the cat")
    example = saved(app)
    app.file_uploader[0].upload("cut.json", lab_bytes(example)[:200], "application/json").run()
    assert not app.exception
    assert "JSON" in texts(app) and lab_of(app).step == example.step
    app = open_file(app, replace(example, step=replace(example.step, text_before="the bank")))
    assert lab_of(app).failure == ""
    assert "From a file: the model gives other numbers" in texts(app)
    assert lab_of(app).step.text_before == "the cat"


def test_a_file_of_a_model_that_is_not_built_in_opens_without_loading_it(monkeypatch) -> None:
    never = AssertionError("the model of a stranger's file was loaded")
    monkeypatch.setattr(models, "MODELS", uncached(Mock(side_effect=never)))
    example = replace(make_lab(Shaping(temperature=1.5), name="stranger/model"), rolls=None)
    app = open_file(open_lab(make_trace(3)), example)
    assert "From a file: not proved without its model" in texts(app)
    assert charts(app)[:3] == FIGURES and "rolls" not in charts(app)
    assert app.button(key="load_model")
    page = lab_share.web_page(example).decode()
    assert "stranger/model" in page and "order of transformers" in page


def test_the_web_page_of_a_step_holds_every_figure_and_no_markup_of_a_stranger() -> None:
    page = lab_share.web_page(make_lab(hostile=True, name=HOSTILE[0])).decode()
    assert page.count("<figure") == 8
    body = page[page.index("<body") : page.index("<figure")]
    assert [text for text in HOSTILE if "<" in text and text in body] == []


def begun(work) -> tuple[Lab, Job]:
    """A lab whose figures need this work, under the settings 1, and its job."""
    lab = Lab()
    lab.later("flips", 1, work)
    lab.start_deferred()
    return lab, lab.jobs["flips"]


def test_a_stopped_measurement_is_not_taken_for_a_whole_one() -> None:
    lab, job = begun(lambda job: job.stopping.wait(SECONDS) and "part")
    lab.stop_outdated(2)
    assert job.done.wait(SECONDS)
    assert lab.later("flips", 1, lambda _: "whole") == (None, False)
    lab.start_deferred()
    assert lab.jobs["flips"].done.wait(SECONDS)
    assert lab.later("flips", 1, lambda _: "never") == ("whole", True)


def test_work_that_ends_while_the_page_is_drawn_is_news_and_stays_though_nobody_looked() -> None:
    lab, job = begun(lambda _: "whole")
    assert job.done.wait(SECONDS)
    assert lab.under_way and lab.news
    job.watched -= jobs.ABANDONED_SECONDS + 1
    assert lab.later("flips", 1, lambda _: "never") == ("whole", True)
    assert not lab.under_way and not lab.news


def test_work_that_was_abandoned_is_not_taken_for_whole_when_somebody_looks_again() -> None:
    def work(job: Job) -> str:
        job.watched -= jobs.ABANDONED_SECONDS + 1
        return "part" if job.should_stop() else "whole"

    lab, job = begun(work)
    assert job.done.wait(SECONDS) and not job.error
    job.watch()
    assert lab.later("flips", 1, lambda _: "whole") == (None, False)


fail = Mock(side_effect=ModelError("The disk is away."))


@pytest.mark.usefixtures("scripted")
def test_a_scene_that_failed_can_be_tried_again(monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(models, "MODELS", uncached(fail))
        app = open_lab(prompt="the cat")
        assert "The disk is away." in texts(app)
    app = settle(app.button(key="try_again").click().run())
    assert "The disk is away." not in texts(app)
    assert lab_of(app).step.text_before == "the cat"


def test_a_failure_is_news_once() -> None:
    lab, job = begun(fail)
    assert job.done.wait(SECONDS)
    assert lab.news and lab.error("flips") == "The disk is away."
    assert not lab.news and not lab.under_way


def test_work_that_nobody_asks_for_any_more_ends_quietly() -> None:
    lab, job = begun(lambda _: None)
    assert job.done.wait(SECONDS)
    lab.requested.clear()
    assert lab.news
    lab.forget_unrequested()
    assert not lab.news and not lab.under_way
