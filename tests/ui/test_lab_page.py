"""The sampling lab without a browser: its states, its links, and what may not be markup."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.decoding.autoregressive.config import Sampling
from core.decoding.errors import ConfigError, ModelError
from core.decoding.lab.types import LabExample
from core.decoding.shaping.config import KNOB_RANGES, Shaping
from core.decoding.shaping.draws import noise_at
from core.decoding.trace import Trace
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
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.shell import examples, models
from pages.ui.widgets.control import defaults
from pages.ui.widgets.knob import LAB_KNOBS
from tests.figures.labs import make_lab
from tests.figures.traces import HOSTILE, make_trace
from tests.ui.conftest import ROOT, open_page, set_example
from tests.ui.knobs import move, report, shown_knobs
from tests.ui.seen import SECONDS, charts, specs, texts

FIGURES = ["stages", "draw", "flips"]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: ` sat`, ` ran` or ` home`, whatever was before."""
    torch.set_num_threads(1)
    probs = [0.02, 0.0, 0.08, 0.1, 0.4, 0.3, 0.1, 0.0]
    model = ScriptedModel({(): probs}, context_window=64, model_id="embedded:target")
    monkeypatch.setattr(models, "_cached", lambda _: model)
    return model


def open_lab(run: Trace | None = None, **parameters: str) -> AppTest:
    """The lab, opened at this address beside this run on the Decode page."""
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    view = DecodeView()
    if run is not None:
        view.show(run, "example")
    app.session_state["view"] = view
    return settle(open_page(app, "sampling.py"))


@pytest.fixture(autouse=True)
def no_example(monkeypatch: pytest.MonkeyPatch) -> None:
    set_example(monkeypatch, DecodeView, None)
    monkeypatch.setattr(lab_state, "load_example", lambda: None)


def lab_of(app: AppTest) -> Lab:
    found: Lab = app.session_state["lab"]
    return found


def settle(app: AppTest) -> AppTest:
    """Wait for the workers and draw again, until nothing is under way."""
    for _ in range(8):
        if not lab_of(app).under_way:
            return app
        assert all(job.done.wait(SECONDS) for job in list(lab_of(app).jobs.values()))
        app.run()
    raise AssertionError("the lab never comes to rest")


def captions(app: AppTest) -> list[str]:
    return [spec["layout"]["words"]["caption"] for spec in specs(app)]


def test_a_link_s_run_is_dropped_where_none_is_made() -> None:
    app = open_lab()
    app.query_params["run"] = "1"
    assert "run" not in settle(app.run()).query_params


def test_the_stored_example_was_made_with_the_default_controls() -> None:
    example = load_lab(examples.FOLDER / "lab.json")
    run = Trace.load(examples.FOLDER / DecodeView.example)
    said = defaults()
    settings = lab_controls.settings(said.__getitem__)
    index = telling_step(run)
    found = Lab(example=example, index=index)
    ref = lab_state._ref_in(run, index)
    assert lab_work.is_example(found, ref, settings)
    grown = example.continuations
    assert len(grown.sampled) == defaults()["ways"]
    assert grown.config.max_new_tokens == defaults()["length"]


def test_the_knobs_reach_what_the_flips_search() -> None:
    reach = {knob.field: (knob.low, knob.high) for knob in LAB_KNOBS}
    assert reach == KNOB_RANGES


def test_without_any_example_the_page_stands_and_reads_the_prompt(scripted) -> None:
    app = open_lab(prompt="the cat")
    assert not app.exception
    assert charts(app)[:3] == FIGURES
    assert lab_of(app).step.trace.prompt_ids == tuple(scripted.encode("the cat"))


