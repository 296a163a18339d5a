"""The reasoning page's controls, declared once, and the run that they describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.decoding.reasoning.config import LEVELS, MARK_TOKENS, Reasoning
from core.decoding.shaping.config import Shaping
from core.evaluation.example import (
    ANSWER,
    BUDGETS,
    PROBLEMS,
    RIVALRY_PROBLEMS,
    RUN_STEPS,
    SAMPLES,
    SEED,
    TEMPERATURE,
)
from pages.ui.decode import controls
from pages.ui.widgets.knob import Knob, draw_knob, knob_value, set_knob

MAX_WHOLE, MAX_WAITS, MAX_TEMPERATURE = 8000, 20, 2.0
MAX_PROBLEM_SEED = 99_999
# So many candidates of a step are kept: the page doesn't draw them, the trace file has them.
CANDIDATES = 5
BUDGET = Knob(
    "thinking",
    "Thinking budget, 0 to 4,096",
    0,
    256,
    4096,
    1,
    LEVELS["high"],
    "The bound on the thinking loop, in tokens. When it is spent, the closing mark is forced and "
    "the model has to answer with what it has. The slider ends at 256, the field takes more.",
)
DEFAULTS: dict[str, Any] = {
    "problem": "chain",
    "steps": RUN_STEPS,
    "problem_seed": SEED,
    "question": "",
    "right": "",
    "reason_temperature": 0.0,
    "whole": 0,
    "answer_tokens": ANSWER,
    "ignore_end": 0,
    "wait": "Wait,",
    "use_tool": False,
    "budgets": ", ".join(map(str, BUDGETS)),
    "bound": "close",
    "many_problems": PROBLEMS,
    "tries": 1,
    "total": 1024,
    "voters": SAMPLES,
    "vote_problems": RIVALRY_PROBLEMS,
    "vote_temperature": TEMPERATURE,
    BUDGET.key: BUDGET.default,
}


def value(key: str) -> Any:
    """What a control of this page, or of all pages, says now."""
    return controls.value(key, DEFAULTS)


def config(
    read: Callable[[str], Any] = value, *, temperature: str = "reason_temperature"
) -> Reasoning:
    """The run that the controls describe; `read` gives a control's value by its key.

    Args:
        temperature: the key of its temperature.

    Raises:
        ConfigError: settings that exclude each other.
    """
    return reasoning(
        read,
        temperature=float(read(temperature)),
        max_new_tokens=whole_bound(read),
        max_thinking_tokens=int(read(BUDGET.key)),
        top_candidates=CANDIDATES,
    )


def whole_bound(read: Callable[[str], Any] = value) -> int:
    """The bound on the whole loop: one's own number, else what the two parts and marks need."""
    return int(read("whole")) or _room(read)


def _room(read: Callable[[str], Any]) -> int:
    parts = {"max_thinking_tokens": BUDGET.key, "max_answer_tokens": "answer_tokens"}
    return Reasoning(**{name: int(read(key)) for name, key in parts.items()}).room


def reasoning(read: Callable[[str], Any], *, temperature: float, **bounds: Any) -> Reasoning:
    """A config with these bounds and this temperature (0 is greedy), else as the controls say."""
    draws, waits = temperature > 0, int(read("ignore_end"))
    if waits:
        bounds |= {"ignore_end": waits, "wait_text": f" {str(read('wait')).strip()}"}
    return Reasoning(
        max_answer_tokens=int(read("answer_tokens")),
        calculator=bool(read("use_tool")),
        do_sample=draws,
        seed=int(read("seed")) if draws else 0,
        shaping=Shaping(temperature=temperature if draws else 1.0),
        **bounds,
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
    st.caption(_whole_words())


def _whole_words() -> str:
    """How the bound on the whole loop comes about."""
    own, room = int(value("whole")), _room(value)
    if not own:
        parts = f"{int(value(BUDGET.key))} thinking + {int(value('answer_tokens'))} answer"
        return f"max\\_new\\_tokens = {room}: {parts} + {MARK_TOKENS} for the marks."
    words = f"max\\_new\\_tokens = {own}, your own."
    return words if own >= room else f"{words} It may cut the run off: all parts need {room}."


def _level() -> str | None:
    spent = int(knob_value(BUDGET, value(BUDGET.key)))
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
            0,
            MAX_WHOLE,
            "whole",
            "The bound on the whole loop, max_new_tokens. It cuts the run off: the close is not "
            "forced. 0 follows the budget. Sweeps and comparisons follow theirs.",
        )
        whole("Answer at most", 1, MAX_WHOLE, "answer_tokens", "Tokens after the closing mark.")
        whole(
            "Ignore the end",
            0,
            MAX_WAITS,
            "ignore_end",
            "So many attempts to stop thinking are replaced by the wait word, while it fits into "
            "the budget. Of a closing mark of several tokens only the last one is replaced.",
        )
        st.text_input(
            "Wait word",
            DEFAULTS["wait"],
            key="wait",
            bind="query-params",
            persist_state="session",
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
