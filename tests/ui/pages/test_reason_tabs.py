"""The tabs of the reasoning page without a browser: sweeps, votes, the loop, the calculator."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from core.decoding.errors import ConfigError
from core.decoding.reasoning.types import CalculatorCall
from core.evaluation.tools import both_ways
from core.models.scripted import ScriptedModel
from pages.ui.reasoning.measured import sweep as reason_many
from pages.ui.reasoning.measured import tools as reason_tools
from pages.ui.reasoning.state import ReasonView
from pages.ui.resources import models
from tests.figures.reasons import make_sweep
from tests.ui.conftest import Open
from tests.ui.knobs import move
from tests.ui.reason_app import PROBLEM, SETTINGS, own, settle, sweep_of, view_of
from tests.ui.seen import SECONDS, charts, texts


def test_the_looks_are_drawn(open_reason: Open) -> None:
    app = open_reason()
    for look, chart in (
        ("Strategies", "ways-compared"),
        ("Calculator", "accuracy"),
        ("Reasoning levels", "accuracy"),
    ):
        assert chart in charts(move(app, "reason_look", look).run()), look
        assert not app.exception
    assert "Wrong: 4. The right answer is 5." in texts(app)
    # The loop counts the forwards of the shown run.
    tokens = len(view_of(app).trace.token_steps)  # type: ignore[union-attr]
    assert f"{tokens}: 1 reads the prompt, {tokens - 1} one token each" in texts(app)
    assert "3 times, and ended before its budget" in texts(app)
    assert any("max_thinking_tokens" in code.value for code in app.code)


def test_the_problem_above_is_voted_on(open_reason: Open) -> None:
    app = open_reason(**own(voters="3", thinking="2"))
    move(app, "reason_look", "Strategies").run()
    assert "4 ×2, 5 ×1, of 3 samples" in texts(app) and "1 of 3 votes" in texts(app)
    app = settle(app.button(key="run_vote").click().run())
    vote = view_of(app).vote
    assert vote is not None and len({a.seed for a in vote.attempts}) == 3
    assert all(attempt.thinking_tokens == 2 for attempt in vote.attempts)
    assert "4 ×3, of 3 samples" in texts(app) and "4 ✓" in texts(app)
    # What is stored says its own settings, whatever the controls say by now.
    move(app, "thinking", 32).run()
    assert "Next: 3 samples, each with the thinking budget of 32" in texts(app)
    made = [text for text in texts(app).splitlines() if "(your own)" in text]
    assert len(made) == 1 and "max thinking tokens 2 " in made[0] and "temperature 1 " in made[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("1/4", "0.25"), "1/4 was worked out exactly: 0.25"),
        (("1/3", "0.333333333333"), "1/3 was worked out to 12 digits: 0.333333333333"),
        (("2000000000000001/2", "1000000000000000"), "worked out to 12 digits"),
        (("6*7", "4"), "the run was over before its result"),
        (("1/0", "error"), "1/0 has no value here."),
    ],
)
def test_a_call_says_how_exactly_it_was_worked_out(call: tuple[str, str], words: str) -> None:
    assert words in reason_tools._worked(CalculatorCall(*call, 0, 1))


def test_a_sweep_runs_every_problem_at_every_budget_and_goes_on_where_it_stopped(
    open_reason: Open,
) -> None:
    app = open_reason(many_problems="3", budgets="5, 1 1")
    app = settle(app.button(key="start_sweep").click().run())
    view, whole = view_of(app), sweep_of(app)
    assert (
        whole.complete and [row.budget for row in whole.rows].count(1) == 3 == len(whole.rows) / 2
    )
    assert "Your sweep" in texts(app) and "6 of 6 runs" in texts(app)
    assert app.query_params["sweep"] == "1"
    view.sweeps["max_thinking_tokens"] = part = replace(whole, rows=whole.rows[:2])
    app.run()
    assert "Your sweep, stopped" in texts(app) and "2 of 6 runs" in texts(app)
    assert app.button(key="start_sweep").label == "Resume"
    rows = sweep_of(settle(app.button(key="start_sweep").click().run())).rows
    assert rows[:2] == part.rows and len(rows) == 6
    assert {(r.problem, r.budget) for r in rows} == {(r.problem, r.budget) for r in whole.rows}
    app.text_input(key="budgets").set_value("1, 6").run()
    assert app.button(key="start_sweep").label == "Run sweep"


def test_a_link_makes_the_sweep_again_under_its_own_settings(open_reason: Open) -> None:
    bound = "Cuts the run off"
    app = open_reason(many_problems="2", budgets="1, 5", bound=bound, use_tool="true", sweep="1")
    sweep = view_of(settle(app)).sweeps["max_new_tokens"]
    assert sweep.complete and sweep.plan.budgets == (1, 5) and len(sweep.rows) == 4
    assert sweep.plan.config.calculator
    assert "Your sweep" in texts(app) and "greedy · calculator" in texts(app)


def test_a_sweep_that_is_stopped_before_its_first_row_leaves_what_was_there() -> None:
    view = ReasonView()
    view.sweeps["max_thinking_tokens"] = before = make_sweep()
    view.live = make_sweep(count=0)
    view.collect("sweep", None)
    assert view.sweeps["max_thinking_tokens"] is before and view.live is None


def test_wrong_budgets_are_a_sentence(open_reason: Open) -> None:
    app = open_reason(budgets="1, two")
    for budgets, sentence in (
        ("1, two", "Budgets must be whole numbers"),
        (" ".join(map(str, range(100))), "Give 1 to 40 budgets"),
        ("1 2; 3", ""),
    ):
        app.text_input(key="budgets").set_value(budgets).run()
        assert sentence in texts(app) and ("udgets" in texts(app)) == bool(sentence)
        assert app.button(key="start_sweep").disabled == bool(sentence)
    assert reason_many.budgets("0;3 2,2", least=1) == (2, 3)
    for wrong in ("", "-1", "1.5", "²", "0"):
        with pytest.raises(ConfigError):
            reason_many.budgets(wrong, least=1)


def test_a_file_of_problems_is_swept_and_its_first_fault_is_named(open_reason: Open) -> None:
    app = open_reason(budgets="1, 5", many_problems="2")
    good = b"question,answer\nq,4\nqq,5\n"
    app.file_uploader(key="problem_file").upload("mine.csv", good, "text/csv").run()
    assert "2 problems: mine.csv" in texts(app)
    app = settle(app.button(key="start_sweep").click().run())
    assert len(sweep_of(app).rows) == 4
    assert "difficulty" not in charts(app) and "outcomes" in charts(app)
    assert "sweep" not in app.query_params
    app.file_uploader(key="problem_file").upload("bad.csv", b"question,answer\nq,four\n").run()
    assert "Line 2: the answer must be a number" in texts(app)
    assert view_of(app).uploaded is None


def test_rivals_and_tools_run_on_demand(open_reason: Open) -> None:
    app = open_reason(**own(total="32", voters="8", vote_problems="2", answer_tokens="8"))
    app = settle(
        move(app, "reason_look", "Strategies").run().button(key="compare_ways").click().run()
    )
    assert "leave no room to think" in texts(app)
    app.number_input(key="total").set_value(96)
    app.number_input(key="voters").set_value(2)
    app = settle(app.run().button(key="compare_ways").click().run())
    rivalry = view_of(app).rivalry
    assert rivalry is not None and [rival.samples for rival in rivalry.rivals] == [1, 1, 2, 2, 2]
    app = settle(move(app, "reason_look", "Calculator").run().button(key="run_tools").click().run())
    runs = [(run.config.calculator, run.problem.question) for run in view_of(app).tools or ()]
    assert runs == [(False, "q"), (True, "q")]


def test_with_the_calculator_the_model_calls_instead_of_thinking_and_all_else_is_alike() -> None:
    for answer, room in ((24, 64), (90, 90)):
        config = replace(SETTINGS, max_answer_tokens=answer)
        (thinking, alone), (calls, called) = both_ways(PROBLEM, config)
        assert not alone.calculator and alone.think_end
        assert called.calculator and not called.think_end
        assert alone.max_answer_tokens == called.max_answer_tokens == room
        assert (thinking.question, thinking.answer) == (calls.question, calls.answer)
        assert "calculator" in calls.system and "step by step" in thinking.system


def test_a_sweep_under_way_is_in_sight_from_its_start_with_one_count(
    open_reason: Open, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedModel
) -> None:
    app, held = open_reason(many_problems="3", budgets="1, 5"), threading.Event()
    monkeypatch.setattr(models, "load", lambda *_: held.wait(SECONDS) and scripted)
    app.button(key="start_sweep").click().run()
    assert "Your sweep, under way" in texts(app) and "Example ·" not in texts(app)
    assert "0 of 6 runs" in " ".join(bar.proto.text for bar in app.get("progress"))
    assert "of 6 runs" not in texts(app) and "12 of 12 runs" not in texts(app)
    view_of(app).jobs["sweep"].stop()
    held.set()