@pytest.mark.usefixtures("scripted")
def test_every_knob_reshapes_the_step_and_is_in_the_caption() -> None:
    app = open_lab(prompt="the cat", temperature="1", top_p="1")
    moved = (
        ("temperature", 0.5, "temperature 0.5"),
        ("top_k", 3, "top-k 3"),
        ("top_p", 0.9, "top-p 0.9"),
        ("min_p", 0.1, "min-p 0.1"),
        ("typical_p", 0.8, "typical-p 0.8"),
        ("epsilon", 0.01, "epsilon cutoff 0.01"),
        ("eta", 0.02, "eta cutoff 0.02"),
        ("penalty", 1.5, "repetition penalty 1.5"),
    )
    for knob, value, _ in moved:
        move(app, knob, value)
    app = settle(app.run())
    assert [words for _, _, words in moved if words not in captions(app)[0]] == []
    assert all(shown_knobs(app)[knob]["value"] == value for knob, value, _ in moved)
    assert len(lab_of(app).step.step.stages) == 10


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("touch", "words"),
    [
        (lambda app: report(app, temperature=0.5), "temperature 0.5"),
        (lambda app: report(app, top_k=2), "top-k 2"),
        (lambda app: app.segmented_control(key="dice").set_value("gumbel").run(), "draw gumbel"),
        (lambda app: app.number_input(key="roll").set_value(2).run(), "throw 3 "),
        (lambda app: app.button(key="roll_again").click().run(), "throw 2 "),
    ],
)
def test_a_control_of_the_lab_draws_only_what_it_changes(touch, words, monkeypatch) -> None:
    app = open_lab(prompt="the cat")
    assert words not in " ".join(captions(app))
    whole: list[Lab] = []
    monkeypatch.setattr(lab_state, "follow", lambda lab, _: whole.append(lab))
    assert words in " ".join(captions(touch(app)))
    assert not whole
    # A job that ended while the page is drawn would draw it once more.
    assert all(job.done.wait(SECONDS) for job in list(lab_of(app).jobs.values()))
    app.run()
    assert len(whole) == 1


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize("ready", [True, False])
def test_what_was_measured_before_has_a_mark_that_makes_it_pale(ready, monkeypatch) -> None:
    app = open_lab(prompt="the cat")
    real = lab_work.measured

    def measured(lab, name, *asked):
        found = real(lab, name, *asked)
        return found._replace(ready=ready) if name == "flips" else found

    monkeypatch.setattr(lab_work, "measured", measured)
    bodies = [element.proto.body for element in app.run().get("html")]
    marks = [body for body in bodies if body.startswith("<i hidden")]
    assert [mark.count("de-before") for mark in marks] == [not ready, False]


@pytest.mark.usefixtures("scripted")
def test_a_typed_value_reaches_beyond_the_slider() -> None:
    app = open_lab(prompt="the cat")
    move(app, "temperature", 4.5)
    app = settle(app.run())
    assert "temperature 4.5" in captions(app)[0]


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(("typed", "used"), [(0.0004, 0), (0.0006, 0.001)])
def test_a_temperature_that_nothing_can_be_divided_by_becomes_the_nearest(typed, used) -> None:
    app = open_lab(prompt="the cat")
    move(app, "temperature", typed)
    app = settle(app.run())
    assert lab_of(app).step.config.shaping.temperature == used


def refuse(*_: object) -> None:
    raise ConfigError("Shaping.top_p must lie in [0, 1], got 7.")


@pytest.mark.usefixtures("scripted")
def test_a_value_that_no_config_takes_is_one_sentence(monkeypatch) -> None:
    app = open_lab(prompt="the cat")
    monkeypatch.setattr(lab_controls, "settings", refuse)
    app.run()
    assert not app.exception
    assert "Top-p must lie in" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_the_order_is_an_argument_and_its_source_is_shown() -> None:
    app = open_lab(prompt="the cat", temperature="1.5")
    app.segmented_control(key="order").set_value("llama.cpp")
    app = settle(app.run())
    assert [s.name for s in lab_of(app).step.step.stages] == [
        "raw",
        "top_p",
        "temperature",
        "final",
    ]
    assert any("common_params_sampling::samplers" in c.value for c in app.caption)
    assert "order of llama.cpp" in captions(app)[0]


