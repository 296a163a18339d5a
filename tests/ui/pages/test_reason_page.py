"""The reasoning page without a browser: its states, its runs, and what may not be markup."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.decoding.errors import ProblemError
from core.decoding.reasoning.config import LEVELS, Reasoning
from core.decoding.shaping.config import Shaping
from core.server import queue
from pages.ui import registry
from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import save as reason_share
from pages.ui.reasoning import state as reason_state
from pages.ui.reasoning import text as reason_text
from pages.ui.reasoning import work as reason_work
from pages.ui.reasoning.measured import sweep as reason_many
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import changed, jobs
from pages.ui.run.files import save as share
from pages.ui.widgets.controls.control import defaults
from tests.depth import slow
from tests.figures.reasons import HOSTILE, make_rivalry, make_sweep
from tests.ui import seen
from tests.ui.conftest import Open
from tests.ui.knobs import move, shown_knobs
from tests.ui.reason_app import PROBLEM, SETTINGS, own, run, run_of, settle, view_of
from tests.ui.seen import charts, markup, specs, texts


def test_first_paint_is_the_example(open_reason: Open) -> None:
    app = open_reason()
    assert charts(app) == ["stops", "accuracy", "outcomes", "spent", "difficulty"]
    assert "Correct: 4" in texts(app) and "Example" in texts(app)
    assert not view_of(app).jobs


def test_the_stored_example_is_what_the_defaults_describe() -> None:
    example, read = reason_state.load_example(), defaults().__getitem__
    assert example is not None and example.strip.problem == reason_problem.problem(read)
    view = ReasonView()
    view.show_example(example)
    assert changed.note(view, registry.page_at("reasoning")) == ""
    assert example.vote.attempts[0].seed == example.rivalry.config.seed == 0
    assert len(example.vote.attempts) == read("voters") == example.rivalry.rivals[-1].samples
    assert example.sweep.plan.budgets == reason_many.budgets(str(read("budgets")), 0)
    assert len(example.sweep.plan.problems.problems) == read("many_problems")


def test_a_level_is_a_name_for_a_budget(open_reason: Open) -> None:
    app = open_reason()
    assert app.session_state["level"] == "high"
    for budget, level in ((LEVELS["low"], "low"), (33, None)):
        assert move(app, "thinking", budget).run().session_state["level"] == level
    app.button_group(key="level").set_value("medium").run()
    assert shown_knobs(app)["thinking"]["value"] == LEVELS["medium"]


def test_the_controls_describe_a_run() -> None:
    values = defaults() | {"seed": 5}
    plain = reason_controls.config(values.__getitem__)
    assert plain == Reasoning(max_answer_tokens=24, top_candidates=5, max_new_tokens=168)
    values |= {"reason_temperature": 0.7, "thinking": 9, "ignore_end": 2, "wait": "Hmm"}
    drawn = reason_controls.config((values | {"use_tool": True, "whole": 50}).__getitem__)
    assert drawn.draws and drawn.seed == 5 and drawn.shaping == Shaping(temperature=0.7)
    assert (drawn.max_thinking_tokens, drawn.max_new_tokens) == (9, 50)
    assert (drawn.ignore_end, drawn.wait_text, drawn.calculator) == (2, " Hmm", True)


def test_each_difficulty_and_seed_has_its_problem() -> None:
    settings = [{"steps": steps} for steps in range(1, 9)]
    problems = [reason_problem.problem((defaults() | setting).__getitem__) for setting in settings]
    assert [problem.steps for problem in problems] == list(range(1, 9))
    problems.append(reason_problem.problem((defaults() | {"problem_seed": 8}).__getitem__))
    assert len({problem.key for problem in problems}) == 9
    values = defaults() | {"problem": "sum"}
    assert "calculator" in reason_problem.problem(values.__getitem__).system


def test_an_own_question_may_lack_its_answer_but_not_its_words() -> None:
    values = {**defaults(), "problem": "own", "question": " What? "}
    for right, answer in (("1,200.0", "1200"), ("", "")):
        assert reason_problem.problem((values | {"right": right}).__getitem__).answer == answer
    for wrong in ({"right": "many"}, {"question": " "}):
        with pytest.raises(ProblemError):
            reason_problem.problem((values | wrong).__getitem__)


def test_run_shows_what_was_asked_for_and_where_it_knew(open_reason: Open) -> None:
    app = run(open_reason(**own(thinking="2")))
    trace, strip = view_of(app).trace, view_of(app).strip
    assert (trace.prompt, trace.config.max_thinking_tokens) == ("q", 2)
    assert trace.checks and all(check.passed for check in trace.checks)
    assert strip.points[-1].tokens == 2
    assert "Your run" in texts(app) and "Correct: 4" in texts(app)
    assert app.query_params["run"] == "1"


@pytest.mark.usefixtures("scripted")
def test_finding_where_it_knew_lets_others_in_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed: list[bool] = []
    monkeypatch.setattr(queue.Turn, "pass_on", lambda _: passed.append(True))
    done = reason_work.where_it_knew.__wrapped__(jobs.Job(), run_of(), PROBLEM)
    assert done is not None and len(passed) > 1
    stopped = jobs.Job()
    monkeypatch.setattr(queue.Turn, "pass_on", lambda _: stopped.stop())
    assert reason_work.where_it_knew.__wrapped__(stopped, run_of(), PROBLEM) is None


def test_a_question_that_is_too_long_says_so_and_is_not_run(open_reason: Open) -> None:
    app = open_reason(**own())
    assert not any(field.proto.max_chars for field in app.text_input)
    app.text_input(key="question").set_value("q" * 51_000).run()
    assert "Your question has 51,000 characters; 2,000 are the most." in texts(app)
    app.button(key="start").click().run()
    assert view_of(app).source == "example" and not view_of(app).jobs


CUT = ("Truncated before answering. The right answer is 5.", "in all: ended at its length.")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, ["A lower budget leaves it less room"]),
        ({"thinking": "2"}, ["The budget ended its thinking: raise or lower it"]),
        ({"thinking": "2", "right": "5"}, ["The budget ended its thinking: raise the"]),
        slow({"thinking": "0", "right": "5"}, ["The budget ended its thinking: raise the"]),
        ({"right": "5"}, ["by itself: a larger budget alone changes nothing here", "Wrong: 4."]),
        ({"thinking": "0"}, ["It needed no thinking: choose a problem with more steps"]),
        (
            {"whole": "3", "right": "5"},
            ["bound on the whole run ended it: raise “Whole run at most”", *CUT],
        ),
        ({"answer_tokens": "1"}, ["raise “Answer at most”"]),
    ],
)
def test_what_to_try_next_follows_from_what_became_of_the_run(
    open_reason: Open, more: dict[str, str], words: list[str]
) -> None:
    shown_text = texts(run(open_reason(**own(**more))))
    assert [word for word in words if word not in shown_text] == []


def judged(app: AppTest) -> str:
    """Return the verdict on the run's answer, above the tabs, which show other runs."""
    lines = texts(app).splitlines()
    return next(line for line in lines if line.startswith(("Correct", "It answers")))


