"""What a session of a page offers: its runs, an example that runs, what to notice, the lab."""

from __future__ import annotations

from dataclasses import replace

from core.decoding.shaping.config import Shaping
from pages.ui.decode import notice
from pages.ui.decode.state import DecodeView
from pages.ui.run import history
from pages.ui.run.view import MOST_RUNS
from pages.ui.shell import prompts, sidebar
from tests.figures.traces import make_trace
from tests.ui.conftest import Open


def test_the_last_twelve_runs_are_kept() -> None:
    view = DecodeView(failures={"decode": ""})
    traces = [make_trace(2, seed=seed) for seed in range(3)]
    for trace in [*traces * 4, traces[0]]:
        view.collect("decode", trace)
    assert len(view.runs) == MOST_RUNS and view.runs[-1] is traces[0]


def test_a_session_goes_back_to_an_earlier_run_and_its_controls(open_app: Open) -> None:
    app = open_app()
    view = app.session_state["view"]
    view.failures["decode"] = ""
    assert not [one for one in app.main if getattr(one, "key", "") == "earlier_runs"]
    hot = make_trace(3, shaping=Shaping(temperature=1.7))
    for trace in (hot, make_trace(4, "greedy")):
        view.collect("decode", trace)
    labels = [history._label(at, trace) for at, trace in enumerate(view.runs)]
    assert labels == [
        "Run 1: sampling, 3 tokens, temperature 1.7, seed 7",
        "Run 2: greedy, 4 tokens",
    ]


def test_what_to_notice_follows_the_step_and_the_method() -> None:
    sampled, greedy = make_trace(12), make_trace(12, "greedy")
    low = next(step for step in sampled.token_steps if step.chosen.rank > 1)
    assert f"The draw took rank {low.chosen.rank:,}" in notice.words(sampled, low)
    assert f"at step {low.index + 1}" in notice.words(sampled, low)
    assert "Greedy takes rank 1" in notice.words(greedy, greedy.token_steps[0])
    assert "draw took" not in notice.words(greedy, greedy.token_steps[0])
    assert len({notice.words(sampled, step) for step in sampled.token_steps}) > 6


def test_what_to_notice_holds_no_text_of_a_token() -> None:
    hostile = make_trace(20, hostile=True, shaping=Shaping(temperature=1.8))
    for step in hostile.token_steps:
        step = replace(step, stages=step.stages)
        assert "<img" not in notice.words(hostile, step) and "http" not in notice.words(
            hostile, step
        )


def test_picking_an_example_runs_it(open_app: Open, monkeypatch) -> None:
    started = []
    monkeypatch.setattr("pages.ui.run.jobs.decode", lambda request: started.append(request))
    monkeypatch.setattr(DecodeView, "begin", lambda *_: None)
    app = open_app()
    chosen = prompts.examples()[1]
    app.session_state[sidebar.RUN_EXAMPLE] = True
    app.session_state["prompt"] = chosen.prompt
    app.run()
    assert [request.prompt for request in started] == [chosen.prompt]
    app.run()
    assert len(started) == 1