@pytest.mark.usefixtures("scripted")
def test_what_a_library_lacks_is_said() -> None:
    app = open_lab(prompt="the cat", order="vLLM", typical_p="0.5")
    assert "vLLM has no typical-p: left out" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_roll_again_throws_the_next_dice_of_the_seed() -> None:
    app = open_lab(prompt="the cat", top_p="1", temperature="1")
    first = lab_of(app).step
    app = settle(app.button(key="roll_again").click().run())
    second = lab_of(app).step
    assert (first.throw, second.throw) == (0, 1)
    assert first.step.draw.uniform != second.step.draw.uniform
    assert app.number_input(key="roll").value == 1
    config = Sampling(seed=16, shaping=Shaping(), max_new_tokens=2)
    from core import collect

    run = collect(models.load("embedded:target"), "the cat", config)
    assert [s.draw.uniform for s in run.token_steps] == [
        first.step.draw.uniform,
        second.step.draw.uniform,
    ]


def _late_seed() -> int:
    """A seed whose first number falls behind the likeliest tokens."""
    return next(seed for seed in range(999) if float(noise_at("inverse_cdf", seed, 0, 8)) > 0.9)


@pytest.mark.usefixtures("scripted")
def test_the_page_says_when_a_knob_flipped_the_token() -> None:
    app = open_lab(prompt="the cat", top_p="1", temperature="1", seed=str(_late_seed()))
    lab = lab_of(app)
    before = lab.step.step
    knob = next(own for own in lab.cached["flips"][1][1] if own.name == "top_k")
    other = next(p for p in knob.pieces if p.low > 0 and p.token_id != before.token_id)
    app = settle(report(app, top_k=int(other.low)))
    assert lab_of(app).step.step.token_id == other.token_id
    assert "flipped by the last change: it was" in texts(app)
    app = settle(app.button(key="roll_again").click().run())
    assert "flipped by the last change" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_the_address_restores_every_control() -> None:
    app = open_lab(
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
        penalty="1.1",
        order="mlx-lm",
        dice="Gumbel",
        roll="3",
        ways="4",
        seed="99",
    )
    for key, value in {
        "at": "prompt",
        "ways": 4,
        "length": 9,
        "fold": False,
        "lab_look": "Continuations",
    }.items():
        assert app.session_state[key] == value
    settings = lab_controls.settings(lambda key: app.session_state[key])
    shaping = Shaping(
        temperature=1.25,
        top_n_sigma=2.5,
        top_k=5,
        top_p=0.9,
        min_p=0.001,
        typical_p=0.9,
        epsilon_cutoff=0.004,
        eta_cutoff=0.002,
        repetition_penalty=1.1,
    )
    assert settings.config == Sampling(shaping=shaping, seed=99, draw="gumbel")
    assert settings.order.key == "mlx-lm" and settings.rolls == 3
    assert lab_of(app).step.throw == 3


RUN = replace(make_trace(9), model_id="embedded:target")


@pytest.mark.usefixtures("scripted")
def test_a_step_of_the_run_is_in_the_link_and_comes_back_from_it() -> None:
    ids = (1, 2, 4)
    app = open_lab(replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4]))
    lab_of(app).index = 1
    app = settle(app.run())
    assert lab_of(app).step.trace.prompt_ids == ids
    assert lab_of(app).step.throw == 1
    link = app.query_params["ids"]
    assert link == "1-2~4~embedded:target"
    other = open_lab(None, ids=link)
    assert lab_of(other).step.trace.prompt_ids == ids and lab_of(other).step.throw == 1
    assert "Step 2 of a link" in [popover.label for popover in popovers(other)]


def popovers(app: AppTest) -> list[object]:
    return [block.proto.popover for block in app.get("popover")]


