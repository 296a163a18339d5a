"""The reasoning page without a browser: its states, its runs, and what may not be markup."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from core.decoding.configs import LEVELS, ConfigError, Reasoning, Shaping
from core.decoding.errors import ProblemError
from core.decoding.reasoning_types import ThinkMarks
from core.decoding.run import collect
from core.decoding.types import Trace
from core.models.scripted import END, ScriptedModel
from core.reasoning.attempts import transcript_of
from core.reasoning.types import Problem, ReasoningExample, Sweep
from pages.ui import (
    models,
    reason_controls,
    reason_many,
    reason_problem,
    reason_share,
    reason_state,
    reason_text,
    reason_work,
    share,
)
from pages.ui.reason_state import ReasonView
from tests.figures.reasons import HOSTILE, make_rivalry, make_strip, make_sweep
from tests.reasoning.thinkers import ID, following, thinker
from tests.ui.conftest import ROOT, Open
from tests.ui.seen import SECONDS, charts, texts

PROBLEM = Problem("q", "q", "4", 1)
SETTINGS = Reasoning(max_answer_tokens=24)


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Every model is this one: asked anything, it thinks "abc" and answers "4."."""
    torch.set_num_threads(1)
    model = thinker()
    model.has_chat_template = True  # type: ignore[attr-defined]
    model.encode_chat = lambda _: [ID["q"]]  # type: ignore[attr-defined]
    model.think_marks = ThinkMarks("<think>", "</think>", "tokens")  # type: ignore[attr-defined]
    monkeypatch.setattr(models, "_cached", lambda _: model)
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
    return ReasoningExample(make_sweep(), cut, make_rivalry(), run, strip, tools)


@pytest.fixture
def open_reason(open_app: Open, monkeypatch: pytest.MonkeyPatch, stored: ReasoningExample) -> Open:
    """Open the page on that example, with these parameters in the address."""
    monkeypatch.setattr(reason_state, "load_example", lambda: stored)

    def open_it(**parameters: str) -> AppTest:
        app = open_app(**parameters)
        for name, value in parameters.items():
            app.query_params[name] = value
        # The looks follow the text.
        return app.switch_page("pages/reasoning.py").run().run()

    return open_it


def view_of(app: AppTest) -> ReasonView:
    view: ReasonView = app.session_state["reason"]
    return view


def settle(app: AppTest) -> AppTest:
    """Wait for the workers and draw again, until nothing is under way."""
    for _ in range(6):
        jobs = list(view_of(app).jobs.values())
        if not jobs:
            return app
        assert all(job.done.wait(SECONDS) for job in jobs)
        app.run()
    raise AssertionError("the page never comes to rest")


def run(app: AppTest) -> AppTest:
    return settle(app.button(key="start").click().run())


def own(**more: str) -> dict[str, str]:
    return {"problem": "My own", "question": "q", "right": "4", **more}


def test_first_paint_is_the_example(open_reason: Open) -> None:
    app = open_reason()
    assert not app.exception
    assert charts(app) == ["stops", "accuracy", "outcomes", "spent", "difficulty"]
    assert "Correct: 4" in texts(app) and "Example" in texts(app)
    assert not view_of(app).jobs


def test_the_stored_example_is_what_the_defaults_describe() -> None:
    example = reason_state.load_example()
    assert example is not None
    read = reason_controls.DEFAULTS.__getitem__
    problem, config = reason_problem.problem(read), reason_controls.config(read)
    assert example.strip.problem == problem
    assert not reason_state.needs_run(example.run, problem, config)
    assert example.run.checks and all(check.passed for check in example.run.checks)
    assert example.sweep.complete and example.cut.complete
    wanted = reason_many.budgets(str(read("budgets")), 0)
    assert example.sweep.plan.budgets == wanted
    assert len(example.sweep.plan.problems.problems) == read("many_problems")


def test_first_paint_loads_no_torch() -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; from pages.ui import models;"
        "models.warm_up = lambda: None;"
        "app = AppTest.from_file('app.py', default_timeout=30).run();"
        "app = app.switch_page('pages/reasoning.py').run(); assert not app.exception;"
        "assert len(app.get('plotly_chart')) == 2; app.run();"
        "assert len(app.get('plotly_chart')) == 5;"
        "assert not {'torch', 'transformers'} & set(sys.modules), 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]


def test_a_level_is_a_name_for_a_budget(open_reason: Open) -> None:
    app = open_reason()
    assert app.session_state["level"] == "high"
    app.number_input(key="thinking").set_value(LEVELS["low"]).run()
    assert app.session_state["level"] == "low"
    app.number_input(key="thinking").set_value(33).run()
    assert app.session_state["level"] is None
    app.button_group(key="level").set_value("medium").run()
    assert app.number_input(key="thinking").value == LEVELS["medium"]


