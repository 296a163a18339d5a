"""The reasoning page's controls for one problem, declared once, and the run that they describe."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import streamlit as st

from core.decoding.configs import LEVELS, MethodConfig, Reasoning, Shaping
from core.decoding.errors import ProblemError
from core.decoding.types import Trace
from core.reasoning.answers import normal_number
from core.reasoning.chains import MOST_STEPS
from core.reasoning.example import BUDGETS, PROBLEMS, RIVALRY_PROBLEMS, RUN_STEPS, SEED
from core.reasoning.problems import THINKING_SYSTEM, make_hard_sums, make_problems
from core.reasoning.types import Problem, ProblemSet
from pages.ui import controls, models
from pages.ui.knob import Knob, draw_knob, set_knob
from pages.ui.request import Request

MAX_QUESTION, MAX_WHOLE, MAX_WAITS, MAX_TEMPERATURE = 2000, 8000, 20, 2.0
MAX_PROBLEM_SEED = 99_999
# So many candidates of a step are kept: the page doesn't draw them, the trace file has them.
CANDIDATES = 5
# The address holds the words on the right: that is how Streamlit binds options.
SOURCES = {"chain": "Chain of steps", "sum": "Hard sum", "own": "My own"}
BUDGET = Knob(
    "thinking",
    "Thinking budget",
    0,
    256,
    4096,
    1,
    LEVELS["high"],
    "The bound on the thinking loop, in tokens. When it is spent, the closing mark is forced and "
    "the model has to answer with what it has.",
)
DEFAULTS: dict[str, Any] = {
    "problem": "chain",
    "steps": RUN_STEPS,
    "problem_seed": SEED,
    "question": "",
    "right": "",
    "reason_temperature": 0.0,
    "whole": 1024,
    "answer_tokens": 24,
    "ignore_end": 0,
    "wait": "Wait,",
    "use_tool": False,
    "budgets": ", ".join(map(str, BUDGETS)),
    "bound": "close",
    "many_problems": PROBLEMS,
    "tries": 1,
    "total": 1024,
    "voters": 8,
    "vote_problems": RIVALRY_PROBLEMS,
    "vote_temperature": 1.0,
    BUDGET.key: BUDGET.default,
}


def value(key: str) -> Any:
    """What a control says now; its default before it was drawn, or where it was emptied."""
    if key not in DEFAULTS:
        return controls.value(key)
    found = st.session_state.get(key)
    return DEFAULTS[key] if found is None else found


def config(read: Callable[[str], Any] = value) -> Reasoning:
    """The run that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: settings that exclude each other.
    """
    return reasoning(
        read,
        temperature=float(read("reason_temperature")),
        max_new_tokens=int(read("whole")),
        max_thinking_tokens=int(read(BUDGET.key)),
        calculator=bool(read("use_tool")),
        top_candidates=CANDIDATES,
    )


def reasoning(read: Callable[[str], Any], *, temperature: float, **bounds: Any) -> Reasoning:
    """A config with these bounds and this temperature (0 is greedy), else as the controls say."""
    draws, waits = temperature > 0, int(read("ignore_end"))
    if waits:
        bounds |= {"ignore_end": waits, "wait_text": f" {str(read('wait')).strip()}"}
    return Reasoning(
        max_answer_tokens=int(read("answer_tokens")),
        do_sample=draws,
        seed=int(read("seed")) if draws else 0,
        shaping=Shaping(temperature=temperature if draws else 1.0),
        **bounds,
    )


def problem(read: Callable[[str], Any] = value) -> Problem:
    """The problem that the controls name.

    Raises:
        ProblemError: an own question without words, or an own answer that is no number.
    """
    if read("problem") == "own":
        return _own(str(read("question")).strip(), str(read("right")).strip())
    if read("problem") == "sum":
        return _hard_sum(int(read("problem_seed")))
    return _chains(int(read("problem_seed"))).problems[int(read("steps")) - 1]


def _own(question: str, right: str) -> Problem:
    if not question:
        raise ProblemError("Your question is empty: write it, or choose another kind of problem.")
    answer = normal_number(right)
    if right and answer is None:
        raise ProblemError("The right answer must be a number, or empty where you don't know it.")
    return Problem(question, question, answer or "", None, THINKING_SYSTEM)


@lru_cache(maxsize=64)
def _chains(seed: int) -> ProblemSet:
    """A problem of each difficulty, from 1 step on."""
    return make_problems(MOST_STEPS, seed=seed)


@lru_cache(maxsize=64)
def _hard_sum(seed: int) -> Problem:
    return make_hard_sums(1, seed=seed).problems[0]


@dataclass(frozen=True, slots=True)
class ReasonRequest(Request):
    """A problem put to a model, which thinks between its own marks."""

    problem: Problem | None = None

    def prompt_for(self, model: Any) -> Sequence[int]:
        """The problem's ids, as a chat where the model has a template."""
        from core.reasoning.asking import prompt_ids_of

        assert self.problem is not None
        return prompt_ids_of(model, self.problem, model.think_marks)

    def config_for(self, model: Any) -> MethodConfig:
        """The settings with the model's own marks."""
        return marked(model, self.config)


def marked(model: Any, config: Any) -> Any:
    """A reasoning config with the marks of the model's own thinking."""
    marks = model.think_marks
    return replace(config, think_start=marks.start, think_end=marks.end)


def request() -> ReasonRequest:
    """What Run asks for under the controls as they are."""
    asked = problem()
    return ReasonRequest(
        str(controls.value("model")).strip(), asked.question, config(), problem=asked
    )


