"""The reasoning page on a scripted model: how tests open it and run what is on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.decode import collect
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.types import ThinkMarks
from core.decoding.record.trace import Trace
from core.evaluation.attempts import transcript_of
from core.evaluation.example import ReasoningExample
from core.evaluation.sweep.types import BudgetSweep
from core.evaluation.types import Problem
from core.models.scripted import ScriptedModel
from pages.ui.reasoning import state as reason_state
from pages.ui.reasoning.state import ReasonView
from pages.ui.resources import models
from tests.evaluation.thinkers import ID, thinker
from tests.figures.reasons import make_rivalry, make_strip, make_sweep, make_vote
from tests.ui import seen
from tests.ui.stores import uncached

Open = Callable[..., AppTest]

PROBLEM = Problem("q", "q", "4", 1)
SETTINGS = Reasoning(max_answer_tokens=24)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: asked anything, it thinks "abc" and answers "4."."""
    model = thinker()
    model.model_id = "embedded:target"
    model.has_chat_template = True  # type: ignore[attr-defined]
    model.encode_chat = lambda _: [ID["q"]]  # type: ignore[attr-defined]
    model.think_marks = ThinkMarks("<think>", "</think>", "tokens")  # type: ignore[attr-defined]
    monkeypatch.setattr(models, "MODELS", uncached(lambda _: model))
    return model


def run_of(settings: Reasoning = SETTINGS, question: str = "q") -> Trace:
    trace = collect(thinker(), [ID["q"]], settings, prompt_text=question)
    return replace(trace, model_id="embedded:target")


@pytest.fixture
def stored() -> ReasoningExample:
    run = run_of()
    tools = (transcript_of(PROBLEM, run), transcript_of(replace(PROBLEM, answer="5"), run))
    cut = make_sweep(field="max_new_tokens")
    strip = replace(make_strip(), problem=PROBLEM)
    return ReasoningExample(
        make_sweep(), cut, make_rivalry(), make_vote(PROBLEM), run, strip, tools
    )


@pytest.fixture
def open_reason(
    open_app: Open,
    monkeypatch: pytest.MonkeyPatch,
    stored: ReasoningExample,
    scripted: ScriptedModel,  # noqa: ARG001 - whatever is asked for, this one is loaded
) -> Open:
    """Open the page on that example, with these parameters in the address."""
    monkeypatch.setattr(reason_state, "load_example", lambda: stored)

    def open_it(**parameters: str) -> AppTest:
        # The looks follow the text.
        return open_app("reasoning.py", **parameters).run()

    return open_it


def view_of(app: AppTest) -> ReasonView:
    return cast(ReasonView, app.session_state["reason"])


settle = partial(seen.settle, key="reason")


def run(app: AppTest) -> AppTest:
    return settle(app.button(key="start").click().run())


def own(**more: str) -> dict[str, str]:
    return {"problem": "My own", "question": "q", "right": "4", **more}


def sweep_of(app: AppTest) -> BudgetSweep:
    return view_of(app).sweeps["max_thinking_tokens"]