@pytest.mark.usefixtures("scripted")
def test_a_link_of_another_model_s_step_keeps_that_model() -> None:
    run = replace(RUN, model_id="embedded:draft", prompt_ids=(1, 2), token_ids=(4, 5))
    app = open_lab(replace(run, steps=RUN.steps[:3]))
    lab_of(app).index = 1
    app = settle(app.run())
    assert app.selectbox(key="model").value == "embedded:target"
    link = app.query_params["ids"]
    assert link.endswith("~embedded:draft")
    other = open_lab(None, ids=link)
    view = other.session_state["view"]
    assert lab_state.step_ref(lab_of(other), view).model == "embedded:draft"


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
def test_ids_outside_the_vocabulary_are_one_sentence() -> None:
    app = open_lab(ids="1-2~900~embedded:target")
    assert not app.exception
    assert "Token id 900 is outside the model's vocabulary" in texts(app)


@pytest.mark.usefixtures("scripted")
def test_another_prompt_turns_the_lab_to_the_prompt() -> None:
    app = open_lab(replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4]))
    assert app.session_state["at"] == "run"
    app.text_area(key="prompt").set_value("the dog")
    app = settle(app.run())
    assert app.session_state["at"] == "prompt"
    assert lab_of(app).step.text_before == "the dog"


@pytest.mark.usefixtures("scripted")
def test_a_step_that_was_selected_elsewhere_comes_before_another_prompt() -> None:
    run = replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4])
    app = open_lab(run)
    app.session_state["view"].show(replace(run, token_ids=(5, 6, 4)), "run")
    app.session_state["view"].select(2)
    app.text_area(key="prompt").set_value("the dog")
    app = settle(app.run())
    assert app.session_state["at"] == "run"
    assert lab_of(app).step.trace.prompt_ids == (1, 2, 5, 6)
    app.text_area(key="prompt").set_value("the cat")
    app = settle(app.run())
    assert app.session_state["at"] == "prompt"


@pytest.mark.usefixtures("scripted")
def test_another_step_of_the_run_can_be_picked_while_a_link_is_open() -> None:
    run = replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4])
    app = open_lab(run, ids="3-3~4~embedded:target")
    assert lab_of(app).step.trace.prompt_ids == (3, 3, 4)
    lab_state.pick(lab_of(app), 2)
    app = settle(app.run())
    assert lab_of(app).step.trace.prompt_ids == (1, 2, 4, 5)


@pytest.mark.usefixtures("scripted")
def test_an_empty_prompt_is_asked_for() -> None:
    app = open_lab(prompt="the cat")
    app.text_area(key="prompt").set_value("  ").run()
    assert lab_page.NO_TEXT in texts(app) and lab_page.OTHER_STEP in texts(app)
    assert "draws" not in texts(app)


@pytest.mark.usefixtures("scripted")
def test_too_long_a_prompt_names_its_numbers() -> None:
    app = open_lab(prompt="the" + " cat" * 80)
    assert "81 tokens" in texts(app) and "64" in texts(app)


def test_a_link_loads_no_model_of_a_stranger_until_asked() -> None:
    lab, view = Lab(), DecodeView()
    ref = StepRef("stranger/model", "the cat")
    assert not lab_state.may_load(lab, view, ref)
    view.show(make_trace(3, model_id="stranger/model"), "file")
    assert not lab_state.may_load(lab, view, ref)
    lab.allowed.add("stranger/model")
    assert lab_state.may_load(lab, view, ref)
    view.show(make_trace(3, model_id="stranger/model"), "run")
    assert lab_state.may_load(Lab(), view, ref)


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(("look", "chart"), [("1,000 rolls", "rolls"), ("Temperature", "sweep")])
def test_a_look_is_worked_out_when_it_is_open(look: str, chart: str) -> None:
    app = open_lab(prompt="the cat", lab_look=look)
    assert chart in charts(app)