def test_without_a_right_answer_nothing_is_judged(open_reason: Open) -> None:
    app = run(open_reason(**own(right="")))
    for right, verdict in (
        ("", "It answers 4. The right answer isn't known here."),
        ("4", "Correct: 4"),
        ("four", "It answers 4. The right answer isn't known here."),
        ("+4", "Correct: 4"),
    ):
        app.text_input(key="right").set_value(right).run()
        assert judged(app) == verdict
        assert ("The right answer must be a number" in texts(app)) == (right == "four")


def test_the_whole_bound_follows_the_budget_unless_it_is_given(open_reason: Open) -> None:
    app = open_reason(**own())
    assert "max_new_tokens = 168: 128 thinking + 24 answer + 16 for the marks." in texts(app)
    app = run(move(app, "thinking", 2000).run())
    assert "max_new_tokens = 2040: 2000 thinking" in texts(app)
    assert view_of(app).trace.config.max_new_tokens == 2040  # type: ignore[union-attr]
    shown_text = texts(app.number_input(key="whole").set_value(50).run())
    assert "= 50, your own. It may cut the run off: all parts need 2040." in shown_text
    assert "Changed since this run" in shown_text
    assert "cut the run off" not in texts(app.number_input(key="whole").set_value(3000).run())


def test_a_file_s_answer_is_judged_where_its_question_is_arithmetic(open_reason: Open) -> None:
    app = open_reason()
    for question, words in (
        ("What is 2 + 2?", "Correct: 4"),
        ("Start with 2, add 3. What is the result?", "Wrong: 4. The right answer is 5."),
        ("How many?", "The right answer isn't known here."),
    ):
        view_of(app).show(run_of(question=question), "file")
        assert words in texts(app.run())


