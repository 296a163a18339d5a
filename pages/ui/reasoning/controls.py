"""The reasoning page's controls and the run that they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.decoding.reasoning.config import LEVELS, MARK_TOKENS, Reasoning
from core.decoding.record.trace import Trace
from core.evaluation.example import (
    ANSWER,
    BEST_OF_SAMPLES,
    BUDGETS,
    PROBLEMS,
    RIVALRY_PROBLEMS,
    RUN_STEPS,
    SAMPLES,
    SEED,
    TEMPERATURE,
)
from core.evaluation.questions.chains import MOST_STEPS
from core.figures.reasoning.words import LEVEL_WORDS
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run import shared
from pages.ui.widgets import ahead, words
from pages.ui.widgets.controls import constraint, fold, knob_rows, rail
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, Text, Toggle, declare, draw, value
from pages.ui.widgets.controls.knob import Knob
from pages.ui.widgets.controls.options import Segments
from pages.ui.widgets.controls.slider import slider

MAX_WHOLE, MAX_TEMPERATURE = 8000, 2.0
MAX_PROBLEM_SEED = 99_999
# So many candidates of a step are kept: the page doesn't draw them, the trace file has them.
CANDIDATES = 5
BUDGET_ROW = "reason-budget"
DEFAULT_WAIT = "Wait,"
BUDGET = Knob(
    "thinking",
    N_("Thinking budget"),
    0,
    256,
    4096,
    1,
    LEVELS["high"],
    N_(
        "The bound on the thinking loop, in tokens. When it is spent, the closing mark is forced "
        "and the model has to answer with what it has. The slider ends at 256, the field takes "
        "more."
    ),
)
_LEVELS = {"low": N_("Low"), "medium": N_("Medium"), "high": N_("High")}
# What every run of the page has, those of sweeps and comparisons too.
COMMON = declare(
    Number("answer_tokens", N_("Answer at most"), ANSWER, 1, MAX_WHOLE, field="max_answer_tokens",
        help=N_("Maximum number of tokens after the closing mark.")),
    Number("ignore_end", N_("Ignored ends"), 0, 0, 20, field="ignore_end",
        help=N_("Number of attempts to stop thinking that are replaced by the wait word, while "
            "it fits into the budget. If the closing mark has several tokens, only the last is "
            "replaced.")),
    Text("wait", N_("Wait word"), DEFAULT_WAIT, field="wait_text",
        to_field=lambda word: f" {word.strip()}",
        from_field=lambda text: text.strip() or DEFAULT_WAIT,
        acts=lambda read: int(read("ignore_end")) > 0),
    Toggle("use_tool", N_("Calculator"), False, field="calculator",
        help=N_("Insert the result after every call that the model writes.")),
)  # fmt: skip
_THINKING, _WHOLE, _TEMPERATURE = declare(
    slider(BUDGET, width=270, field="max_thinking_tokens",
        from_field=lambda most: min(most, BUDGET.typed_high)),
    Number("whole", N_("Whole run at most"), 0, 0, MAX_WHOLE,
        help=N_("The bound on the whole loop, max_new_tokens. It cuts the run off without "
            "forcing the closing mark. 0 follows the budget. Sweeps and comparisons use their "
            "own bounds.")),
    Number("reason_temperature", N_("Temperature"), 0.0, 0.0, MAX_TEMPERATURE, 0.1,
        help=N_("0 takes the most probable token; nothing is drawn.")),
)  # fmt: skip
# The problem that is asked.
_PROBLEM = declare(
    Segments("problem", N_("Problem"), "chain",
        {"chain": N_("Chain of steps"), "sum": N_("Hard sum"), "own": N_("My own")}),
    Number("steps", N_("Steps"), RUN_STEPS, 1, MOST_STEPS,
        help=N_("Difficulty: the number of consecutive operations.")),
    Number("problem_seed", N_("Problem seed"), SEED, 0, MAX_PROBLEM_SEED,
        help=N_("The same seed gives the same problem.")),
    Text("question", N_("Your question"), "",
        placeholder="Start with 12, add 9, multiply by 3. What is the result?"),
    Text("right", N_("Right answer"), "", placeholder="63", width=130,
        help=N_("A number. Leave it empty and the answer isn't judged.")),
)  # fmt: skip
RUN = (*COMMON, _THINKING, _WHOLE, _TEMPERATURE, *_PROBLEM)
# The sweep over budgets.
declare(
    Segments("bound", N_("The bound"), "close",
        {"close": N_("Closes the thinking"), "cut": N_("Cuts the run off")},
        help=N_("Closes the thinking: at the budget the closing mark is forced and the model "
        "answers. Cuts the run off: the whole loop is bounded, as by max_new_tokens, and the "
        "close is not forced.")),
    Text("budgets", N_("Budgets, tokens"), ", ".join(map(str, BUDGETS)), width=300,
        help=N_("Whole numbers with commas or spaces between, such as 0, 32, 64.")),
    Number("many_problems", N_("Problems"), PROBLEMS, 1, 500, width=90),
    Number("tries", N_("Samples"), 1, 1, 32, width=90, help=N_("Runs for each problem and "
        "budget.")),
)  # fmt: skip
# The comparison of a vote with one long attempt.
declare(
    Number("total", N_("Tokens a problem"), 1024, 16, 16_384, width=140,
        help=N_("Maximum number of tokens that each strategy may spend on a problem.")),
    Number("voters", N_("Samples"), SAMPLES, 2, 64, width=100,
        help=N_("Number of samples of a vote; the tokens are divided among them.")),
    Number("vote_problems", N_("Problems"), RIVALRY_PROBLEMS, 1, 200, width=90),
    Number("vote_temperature", N_("Temperature"), TEMPERATURE, 0.05, MAX_TEMPERATURE, 0.1,
        width=120, help=N_("Above 0, as all samples would be equal at 0.")),
)  # fmt: skip

# Best of N samples.
declare(
    Number("best_samples", N_("Samples"), BEST_OF_SAMPLES, 2, 64, width=100,
        help=N_("Samples per problem; the rules choose among the first 1, 2, 4, 8 and 16.")),
    Number("best_problems", N_("Problems"), RIVALRY_PROBLEMS, 1, 200, width=90),
)  # fmt: skip


def config(read: Read = value, *, temperature: str = "reason_temperature") -> Reasoning:
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


def whole_bound(read: Read = value) -> int:
    """The bound on the whole loop: one's own number, else what the two parts and marks need."""
    return int(read("whole")) or _room(read)