@pytest.mark.usefixtures("scripted")
def test_continuations_are_grown_by_the_button_and_by_a_link() -> None:
    app = open_lab(prompt="the cat", lab_look="Continuations", ways="3", length="5")
    assert "tree" not in charts(app)
    app = settle(app.button(key="start_grow").click().run())
    assert "tree" in charts(app) and app.query_params["grow"] == "1"
    grown = lab_of(app).grown[1]
    assert [row.seed for row in grown.rows] == [16, 17, 18, None]
    other = open_lab(prompt="the cat", lab_look="Continuations", ways="3", length="5", grow="1")
    assert lab_of(other).grown[1].rows == grown.rows
    assert other.query_params["grow"] == "1"


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("key", "value"), [("dice", "gumbel"), ("length", 6), ("ways", 4), ("seed", 3)]
)
def test_continuations_under_other_settings_are_called_old_and_leave_the_link(key, value) -> None:
    app = open_lab(prompt="the cat", lab_look="Continuations", ways="3", length="5", grow="1")
    assert "Other settings since" not in texts(app)
    kind = app.segmented_control if key == "dice" else app.number_input
    kind(key=key).set_value(value)
    app = settle(app.run())
    assert "Other settings since" in texts(app)
    assert "grow" not in app.query_params


def test_stopped_continuations_are_shorter_and_called_cancelled(monkeypatch) -> None:
    model = ScriptedModel({(): [0.0, 0.5, 0.5, 0, 0, 0, 0, 0]}, model_id="embedded:target")
    monkeypatch.setattr(models, "_cached", lambda _: model)
    settings = lab_controls.settings(defaults().__getitem__)
    job = Job()

    def stop_after_three(ids):
        if len(ids) == 5:
            job.stop()
        return [0.0, 0.5, 0.5, 0, 0, 0, 0, 0]

    monkeypatch.setattr(model, "_script", stop_after_three)
    _, grown = lab_work.grow.__wrapped__(
        job, StepRef("embedded:target", "the cat"), settings, 3, 40
    )
    assert [len(row.tokens) for row in grown.rows] == [4, 4, 4, 4]
    assert {row.finish_reason for row in grown.rows} == {"cancelled"}


@pytest.mark.usefixtures("scripted")
def test_the_stored_tree_is_not_shown_for_another_model() -> None:
    example = make_lab()
    lab = Lab(example=example)
    ids, model = example.step.trace.prompt_ids, example.step.trace.model_id
    assert example.continuations is not None
    assert lab_looks.shown_rows(lab, StepRef(model, "", ids=ids)) == example.continuations
    assert lab_looks.shown_rows(lab, StepRef("embedded:draft", "", ids=ids)) is None


@pytest.mark.usefixtures("scripted")
def test_the_table_of_apis_has_a_source_in_every_row() -> None:
    app = open_lab(prompt="the cat", lab_look="What logprobs mean")
    table = next(m.value for m in app.markdown if "| what one asks for" in m.value)
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 8
    assert all("github.com" in row or "the same" in row for row in rows)


def test_hostile_text_reaches_no_element_that_takes_markup(monkeypatch) -> None:
    example = make_lab(Shaping(), hostile=True, name=HOSTILE[0])
    monkeypatch.setattr(lab_state, "load_example", lambda: example)
    run = make_trace(12, hostile=True, model_id=HOSTILE[0])
    app = open_lab(run, prompt=HOSTILE[0])
    assert not app.exception
    shown = [element.value for element in [*app.markdown, *app.caption, *app.title]]
    labels = [button.label for button in app.button]
    for text in HOSTILE:
        if len(text) > 2:
            assert not any(text in value for value in [*shown, *labels])


def open_file(app: AppTest, example: LabExample) -> AppTest:
    """The page after a step's file was opened in the sidebar."""
    app.file_uploader[0].upload("step.json", lab_bytes(example), "application/json").run()
    return settle(app)


