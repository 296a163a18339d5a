"""Session of a page: its list of runs, an example that runs, the notes, the lab."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import streamlit as st

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from pages.ui import registry
from pages.ui.decode import notice
from pages.ui.decode.state import DecodeView
from pages.ui.inside import controls as inside_controls
from pages.ui.inside.state import InsideView
from pages.ui.reasoning import state as reason_state
from pages.ui.reasoning.problem import ReasonRequest, chains
from pages.ui.reasoning.state import ReasonView
from pages.ui.resources import prompts
from pages.ui.run import changed, shared
from pages.ui.run.display import history
from pages.ui.run.files import link_run
from pages.ui.run.request import Request
from pages.ui.run.view import MOST_RUNS, View
from pages.ui.speculative.state import SpecView
from pages.ui.widgets.controls.control import value
from tests.figures.specs import make_spec
from tests.figures.traces import make_trace
from tests.ui.conftest import Open


def test_the_last_twelve_runs_are_kept() -> None:
    view = DecodeView(failures={"decode": ""})
    traces = [make_trace(2, seed=seed) for seed in range(3)]
    for trace in [*traces * 4, traces[0]]:
        view.collect("decode", trace)
    assert len(view.runs) == MOST_RUNS and view.runs[-1][0] is traces[0]


def test_a_view_remembers_the_newest_result_of_a_name() -> None:
    view, made = DecodeView(failures={}), list[int]()

    def ask(name: str, key: int) -> int:
        return view.memo(name, key, lambda: made.append(key) or key)

    assert [ask("a", 1), ask("a", 1), ask("b", 2), ask("a", 1), ask("a", 3)] == [1, 1, 2, 1, 3]
    assert made == [1, 2, 3]
    assert ask("a", 1) == 1 and made == [1, 2, 3, 1]
    # Where it can't be made the last one stays, and nothing else is given.
    with pytest.raises(ZeroDivisionError):
        view.memo("a", 4, lambda: 1 // 0)
    assert view.memory["a"][1] == 1


def test_the_list_of_runs_names_what_differs_and_writes_no_text_of_a_prompt() -> None:
    shapings = (Shaping(top_p=0.9), Shaping(top_p=0.5), Shaping(top_p=0.5))
    traces = [make_trace(3, shaping=shaping) for shaping in shapings]
    traces[2] = replace(traces[2], prompt="![x](y)")
    assert history.labels_of([(trace, None) for trace in traces]) == [
        "Run 1: sampling · 3 tokens · prompt 1 · top-p 0.9",
        "Run 2: sampling · 3 tokens · prompt 1 · top-p 0.5",
        "Run 3: sampling · 3 tokens · prompt 2 · top-p 0.5",
    ]
    hot = make_trace(3, shaping=Shaping(temperature=1.7))
    runs = [(trace, None) for trace in (make_trace(3), hot, make_trace(4, "greedy"))]
    example, first, second = history.labels_of(runs, example=True)
    assert example.startswith("Example: sampling · ") and "temperature 0.8" in example
    assert first.startswith("Run 1: sampling · 3 tokens · ") and "temperature 1.7" in first
    assert second.startswith("Run 2: greedy · 4 tokens") and "temperature" not in second


def test_the_example_comes_back_from_the_list_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    example = make_trace(5, shaping=Shaping(temperature=0.3))
    view = DecodeView(failures={"decode": ""})
    view.show(example, "example")
    view.request = Request("embedded:target", "Once", Sampling(seed=7))
    view.collect("decode", make_trace(4))
    state["earlier_runs"] = 0
    history._back(view)
    assert (view.trace, view.source, view.shown_request) == (example, "example", None)
    assert value("temperature") == 0.3


def go_back(
    monkeypatch: pytest.MonkeyPatch, view: View, *requests: Request, path: str | None = None
) -> dict[str, Any]:
    """Make these runs, then look at the first one again; returns what the controls say then.

    Args:
        path: of the page that shows them, where it isn't that of their method.
    """
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    view.failures["decode"] = ""
    for request in requests:
        kind = make_spec if request.config.method == "speculative" else make_trace
        view.request = request
        view.collect("decode", replace(kind(4), prompt=request.prompt, config=request.config))
    state["earlier_runs"] = 0
    history._back(view, registry.page_at(path) if path else None)
    assert view.trace is view.runs[0][0] and view.shown_request is requests[0]
    return state


def test_an_earlier_run_comes_back_with_what_it_was_asked_for(monkeypatch) -> None:
    model, view, chat = "embedded:target", DecodeView(), {"chat": True, "system": "One word."}
    first = Request(model, "Who?", Sampling(seed=7), **chat)
    state = go_back(monkeypatch, view, first, Request(model, "Once", Greedy()))
    assert (chat | {"method": "sampling"}).items() <= state.items()
    made = link_run.link_to(view, view.trace)  # type: ignore[arg-type]
    assert made is not None and not made.changed and not made.lost
    parameters = {"prompt": "Who?", "chat": "true", "system": "One word."}
    assert parameters.items() <= made.parameters.items()


def test_an_earlier_run_inside_sets_the_controls_of_that_page(monkeypatch) -> None:
    model, view = "embedded:target", InsideView()
    first = Request(model, "A", Sampling(seed=7, max_new_tokens=9))
    state = go_back(monkeypatch, view, first, Request(model, "B", Sampling()), path="inside")
    assert inside_controls.request() == first
    assert "tokens" not in state and "method" not in state
    made = link_run.link_to(view, view.trace, registry.page_at("inside"))  # type: ignore[arg-type]
    assert made is not None and not made.changed and not made.lost


def test_an_earlier_speculative_run_is_what_its_controls_ask_for(monkeypatch) -> None:
    draft = "embedded:draft"
    view = SpecView()
    requests = [Request("embedded:target", prompt, make_spec(4).config, draft=draft)
             for prompt in ("A", "B")]  # fmt: skip
    go_back(monkeypatch, view, *requests)
    assert changed.note(view, registry.page_at("speculative")) == ""


def test_an_earlier_reasoning_run_is_judged_by_its_own_problem(monkeypatch) -> None:
    view = ReasonView()
    requests = [
        ReasonRequest("embedded:target", problem.question, Reasoning(), problem=problem)
        for problem in chains(2, 1).problems
    ]
    state = go_back(monkeypatch, view, *requests)
    assert view.problem == requests[0].problem == reason_state.problem_of(view)
    assert state["question"] == requests[0].prompt and "prompt" not in state


def test_what_to_notice_holds_no_text_of_a_token() -> None:
    hostile = make_trace(20, hostile=True, shaping=Shaping(temperature=1.8))
    words = "".join(notice.words(hostile, step) for step in hostile.token_steps)
    assert "<img" not in words and "http" not in words


def test_what_to_notice_offers_no_other_seed_where_one_token_alone_can_be_drawn() -> None:
    trace = make_trace(1, shaping=Shaping(top_k=1))
    words = notice.words(trace, trace.token_steps[0])
    assert "every seed draws it" in words and "another seed" not in words


def test_picking_an_example_runs_it_once(open_app: Open, monkeypatch) -> None:
    started: list[Request] = []
    monkeypatch.setattr("pages.ui.run.jobs.decode", started.append)
    monkeypatch.setattr(DecodeView, "begin", lambda *_: None)
    app = open_app()
    app.session_state[shared.RUN_EXAMPLE] = True
    app.session_state["prompt"] = chosen = prompts.examples()[1].prompt
    app.run().run()
    assert [request.prompt for request in started] == [chosen]