def test_the_controls_describe_a_run() -> None:
    told = {**reason_controls.DEFAULTS, "seed": 5}
    plain = reason_controls.config(told.__getitem__)
    assert plain == Reasoning(max_answer_tokens=24, top_candidates=5)
    told |= {"reason_temperature": 0.7, "thinking": 9, "ignore_end": 2, "wait": "Hmm"}
    told |= {"use_tool": True, "whole": 50}
    drawn = reason_controls.config(told.__getitem__)
    assert drawn.draws and drawn.seed == 5 and drawn.shaping == Shaping(temperature=0.7)
    assert (drawn.max_thinking_tokens, drawn.max_new_tokens) == (9, 50)
    assert (drawn.ignore_end, drawn.wait_text, drawn.calculator) == (2, " Hmm", True)


def test_each_difficulty_and_seed_has_its_problem() -> None:
    told = dict(reason_controls.DEFAULTS)
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
    told = {**reason_controls.DEFAULTS, "problem": "own", "question": " What? ", "right": "1,200.0"}
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


def test_a_wrong_and_a_cut_off_run_say_so(open_reason: Open) -> None:
    app = run(open_reason(**own(right="5")))
    assert "Wrong: 4. The right answer is 5." in texts(app)
    app = run(open_reason(**own(right="5", whole="3")))
    assert "Truncated before answering. The right answer is 5." in texts(app)
    assert "cut off at its bound" in texts(app)


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


def test_an_unjudged_answer_is_no_verdict(open_reason: Open) -> None:
    app = run(open_reason(**own(right="")))
    assert "It answers 4. The right answer isn't known here." in texts(app)
    app.text_input(key="right").set_value("4").run()
    assert "Correct: 4" in texts(app)


def test_other_settings_ask_for_another_run(open_reason: Open) -> None:
    app = run(open_reason(**own()))
    assert "ask for another run" not in texts(app)
    app.number_input(key="thinking").set_value(1).run()
    assert "ask for another run" in texts(app)


def test_an_empty_question_is_a_sentence(open_reason: Open) -> None:
    app = open_reason(problem="My own")
    assert not app.exception and "Your question is empty" in texts(app)
    app.button(key="start").click().run()
    assert not view_of(app).jobs


def test_a_wrong_control_after_a_failed_run_is_the_one_sentence(open_reason: Open) -> None:
    app = open_reason(**own(question=""))
    view_of(app).failure = "The run before has failed."
    app.run()
    assert not app.exception
    assert "Your question is empty" in texts(app) and "has failed" not in texts(app)


def test_the_looks_are_drawn(open_reason: Open) -> None:
    app = open_reason()
    seen = {
        "Same bound, other ways": "rivals",
        "What a level is": "accuracy",
        "A calculator": "accuracy",
    }
    for look, chart in seen.items():
        app.session_state["reason_look"] = look
        app.run()
        assert not app.exception, look
        assert chart in charts(app)
    assert "Wrong: 4. The right answer is 5." in texts(app)


def test_the_loop_counts_the_forwards_of_the_shown_run(open_reason: Open) -> None:
    app = open_reason()
    app.session_state["reason_look"] = "What a level is"
    app.run()
    tokens = len(view_of(app).trace.token_steps)  # type: ignore[union-attr]
    assert f"{tokens}: 1 reads the prompt, {tokens - 1} one token each" in texts(app)
    assert "3 times, not to its bound" in texts(app)
    assert any("max_thinking_tokens" in code.value for code in app.code)


def test_a_sweep_runs_every_problem_at_every_budget(open_reason: Open) -> None:
    app = open_reason(many_problems="3", budgets="5, 1 1")
    app = settle(app.button(key="start_sweep").click().run())
    assert not app.exception
    sweep = sweep_of(app)
    assert sweep.complete and len(sweep.rows) == 6
    assert {row.budget for row in sweep.rows} == {1, 5}
    assert "Your sweep" in texts(app) and "6 of 6 runs" in texts(app)
    assert app.query_params["sweep"] == "1"


def sweep_of(app: AppTest) -> Sweep:
    return view_of(app).sweeps["max_thinking_tokens"]


def test_a_stopped_sweep_stays_and_goes_on_where_it_was(open_reason: Open) -> None:
    app = open_reason(many_problems="3", budgets="1, 5")
    app = settle(app.button(key="start_sweep").click().run())
    view, whole = view_of(app), sweep_of(app)
    view.sweeps["max_thinking_tokens"] = part = replace(whole, rows=whole.rows[:2])
    app.run()
    assert "Your sweep, stopped" in texts(app) and "2 of 6 runs" in texts(app)
    assert app.button(key="start_sweep").label == "Resume"
    app = settle(app.button(key="start_sweep").click().run())
    assert sweep_of(app).rows[:2] == part.rows
    assert {(r.problem, r.budget) for r in sweep_of(app).rows} == {
        (r.problem, r.budget) for r in whole.rows
    }
    app.text_input(key="budgets").set_value("1, 6").run()
    assert app.button(key="start_sweep").label == "Run sweep"