def saved(app: AppTest) -> LabExample:
    """What the page's menu would save."""
    lab = lab_of(app)
    ref, *settings = lab.step_of
    return lab_share.shown(lab, ref, lab_controls.LabSettings(*settings), lab.step)


@pytest.mark.usefixtures("scripted")
def test_a_saved_step_opens_with_all_its_settings_and_is_proved_by_its_model() -> None:
    shaping = {"temperature": "1.25", "top_p": "0.9", "typical_p": "0.8", "epsilon": "0.01"}
    app = open_lab(prompt="the cat", order="vLLM", dice="Gumbel", roll="2", seed="5", **shaping)
    example = saved(app)
    assert example.flips and example.rolls is not None and example.sweep is None
    other = open_file(open_lab(prompt="the dog"), example)
    assert lab_of(other).step == example.step
    assert "From a file: the model gives the same numbers" in texts(other)
    assert shown_knobs(other)["typical_p"]["value"] == 0.8
    assert "Step 1 of a file" in [block.label for block in popovers(other)]
    assert other.query_params["ids"] == "1-2~~embedded:target"


@pytest.mark.usefixtures("scripted")
def test_a_forged_file_is_told_from_the_model_s_numbers() -> None:
    example = saved(open_lab(prompt="the cat"))
    forged = replace(example, step=replace(example.step, text_before="the bank"))
    app = open_file(open_lab(prompt="the dog"), forged)
    assert "From a file: the model gives other numbers" in texts(app)
    assert lab_of(app).step.text_before == "the cat"


@pytest.mark.usefixtures("scripted")
def test_a_broken_file_says_why_and_the_step_stays() -> None:
    app = open_lab(prompt="the cat")
    step = lab_of(app).step
    app.file_uploader[0].upload("cut.json", lab_bytes(saved(app))[:200], "application/json").run()
    assert not app.exception
    assert "JSON" in texts(app) and lab_of(app).step == step
    app = open_file(app, make_lab())
    assert lab_of(app).failure == ""


def test_a_file_of_a_model_that_is_not_built_in_opens_without_loading_it(monkeypatch) -> None:
    def never(_: str) -> None:
        raise AssertionError("the model of a stranger's file was loaded")

    monkeypatch.setattr(models, "_cached", never)
    example = replace(make_lab(Shaping(temperature=1.5), name="stranger/model"), rolls=None)
    app = open_file(open_lab(make_trace(3)), example)
    assert not app.exception
    assert "From a file: not proved without its model" in texts(app)
    assert charts(app)[:3] == FIGURES and "rolls" not in charts(app)
    assert app.button(key="load_model")
    page = lab_share.web_page(example).decode()
    assert "stranger/model" in page and "order of transformers" in page


@pytest.mark.usefixtures("scripted")
def test_the_web_page_of_a_step_holds_every_figure_and_no_markup_of_a_stranger() -> None:
    example = make_lab(hostile=True, name=HOSTILE[0])
    page = lab_share.web_page(example).decode()
    assert page.count("<figure") == 6
    body = page[page.index("<body") : page.index("<figure")]
    for text in HOSTILE:
        if "<" in text:
            assert text not in body


@pytest.mark.usefixtures("scripted")
def test_a_kept_scene_holds_no_model() -> None:
    app = open_lab(prompt="the cat")
    _, scene = lab_of(app).cached["logits"]
    assert scene.model == models.load("embedded:target").vocabulary


def test_a_stopped_measurement_is_not_taken_for_a_whole_one() -> None:
    lab = Lab()
    ref = StepRef("m", "p")
    lab.later("flips", (ref, 1), lambda job: job.stopping.wait(SECONDS) and "part")
    lab.start_deferred()
    job = lab.jobs["flips"]
    lab.stop_outdated((ref, 2))
    assert job.done.wait(SECONDS)
    assert lab.later("flips", (ref, 1), lambda _: "whole") == (None, False)
    lab.start_deferred()
    assert lab.jobs["flips"].done.wait(SECONDS)
    assert lab.later("flips", (ref, 1), lambda _: "never") == ("whole", True)


