"""Which step the lab shows, in what context, and what it says that moved it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.decoding.autoregressive.config import Sampling
from core.decoding.lab.step import lab_step, read_step_logits
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.orders import ORDERS
from core.figures.lab.words import lab_caption
from core.models.scripted import ScriptedModel
from pages.ui.decode.state import DecodeView
from pages.ui.lab import page as lab_page
from pages.ui.lab import state as lab_state
from pages.ui.lab import step_picker
from pages.ui.lab.state import Lab, StepRef
from pages.ui.widgets import link
from tests.ui.knobs import move, report, shown_knobs
from tests.ui.seen import texts
from tests.ui.test_lab_page import (  # noqa: F401 - fixtures
    RUN,
    _late_seed,
    lab_of,
    no_example,
    open_lab,
    scripted,
    settle,
)

pytestmark = pytest.mark.usefixtures("scripted")
STEPS = replace(RUN, prompt_ids=(1, 2), token_ids=(4, 5, 6), steps=RUN.steps[:4])


def _step(shaping: Shaping, order: str = "transformers", ids: tuple[int, ...] = (1, 2)) -> Any:
    model = ScriptedModel({(): [0.02, 0, 0.08, 0.1, 0.4, 0.3, 0.1, 0]}, model_id="embedded:target")
    model.eos_ids = frozenset({0})
    return lab_step(read_step_logits(model, ids), Sampling(shaping=shaping), ORDERS[order])


def test_marks_of_the_chat_are_visible_in_the_context() -> None:
    plain = _step(Shaping(), ids=(1, 2)).text_before
    marked = _step(Shaping(), ids=(0, 1, 0, 2)).text_before
    assert marked != plain and marked.count("<") >= 2


def test_a_filter_that_the_order_lacks_is_in_no_caption() -> None:
    shaping = Shaping(typical_p=0.5, top_p=0.9)
    assert "typical-p 0.5" in lab_caption(_step(shaping))
    caption = lab_caption(_step(shaping, "vllm"))
    assert "typical" not in caption and "top-p 0.9" in caption


def test_a_knob_that_the_order_lacks_is_disabled() -> None:
    app = open_lab(prompt="the cat", order="vLLM", typical_p="0.5")
    assert not shown_knobs(app)["typical_p"]["enabled"]
    assert shown_knobs(app)["top_p"]["enabled"]
    app.segmented_control(key="order").set_value("transformers")
    app = settle(app.run())
    assert shown_knobs(app)["typical_p"]["enabled"]


def test_the_picker_marks_the_step_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(step_picker, "draw", lambda *asked: drawn.append(asked[1]))
    view, lab = DecodeView(), Lab()
    view.show(STEPS, "run")
    for index in (2, 99):
        lab.index = index
        lab_page._steps_table(lab, view)
    lab.linked = StepRef("embedded:target", "", ids=(3, 3, 4), index=1)
    lab_page._steps_table(lab, view)
    assert drawn == [2, 2, -1]


def test_a_click_on_a_row_of_the_picker_picks_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr(step_picker, "_component", lambda **asked: sent.update(asked))
    picked: list[int] = []
    step_picker.draw(STEPS.token_steps, 1, picked.append)
    assert [row[0] for row in sent["data"]["steps"]] == ["1", "2", "3"]
    for place in (2, 3, None):
        monkeypatch.setattr(step_picker.st, "session_state", {"step-picker": {"picked": place}})
        sent["on_picked_change"]()
    assert picked == [2]


def test_only_a_change_by_hand_flips_the_token() -> None:
    app = open_lab(prompt="the cat", top_k="1", temperature="1", seed=str(_late_seed()))
    lab = lab_of(app)
    before = lab.step.step.token_id
    # The address of another entry of the browser's history, as the page is come back to.
    move(move(app, "top_k", 0), "top_p", 1.0)
    app.session_state["page_entered"] = True
    app = settle(app.run())
    assert lab_of(app).step.step.token_id != before
    assert "flipped by the last change" not in texts(app)


def test_what_flipped_is_forgotten_when_the_page_is_left() -> None:
    app = open_lab(prompt="the cat", top_k="1", temperature="1", seed=str(_late_seed()))
    app = settle(report(app, top_k=0))
    assert "flipped by the last change" in texts(app)
    app.switch_page("decode.py").run()
    app = settle(app.switch_page("sampling.py").run())
    assert "flipped by the last change" not in texts(app)


def test_a_link_s_step_that_can_t_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(link, "tell", told.append)
    open_lab(STEPS, ids="1-x~~m")
    assert told == ["The step in the link can't be read: one of the run is shown instead."]
    open_lab(STEPS, ids="3-3~4~embedded:target")
    assert len(told) == 1


def test_the_rows_say_why_the_run_s_own_text_is_none_of_them() -> None:
    app = open_lab(STEPS, lab_look="Continuations", ways="2", length="4")
    lab_state.pick(lab_of(app), 2)
    app = settle(app.run())
    app = settle(app.button(key="start_grow").click().run())
    assert "fresh try from here with its own seed" in texts(app)
    assert "The run itself draws its number 3 here, not its first" in texts(app)
    lab_state.pick(lab_of(app), 0)
    app = settle(app.run())
    app = settle(app.button(key="start_grow").click().run())
    assert "The run itself draws" not in texts(app)