def _room(read: Read) -> int:
    thinking, answer = int(read(BUDGET.key)), int(read("answer_tokens"))
    return Reasoning(max_thinking_tokens=thinking, max_answer_tokens=answer).room


def reasoning(read: Read, *, temperature: float, **bounds: Any) -> Reasoning:
    """A config with these bounds and this temperature (0 is greedy), else as the controls say."""
    settings = arguments((*COMMON, *constraint.ROWS), read)
    if temperature > 0:
        settings |= {"do_sample": True, "seed": int(read("seed"))}
        settings["shaping"] = replace(settings["shaping"], temperature=temperature)
    return Reasoning(**settings, **bounds)


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key, without its problem."""
    run = trace.config
    assert isinstance(run, Reasoning)
    values = {key: held for key, held in shared.control_values(trace).items() if key == "model"}
    values["whole"] = 0 if run.max_new_tokens == run.room else _WHOLE.fit(run.max_new_tokens)
    values["reason_temperature"] = _TEMPERATURE.fit(run.shaping.temperature if run.draws else 0)
    seed = shared.seed_row(lambda _: run.draws)
    return reached((*COMMON, *constraint.ROWS, _THINKING, seed), run, values)


def budget(then: Callable[[], None], settled: Callable[[], None]) -> None:
    """The level by its name, the exact number, and how tokens are chosen.

    Args:
        then: ends the callback of a budget that still moves.
        settled: ends the callback of a chosen budget.
    """
    platform.part(_budget, key=BUDGET_ROW)(then, settled)


def _budget(then: Callable[[], None], settled: Callable[[], None]) -> None:
    with st.container(
        key=platform.key("budget-row"), horizontal=True, vertical_alignment="center", gap="medium"
    ):
        st.session_state[platform.key("level")] = _level()
        st.segmented_control(
            tr("Level"),
            list(LEVELS),
            format_func=lambda name: tr(_LEVELS[name]),
            key=platform.key("level"),
            on_change=_take_level,
            args=(settled,),
            help=tr("A level is a name for a budget: {levels}.", levels=_level_words()),
        )
        draw("thinking", then=then, settled=settled)
        draw("reason_temperature", on_change=st.rerun)
    values = {key: value(key) for key in ("whole", "answer_tokens")}

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        return {"whole": _whole_words((values | inputs).__getitem__)}

    inputs = knob_rows.inputs([_THINKING])
    with st.container(key=platform.key("whole-words")):
        prefetch = ahead.prefetch("budget", tuple(values.values()), inputs, build)
        words.draw("whole", _whole_words(value), prefetch)


def _level_words() -> str:
    return tr(", ").join(
        tr("{level} is {tokens} tokens", level=tr(LEVEL_WORDS[name]), tokens=most)
        for name, most in LEVELS.items()
    )


def _whole_words(read: Read) -> str:
    """Explain how the bound on the whole loop is computed."""
    bound, room = int(read("whole")), _room(read)
    if not bound:
        return tr(
            "max_new_tokens = {room}: {thinking} thinking + {answer} answer + {marks} for the "
            "marks.",
            room=room,
            thinking=int(read(BUDGET.key)),
            answer=int(read("answer_tokens")),
            marks=MARK_TOKENS,
        )
    if bound >= room:
        return tr("max_new_tokens = {bound}, your own.", bound=bound)
    return tr(
        "max_new_tokens = {bound}, your own. It may cut the run off: all parts need {room}.",
        bound=bound,
        room=room,
    )


def _level() -> str | None:
    spent = int(value(BUDGET.key))
    return next((name for name, most in LEVELS.items() if most == spent), None)


def _take_level(then: Callable[[], None]) -> None:
    chosen = st.session_state.get(platform.key("level"))
    if chosen in LEVELS:
        rail.put(BUDGET, LEVELS[chosen])
    then()


def more() -> None:
    """Draw the less common settings."""
    keys = ("problem_seed", "whole", "answer_tokens", "ignore_end", "wait", "use_tool")
    with fold.popover(N_("More settings"), (*keys, *constraint.KEYS)):
        draw(*keys)
        constraint.draw_constraint()