def test_an_empty_question_is_a_sentence_once_run_is_pressed(open_reason: Open) -> None:
    app = open_reason(problem="My own")
    assert "Your question is empty" not in texts(app)
    app.button(key="start").click().run()
    assert not view_of(app).jobs and "Your question is empty" in texts(app)


def test_a_wrong_control_after_a_failed_run_is_the_one_sentence(open_reason: Open) -> None:
    app = open_reason(**own(ignore_end="1", wait="x</think>"))
    view_of(app).failure = "The run before has failed."
    app.run()
    assert "Wait word must not close the thinking" in texts(app)
    assert "Reasoning." not in texts(app) and "has failed" not in texts(app)


TABS = ("reason_look", "Budget sweep", "Strategies", "Calculator", "Reasoning levels")


def test_without_an_example_the_page_says_what_to_do(
    open_reason: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reason_state, "load_example", lambda: None)
    app = open_reason()
    assert list(seen.looks(app, *TABS))
    assert "Press Run" in markup(app)


def test_forced_tokens_and_calls_are_marked() -> None:
    shown = reason_text.pieces_of_trace(run_of(replace(SETTINGS, max_thinking_tokens=2)))
    assert [(text, kind) for text, kind, _ in shown[:3]] == [
        ("<think>", "mark forced"),
        ("ab", "thinking"),
        ("</think>", "mark forced"),
    ]
    assert "would have written c" in shown[2][2]
    waits = reason_text.pieces_of_trace(run_of(replace(SETTINGS, ignore_end=1, wait_text="Wait")))
    assert ("Wait", "thinking forced") in [(text, kind) for text, kind, _ in waits]


def test_a_file_sets_the_controls_and_is_proved_again(open_reason: Open) -> None:
    app = open_reason()
    file = share.trace_file(run_of(replace(SETTINGS, max_thinking_tokens=2)))
    app.file_uploader(key="trace_file").upload("run.json", file, "application/json").run()
    assert "From a file" in texts(app) and "Changed since this run" not in texts(app)
    assert app.session_state["question"] == "q" and app.session_state["level"] is None
    assert shown_knobs(app)["thinking"]["value"] == 2
    checks = view_of(settle(app)).trace.checks  # type: ignore[union-attr]
    assert checks and all(check.passed for check in checks)


def test_hostile_text_is_never_markup(open_reason: Open) -> None:
    app = open_reason()
    view = view_of(app)
    view.show(run_of(question=HOSTILE), "file")
    view.sweeps["max_thinking_tokens"] = make_sweep(name=HOSTILE)
    view.rivalry = make_rivalry(HOSTILE)
    view.failures["sweep"] = HOSTILE
    for look in seen.looks(app, *TABS):
        assert "onerror" not in markup(app), look
        assert "<img" not in json.dumps(specs(app))
    page = reason_share.web_page(view, view.trace).decode()  # type: ignore[arg-type]
    assert "<img src=x onerror" not in page and "Accuracy against the budget" in page
