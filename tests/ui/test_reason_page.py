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
from pages.ui.reasoning import sweep as reason_many
from pages.ui.reasoning import text as reason_text
from pages.ui.reasoning import work as reason_work
from pages.ui.reasoning.state import ReasonView
from pages.ui.run import changed, jobs
from pages.ui.run import save as share
from pages.ui.widgets.control import defaults
from tests.figures.reasons import HOSTILE, make_rivalry, make_sweep
from tests.ui.conftest import Open
from tests.ui.knobs import move, shown_knobs
from tests.ui.reason_app import PROBLEM, SETTINGS, own, run, run_of, settle, view_of
from tests.ui.seen import charts, specs, texts


def test_first_paint_is_the_example(open_reason: Open) -> None:
    app = open_reason()
    assert not app.exception
    assert charts(app) == ["stops", "accuracy", "outcomes", "spent", "difficulty"]
    assert "Correct: 4" in texts(app) and "Example" in texts(app)
    assert not view_of(app).jobs


def test_the_stored_example_is_what_the_defaults_describe() -> None:
    example = reason_state.load_example()
    assert example is not None
    read = defaults().__getitem__
    problem = reason_problem.problem(read)
    assert example.strip.problem == problem
    view = ReasonView()
    view.show_example(example)
    assert changed.note(view, registry.page_at("reasoning")) == ""
    assert example.vote.attempts[0].seed == example.rivalry.config.seed == 0
    assert len(example.vote.attempts) == read("voters") == example.rivalry.rivals[-1].samples
    assert example.run.checks and all(check.passed for check in example.run.checks)
    assert example.sweep.complete and example.cut.complete
    wanted = reason_many.budgets(str(read("budgets")), 0)
    assert example.sweep.plan.budgets == wanted
    assert len(example.sweep.plan.problems.problems) == read("many_problems")


def test_a_level_is_a_name_for_a_budget(open_reason: Open) -> None:
    app = open_reason()
    assert app.session_state["level"] == "high"
    move(app, "thinking", LEVELS["low"]).run()
    assert app.session_state["level"] == "low"
    move(app, "thinking", 33).run()
    assert app.session_state["level"] is None
    app.button_group(key="level").set_value("medium").run()
    assert shown_knobs(app)["thinking"]["value"] == LEVELS["medium"]


def test_the_controls_describe_a_run() -> None:
    told = {**defaults(), "seed": 5}
    plain = reason_controls.config(told.__getitem__)
    assert plain == Reasoning(max_answer_tokens=24, top_candidates=5, max_new_tokens=168)
    told |= {"reason_temperature": 0.7, "thinking": 9, "ignore_end": 2, "wait": "Hmm"}
    told |= {"use_tool": True, "whole": 50}
    drawn = reason_controls.config(told.__getitem__)
    assert drawn.draws and drawn.seed == 5 and drawn.shaping == Shaping(temperature=0.7)
    assert (drawn.max_thinking_tokens, drawn.max_new_tokens) == (9, 50)
    assert (drawn.ignore_end, drawn.wait_text, drawn.calculator) == (2, " Hmm", True)


def test_each_difficulty_and_seed_has_its_problem() -> None:
    told = defaults()
    seen = set()
    for steps in range(1, 9):
        told["steps"] = steps
        problem = reason_problem.problem(told.__getitem__)
        assert problem.steps == steps
        seen.add(problem.key)
    told["problem_seed"] = 8
    seen.add(reason_problem.problem(told.__getitem__).key)
    assert len(seen) == 9
    told["problem"] = "sum"
    assert "calculator" in reason_problem.problem(told.__getitem__).system


def test_an_own_question_may_lack_its_answer_but_not_its_words() -> None:
    told = {**defaults(), "problem": "own", "question": " What? ", "right": "1,200.0"}
    assert reason_problem.problem(told.__getitem__).answer == "1200"
    told["right"] = ""
    assert reason_problem.problem(told.__getitem__).answer == ""
    for wrong in ({"right": "many"}, {"question": " "}):
        with pytest.raises(ProblemError):
            reason_problem.problem((told | wrong).__getitem__)


def test_run_shows_what_was_asked_for_and_where_it_knew(open_reason: Open) -> None:
    app = run(open_reason(**own(thinking="2")))
    assert not app.exception
    view = view_of(app)
    assert view.trace is not None and view.strip is not None
    assert (view.trace.prompt, view.trace.config.max_thinking_tokens) == ("q", 2)
    assert view.trace.checks and all(check.passed for check in view.trace.checks)
    assert [point.tokens for point in view.strip.points][-1] == 2
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


def test_a_wrong_and_a_cut_off_run_say_so(open_reason: Open) -> None:
    app = run(open_reason(**own(right="5")))
    assert "Wrong: 4. The right answer is 5." in texts(app)
    app = run(open_reason(**own(right="5", whole="3")))
    assert "Truncated before answering. The right answer is 5." in texts(app)
    assert "in all: ended at its length." in texts(app)