def test_a_link_makes_the_sweep_again_under_its_own_settings(open_reason: Open) -> None:
    app = settle(
        open_reason(many_problems="2", budgets="1, 5", bound="Cuts the run off", sweep="1")
    )
    sweep = view_of(app).sweeps["max_new_tokens"]
    assert sweep.complete and sweep.plan.budgets == (1, 5) and len(sweep.rows) == 4
    assert "Your sweep" in texts(app)


def test_a_sweep_under_way_is_in_sight_from_its_start_with_one_count(
    open_reason: Open, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedModel
) -> None:
    app, held = open_reason(many_problems="3", budgets="1, 5"), threading.Event()
    monkeypatch.setattr(models, "load", lambda _: held.wait(SECONDS) and scripted)
    app.button(key="start_sweep").click().run()
    assert "Your sweep, under way" in texts(app) and "Example ·" not in texts(app)
    assert "0 of 6 runs" in " ".join(bar.proto.text for bar in app.get("progress"))
    assert "of 6 runs" not in texts(app) and "12 of 12 runs" not in texts(app)
    view_of(app).jobs["sweep"].stop()
    held.set()


def test_a_sweep_that_is_stopped_before_its_first_row_leaves_what_was_there() -> None:
    view = ReasonView()
    view.sweeps["max_thinking_tokens"] = before = make_sweep()
    view.live = make_sweep(count=0)
    reason_state._take(view, "sweep", None)
    assert view.sweeps["max_thinking_tokens"] is before and view.live is None


def test_wrong_budgets_are_a_sentence(open_reason: Open) -> None:
    app = open_reason(budgets="1, two")
    assert "Budgets must be whole numbers" in texts(app)
    assert app.button(key="start_sweep").disabled
    app.text_input(key="budgets").set_value(" ".join(map(str, range(100)))).run()
    assert "Give 1 to 40 budgets" in texts(app) and app.button(key="start_sweep").disabled
    app.text_input(key="budgets").set_value("1 2; 3").run()
    assert "udgets" not in texts(app) and not app.button(key="start_sweep").disabled
    assert reason_many.budgets("0;3 2,2", least=1) == (2, 3)
    for wrong in ("", "-1", "1.5", "²", "0"):
        with pytest.raises(ConfigError):
            reason_many.budgets(wrong, least=1)


def test_a_file_of_problems_is_swept_and_its_first_fault_is_named(open_reason: Open) -> None:
    app = open_reason(budgets="1, 5")
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
    app = open_reason(**own(total="96", voters="2", vote_problems="2", answer_tokens="8"))
    app.session_state["reason_look"] = "Same bound, other ways"
    app.run()
    app = settle(app.button(key="compare_ways").click().run())
    rivalry = view_of(app).rivalry
    assert rivalry is not None and [rival.samples for rival in rivalry.rivals] == [1, 1, 2, 2, 2]
    app.session_state["reason_look"] = "A calculator"
    app.run()
    app = settle(app.button(key="run_tools").click().run())
    tools = view_of(app).tools
    assert tools is not None and [run.config.calculator for run in tools] == [False, True]
    assert [run.problem.question for run in tools] == ["q", "q"]


def test_what_was_miscopied_around_the_calculator_is_said(open_reason: Open) -> None:
    chain = {"q": "<call>", "<call>": "4", "4": "*", "*": "2", "2": "<result>", "</result>": "1"}
    settings = replace(SETTINGS, calculator=True, think_start="", think_end="")
    called = collect(following({**chain, "1": END}), [ID["q"]], settings, prompt_text="q")
    app = open_reason()
    view_of(app).tools = (transcript_of(PROBLEM, run_of()), transcript_of(PROBLEM, called))
    app.session_state["reason_look"] = "A calculator"
    app.run()
    assert "Called with what is not in the question: 4, 2." in texts(app)
    assert "The answer, 1, is not what the calculator gave." in texts(app)


def test_too_few_tokens_for_so_many_samples_are_a_sentence(open_reason: Open) -> None:
    app = open_reason(total="32", voters="8")
    app.session_state["reason_look"] = "Same bound, other ways"
    app.run()
    app = settle(app.button(key="compare_ways").click().run())
    assert "leave no room to think" in texts(app)


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
    assert "From a file" in texts(app) and "ask for another run" not in texts(app)
    assert app.session_state["question"] == "q"
    assert app.number_input(key="thinking").value == 2 and app.session_state["level"] is None
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
        assert not any("<img" in chart.proto.spec for chart in app.get("plotly_chart"))
    page = reason_share.web_page(view, view.trace).decode()  # type: ignore[arg-type]
    assert "<img src=x onerror" not in page and "Accuracy against the budget" in page


def test_with_the_calculator_the_model_calls_instead_of_thinking() -> None:
    alone, called = reason_work.tool_configs(replace(SETTINGS, max_answer_tokens=90))
    assert not alone.calculator and alone.think_end
    assert called.calculator and not called.think_end and called.max_answer_tokens == 90