def test_work_that_ends_while_the_page_is_drawn_is_still_news() -> None:
    lab, ref = Lab(), StepRef("m", "p")
    lab.later("logits", ref, lambda _: "logits")
    lab.start_deferred()
    assert lab.jobs["logits"].done.wait(SECONDS)
    assert lab.under_way and lab.news
    assert lab.later("logits", ref, lambda _: "never") == ("logits", True)
    assert not lab.under_way and not lab.news


def test_work_that_was_abandoned_is_not_taken_for_whole_when_somebody_looks_again() -> None:
    lab, ref = Lab(), StepRef("m", "p")
    asked, seen = threading.Event(), []

    def work(job: Job) -> str:
        assert asked.wait(SECONDS)
        seen.append(job.should_stop())
        return "part"

    lab.later("flips", (ref, 1), work)
    lab.start_deferred()
    job = lab.jobs["flips"]
    job.watched -= jobs.ABANDONED_SECONDS + 1
    asked.set()
    assert job.done.wait(SECONDS) and seen == [True]
    job.watch()
    assert lab.later("flips", (ref, 1), lambda _: "whole") == (None, False)


def test_work_that_ended_by_itself_stays_however_long_nobody_looked() -> None:
    lab, ref = Lab(), StepRef("m", "p")
    lab.later("flips", (ref, 1), lambda _: "whole")
    lab.start_deferred()
    job = lab.jobs["flips"]
    assert job.done.wait(SECONDS)
    job.watched -= jobs.ABANDONED_SECONDS + 1
    assert lab.later("flips", (ref, 1), lambda _: "never") == ("whole", True)


@pytest.mark.usefixtures("scripted")
def test_a_scene_that_failed_can_be_tried_again(monkeypatch) -> None:
    def fail(_: str) -> None:
        raise ModelError("The disk is away.")

    with monkeypatch.context() as patch:
        patch.setattr(models, "_cached", fail)
        app = open_lab(prompt="the cat")
        assert "The disk is away." in texts(app)
    app = settle(app.button(key="try_again").click().run())
    assert "The disk is away." not in texts(app)
    assert lab_of(app).step.text_before == "the cat"


def test_a_failure_is_news_once() -> None:
    def fail(_: object) -> None:
        raise ModelError("There is no model.")

    lab, ref = Lab(), StepRef("m", "p")
    lab.later("logits", ref, fail)
    lab.start_deferred()
    assert lab.jobs["logits"].done.wait(SECONDS)
    assert lab.news and lab.error("logits") == "There is no model."
    assert not lab.news and not lab.under_way


@pytest.mark.usefixtures("scripted")
def test_work_that_nobody_asks_for_any_more_ends_quietly() -> None:
    app = open_lab(prompt="the cat")
    lab = lab_of(app)
    done = Job(result=None)
    done.done.set()
    for name in ("logits", "flips", "rolls", "sweep", "grow"):
        lab.requested.discard(name)
        lab.jobs[name] = done
        lab.pending_key[name] = "nothing that is asked for"
        lab.deferred.pop(name, None)
    assert lab.news
    lab.requested.clear()
    lab.forget_unrequested()
    assert not lab.news and not lab.under_way


@pytest.mark.usefixtures("scripted")
def test_a_wrong_value_while_work_goes_on_leaves_the_page_at_rest(monkeypatch) -> None:
    app = open_lab(prompt="the cat", lab_look="Temperature")
    monkeypatch.setattr(lab_controls, "settings", refuse)
    move(app, "temperature", 0.5).run()
    assert not app.exception
    app = settle(app.run())
    assert not lab_of(app).news