def test_a_question_that_is_too_long_says_so_and_is_not_run(open_reason: Open) -> None:
    app = open_reason(**own())
    before = view_of(app).trace
    assert [field.proto.max_chars for field in app.text_input] == [0] * len(app.text_input)
    app.text_input(key="question").set_value("q" * 51_000).run()
    assert "Your question has 51,000 characters; 2,000 are the most." in texts(app)
    app.button(key="start").click().run()
    assert view_of(app).trace is before and not view_of(app).jobs


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "Lower the budget and run it again"),
        ({"thinking": "2"}, "The budget closed its thinking: raise it, or lower it"),
        ({"thinking": "2", "right": "5"}, "The budget closed its thinking: raise it and run"),
        ({"thinking": "0", "right": "5"}, "The budget closed its thinking: raise it and run"),
        ({"right": "5"}, "by itself: a larger budget alone changes nothing here"),
        ({"thinking": "0"}, "It needed no thinking: take a problem of more steps"),
        ({"whole": "3"}, "The bound on the whole run cut it off: raise it"),
        ({"answer_tokens": "1"}, "raise Answer at most"),
    ],
)
def test_what_to_try_next_follows_from_what_became_of_the_run(
    open_reason: Open, more: dict[str, str], words: str
) -> None:
    app = run(open_reason(**own(**more)))
    assert words in texts(app)


def judged(app: AppTest) -> str:
    """What is said of the run's answer; its place is above the tabs, which tell of other runs."""
    lines = texts(app).splitlines()
    return next(line for line in lines if line.startswith(("Correct", "It answers")))


def test_an_unjudged_answer_is_no_verdict(open_reason: Open) -> None:
    app = run(open_reason(**own(right="")))
    assert judged(app) == "It answers 4. The right answer isn't known here."
    app.text_input(key="right").set_value("4").run()
    assert judged(app) == "Correct: 4"


def test_an_invalid_right_answer_judges_nothing(open_reason: Open) -> None:
    app = run(open_reason(**own()))
    assert judged(app) == "Correct: 4"
    app.text_input(key="right").set_value("four").run()
    assert "The right answer must be a number" in texts(app)
    assert judged(app) == "It answers 4. The right answer isn't known here."
    app.text_input(key="right").set_value("+4").run()
    assert judged(app) == "Correct: 4"


def test_a_wrong_setting_is_named_by_its_label(open_reason: Open) -> None:
    app = open_reason(**own(ignore_end="1", wait="x</think>"))
    assert "Wait word must not close the thinking" in texts(app)
    assert "Reasoning." not in texts(app)


def test_other_settings_ask_for_another_run(open_reason: Open) -> None:
    app = run(open_reason(**own()))
    assert "Changed since this run" not in texts(app)
    move(app, "thinking", 1).run()
    assert "Changed since this run" in texts(app)


def test_another_model_asks_for_another_run(open_reason: Open) -> None:
    app = run(open_reason(**own()))
    app.session_state["model"] = "embedded:draft"
    assert "Changed since this run: Model. Press Run." in texts(app.run())


def test_the_whole_bound_follows_the_budget_unless_it_is_given(open_reason: Open) -> None:
    app = open_reason(**own())
    assert "max_new_tokens = 168: 128 thinking + 24 answer + 16 for the marks." in texts(app)
    move(app, "thinking", 2000).run()
    assert "max_new_tokens = 2040: 2000 thinking" in texts(app)
    app = run(app)
    assert view_of(app).trace.config.max_new_tokens == 2040  # type: ignore[union-attr]
    app.number_input(key="whole").set_value(50).run()
    assert "= 50, your own. It may cut the run off: all parts need 2040." in texts(app)
    assert "Changed since this run" in texts(app)
    app.number_input(key="whole").set_value(3000).run()
    assert "cut the run off" not in texts(app)


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
    assert not app.exception and "Your question is empty" not in texts(app)
    app.button(key="start").click().run()
    assert not view_of(app).jobs and "Your question is empty" in texts(app)


def test_a_wrong_control_after_a_failed_run_is_the_one_sentence(open_reason: Open) -> None:
    app = open_reason(**own(right="many"))
    view_of(app).failure = "The run before has failed."
    app.run()
    assert not app.exception
    assert "must be a number" in texts(app) and "has failed" not in texts(app)


def test_without_an_example_the_page_says_what_to_do(
    open_reason: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reason_state, "load_example", lambda: None)
    app = open_reason()
    for look in ("Many problems", "Same bound, other ways", "What a level is", "A calculator"):
        app.session_state["reason_look"] = look
        app.run()
        assert not app.exception, look
    assert any("Press Run" in block.value for block in app.markdown)


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
    stored = run_of(replace(SETTINGS, max_thinking_tokens=2))
    app.file_uploader(key="trace_file").upload(
        "run.json", share.trace_file(stored), "application/json"
    ).run()
    assert not app.exception
    assert "From a file" in texts(app) and "Changed since this run" not in texts(app)
    assert app.session_state["question"] == "q"
    assert shown_knobs(app)["thinking"]["value"] == 2 and app.session_state["level"] is None
    app = settle(app)
    checks = view_of(app).trace.checks  # type: ignore[union-attr]
    assert checks and all(check.passed for check in checks)


def test_hostile_text_is_never_markup(open_reason: Open) -> None:
    app = open_reason()
    view = view_of(app)
    view.show(run_of(question=HOSTILE), "file")
    view.sweeps["max_thinking_tokens"] = make_sweep(name=HOSTILE)
    view.rivalry = make_rivalry(HOSTILE)
    view.failures["sweep"] = HOSTILE
    for look in ("Many problems", "Same bound, other ways", "A calculator", "What a level is"):
        app.session_state["reason_look"] = look
        app.run()
        assert not app.exception
        for element in [*app.markdown, *app.caption, *app.get("html")]:
            body = getattr(element, "value", "") or getattr(element.proto, "body", "")
            assert "onerror" not in body
        assert "<img" not in json.dumps(specs(app))
    page = reason_share.web_page(view, view.trace).decode()  # type: ignore[arg-type]
    assert "<img src=x onerror" not in page and "Accuracy against the budget" in page
