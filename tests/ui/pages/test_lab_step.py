"""The step of the lab, its context, and the sentence on the control that changed its token."""

from __future__ import annotations

from typing import Any

import pytest

from core.decoding.autoregressive.config import Sampling
from core.decoding.lab.step import lab_step, read_step_logits
from core.decoding.shaping.orders import TRANSFORMERS
from pages.ui.decode.state import DecodeView
from pages.ui.lab import page as lab_page
from pages.ui.lab import state as lab_state
from pages.ui.lab import step_picker
from pages.ui.lab.state import Lab, StepRef
from pages.ui.resources import models
from pages.ui.widgets.controls import link
from tests.ui.knobs import move, report
from tests.ui.pages.test_lab_page import (  # noqa: F401 - fixtures
    STEPS,
    _late_seed,
    lab_of,
    no_example,
    open_lab,
    scripted,
    settle,
)
from tests.ui.seen import texts

pytestmark = pytest.mark.usefixtures("scripted")


def test_marks_of_the_chat_are_visible_in_the_context() -> None:
    model = models.load("embedded:target")
    model.eos_ids = frozenset({0})
    plain, marked = (
        lab_step(read_step_logits(model, ids), Sampling(), TRANSFORMERS).text_before
        for ids in ((1, 2), (0, 1, 0, 2))
    )
    assert marked != plain and marked.count("<") >= 2


def test_the_picker_marks_the_step_that_is_shown_and_a_click_picks_another(monkeypatch) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr(step_picker, "_component", lambda **asked: sent.update(asked))
    view, lab = DecodeView(), Lab()
    view.show(STEPS, "run")
    elsewhere = StepRef("embedded:target", "", ids=(3, 3, 4), index=1)
    for index, linked, marked in ((2, None, 2), (99, None, 2), (99, elsewhere, -1)):
        lab.index, lab.linked = index, linked
        lab_page._steps_table(lab, view)
        assert sent["data"]["at"] == marked
    assert [row[0] for row in sent["data"]["steps"]] == ["1", "2", "3"]
    for place in (1, 3, None):
        state = {"step-picker": {"picked": place}}
        monkeypatch.setattr(step_picker.st, "session_state", state)
        sent["on_picked_change"]()
    assert lab.index == 1 and lab.linked is None


def test_what_flipped_is_forgotten_when_the_page_is_left_and_only_a_hand_flips_the_token() -> None:
    app = open_lab(prompt="the cat", top_k="1", temperature="1", seed=str(_late_seed()))
    app = settle(report(app, top_k=0))
    assert "flipped by the last change" in texts(app)
    before = lab_of(app).step.step.token_id
    app.switch_page("decode.py").run()
    app = settle(app.switch_page("sampling.py").run())
    assert "flipped by the last change" not in texts(app)
    # The address of another entry of the browser's history, as the page is come back to.
    move(app, "top_k", 1)
    app = settle(move(app, "page_entered", True).run())
    assert lab_of(app).step.step.token_id != before
    assert "flipped by the last change" not in texts(app)


def test_a_link_s_step_that_can_t_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[str] = []
    monkeypatch.setattr(link, "report", reports.append)
    open_lab(STEPS, ids="1-x~~m")
    assert reports == ["The step in the link can't be read: one of the run is shown instead."]
    open_lab(STEPS, ids="3-3~4~embedded:target")
    assert len(reports) == 1


def test_the_rows_say_why_the_run_s_own_text_is_none_of_them() -> None:
    app = open_lab(STEPS, lab_look="Continuations", ways="2", length="4")
    for index in (2, 0):
        lab_state.pick(lab_of(app), index)
        app = settle(app.run())
        app = settle(app.button(key="start_grow").click().run())
        assert "new sample from here with its own seed" in texts(app)
        assert ("The run itself draws its number 3 here, not its first" in texts(app)) == (
            index == 2
        )