def pick_problem() -> None:
    """Which problem: a chain of steps, a hard sum, or one's own question."""
    st.segmented_control(
        "Problem",
        list(SOURCES),
        label_visibility="collapsed",
        format_func=SOURCES.__getitem__,
        default=DEFAULTS["problem"],
        required=True,
        key="problem",
        bind="query-params",
        persist_state="session",
    )
    if value("problem") == "chain":
        whole("Steps", 1, MOST_STEPS, "steps", "How hard: so many operations one after another.")
    if value("problem") != "own":
        st.button(
            "Another problem",
            key="another_problem",
            icon=":material/casino:",
            help="Another problem of this kind. None of them was in the model's training.",
            on_click=_another,
        )


def _another() -> None:
    st.session_state["problem_seed"] = secrets.randbelow(MAX_PROBLEM_SEED)


def write_question() -> None:
    """One's own question and its answer, where they are asked for."""
    if value("problem") != "own":
        return
    with st.container(key="own-question", horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Your question",
            DEFAULTS["question"],
            key="question",
            bind="query-params",
            persist_state="session",
            max_chars=MAX_QUESTION,
            placeholder="Start with 12, add 9, multiply by 3. What is the result?",
        )
        st.text_input(
            "Right answer",
            DEFAULTS["right"],
            key="right",
            bind="query-params",
            persist_state="session",
            max_chars=60,
            placeholder="63",
            width=130,
            help="A number. Leave it empty and the answer isn't judged.",
        )


def whole(
    label: str, low: int, high: int, key: str, help: str | None = None, *, width: int = 150
) -> None:
    """A field for a whole number."""
    st.number_input(
        label,
        low,
        high,
        DEFAULTS[key],
        1,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help,
        width=width,
    )


def temperature(key: str, low: float, help: str, *, width: int = 150) -> None:
    """A field for a temperature."""
    st.number_input(
        "Temperature",
        low,
        MAX_TEMPERATURE,
        DEFAULTS[key],
        0.1,
        key=key,
        bind="query-params",
        persist_state="session",
        help=help,
        width=width,
    )


def budget() -> None:
    """The level by its name, the exact number, and how tokens are chosen."""
    with st.container(key="budget-row", horizontal=True, vertical_alignment="center", gap="medium"):
        st.session_state["level"] = _level()
        st.segmented_control(
            "Level",
            list(LEVELS),
            format_func=str.capitalize,
            key="level",
            on_change=_take_level,
            help="A level is a name for a budget: "
            + ", ".join(f"{name} is {most} tokens" for name, most in LEVELS.items())
            + ".",
        )
        with st.container(key="knob-thinking", gap=None, width=270):
            draw_knob(BUDGET, disabled=False)
        temperature("reason_temperature", 0.0, "0 takes the most probable token: no dice.")


def _level() -> str | None:
    spent = int(value(BUDGET.key))
    return next((name for name, most in LEVELS.items() if most == spent), None)


def _take_level() -> None:
    chosen = st.session_state.get("level")
    if chosen in LEVELS:
        set_knob(BUDGET, LEVELS[chosen])


def more() -> None:
    """What is rarely touched."""
    with st.popover("More settings", icon=":material/tune:"):
        whole(
            "Problem seed", 0, MAX_PROBLEM_SEED, "problem_seed", "The same seed, the same problem."
        )
        whole(
            "Whole run at most",
            1,
            MAX_WHOLE,
            "whole",
            "The bound on the whole loop, in tokens. It cuts the run off: nothing is forced.",
        )
        whole("Answer at most", 1, MAX_WHOLE, "answer_tokens", "Tokens after the closing mark.")
        whole(
            "Ignore the end",
            0,
            MAX_WAITS,
            "ignore_end",
            "So many attempts to stop thinking are replaced by the wait word, if it still fits "
            "into the budget.",
        )
        st.text_input(
            "Wait word",
            DEFAULTS["wait"],
            key="wait",
            bind="query-params",
            persist_state="session",
            max_chars=60,
            disabled=not value("ignore_end"),
        )
        st.toggle(
            "Calculator",
            DEFAULTS["use_tool"],
            key="use_tool",
            bind="query-params",
            persist_state="session",
            help="Put the result in after every call that the model writes.",
        )


def adopt(trace: Trace) -> None:
    """Set the controls to what the run was made with, as far as they reach."""
    run, state = trace.config, st.session_state
    assert isinstance(run, Reasoning)
    state.update(
        {
            "reason_temperature": min(run.shaping.temperature, MAX_TEMPERATURE)
            if run.draws
            else 0.0,
            "whole": min(run.max_new_tokens, MAX_WHOLE),
            "answer_tokens": min(run.max_answer_tokens, MAX_WHOLE),
            "ignore_end": min(run.ignore_end, MAX_WAITS),
            "wait": run.wait_text.strip()[:60] or DEFAULTS["wait"],
            "use_tool": run.calculator,
        }
    )
    if not _is_asked(trace.prompt):
        state["problem"], state["right"] = "own", ""
        state["question"] = trace.prompt[:MAX_QUESTION]
    if run.draws:
        state["seed"] = min(run.seed, controls.MAX_SEED)
    if models.is_embedded(trace.model_id):
        state["model"] = trace.model_id
    set_knob(BUDGET, min(run.max_thinking_tokens, BUDGET.typed_high))


def _is_asked(question: str) -> bool:
    """Whether the controls name this problem already."""
    try:
        return problem().question == question
    except ProblemError:
        return False
