"""The sampling lab's controls, declared once, and the settings they describe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.decoding.autoregressive.config import Sampling
from core.decoding.lab.types import LabExample
from core.decoding.shaping.orders import ORDERS, TRANSFORMERS, Order
from core.traces.lab import MAX_ROLL
from pages.ui.decode import controls
from pages.ui.shell import fragments, models
from pages.ui.widgets.knob import LAB_KNOBS, Knob, adopt_shaping, draw_knob, shaping_of

# The address holds the words on the right: that is how Streamlit binds options.
SPOTS = {"run": "A step of the run", "prompt": "The prompt's next token"}
ORDER_NAMES = {key: order.label for key, order in ORDERS.items()}
LEAST_WAYS, MOST_WAYS, LEAST_TOKENS, MOST_TOKENS = 2, 12, 4, 40
# The parts of the page that these controls change, by the names that they can be drawn anew with.
WORDS, FIGURES, ROLL = "lab-words", "lab-figures", "lab-roll"
LOOKS = ("1,000 rolls", "Temperature", "Continuations", "What logprobs mean")

DEFAULTS: dict[str, Any] = {
    "at": "run",
    "order": TRANSFORMERS.key,
    "dice": "inverse_cdf",
    "roll": 0,
    "ways": 6,
    "length": 20,
    "fold": True,
    **{knob.key: knob.default for knob in LAB_KNOBS},
}


@dataclass(frozen=True)
class Settings:
    """What the knobs say.

    Args:
        rolls: how often the dice were rolled again.
    """

    config: Sampling
    order: Order
    rolls: int


def value(key: str) -> Any:
    """What a control of this page, or of all pages, says now."""
    return controls.value(key, DEFAULTS)


def settings(read: Callable[[str], Any] = value) -> Settings:
    """The settings that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: a typed value that lies outside its interval.
    """
    shaping = shaping_of(LAB_KNOBS, read)
    config = Sampling(shaping=shaping, seed=int(read("seed")), draw=read("dice"))
    return Settings(config, ORDERS[read("order")], int(read("roll")))


def adopt(example: LabExample) -> None:
    """Set the controls to what a stored step was made with, as far as they reach."""
    st.session_state.update(adopted(example))
    adopt_shaping(example.step.config.shaping)


def adopted(example: LabExample) -> dict[str, Any]:
    """What the controls, the knobs aside, have to say for a stored step."""
    step, grown = example.step, example.continuations
    assert isinstance(step.config, Sampling)
    wanted: dict[str, Any] = {
        "at": "run",
        "order": step.order.key,
        "dice": step.config.draw,
        "roll": min(step.throw - example.index, MAX_ROLL),
        "seed": min(step.config.seed, controls.MAX_SEED),
    }
    if models.is_embedded(step.trace.model_id):
        wanted["model"] = step.trace.model_id
    if step.trace.prompt:
        wanted |= {"prompt": step.trace.prompt[: controls.MAX_PROMPT], "chat": False}
    if grown is not None:
        wanted["ways"] = min(max(len(grown.sampled), LEAST_WAYS), MOST_WAYS)
        wanted["length"] = min(max(grown.config.max_new_tokens, LEAST_TOKENS), MOST_TOKENS)
    return wanted


def knobs() -> None:
    """All eight numbers, four in a row."""
    with st.container(key="lab-knobs"):
        for first in range(0, len(LAB_KNOBS), 4):
            row = LAB_KNOBS[first : first + 4]
            for column, knob in zip(st.columns(len(row), gap="small"), row, strict=True):
                with column:
                    st.fragment(_knob, key=f"lab-{knob.key}")(knob)


def _knob(knob: Knob) -> None:
    with st.container(key=f"knob-{knob.key}", gap=None):
        draw_knob(knob, disabled=False, then=partial(_redraw, f"lab-{knob.key}"))


def _redraw(*own: str) -> None:
    """End a callback: what the controls act on is drawn anew, and these parts of their own."""
    fragments.redraw(*own, WORDS, FIGURES)


def order() -> None:
    """Whose order the acts follow."""
    st.segmented_control(
        "Order",
        list(ORDER_NAMES),
        format_func=ORDER_NAMES.__getitem__,
        default=DEFAULTS["order"],
        required=True,
        key="order",
        bind="query-params",
        persist_state="session",
        on_change=_redraw,
    )


def dice() -> None:
    """How a token is drawn, and the next throw."""
    st.segmented_control(
        "Dice",
        list(controls.DRAWS),
        format_func=controls.DRAWS.__getitem__,
        default=DEFAULTS["dice"],
        required=True,
        key="dice",
        bind="query-params",
        persist_state="session",
        on_change=_redraw,
    )


def roll() -> None:
    """Roll again, and which throw it is after the first."""
    st.fragment(_roll, key=ROLL)()


def _roll() -> None:
    # Not in the callback: only what is set in the run that draws the field reaches the address.
    if "rolled" in st.session_state:
        st.session_state["roll"] = st.session_state.pop("rolled")
    with st.container(
        key="roll-row", horizontal=True, wrap=False, vertical_alignment="center", width="content"
    ):
        _rolling()


def _rolling() -> None:
    st.button(
        "Roll again",
        key="roll_again",
        type="primary",
        icon=":material/casino:",
        on_click=_roll_again,
        disabled=int(value("roll")) >= MAX_ROLL,
    )
    st.number_input(
        "Rolls",
        0,
        MAX_ROLL,
        DEFAULTS["roll"],
        1,
        key="roll",
        bind="query-params",
        persist_state="session",
        on_change=_redraw,
        args=(ROLL,),
        width=110,
        help="How often the dice were rolled again: 0 is the throw that the run made at this "
        "step, under the sidebar's seed.",
    )


def _roll_again() -> None:
    st.session_state["rolled"] = min(int(value("roll")) + 1, MAX_ROLL)
    _redraw(ROLL)


def spot() -> None:
    """Which step the knobs act on."""
    st.segmented_control(
        "Step",
        list(SPOTS),
        format_func=SPOTS.__getitem__,
        default=DEFAULTS["at"],
        required=True,
        key="at",
        label_visibility="collapsed",
        bind="query-params",
        persist_state="session",
    )


def ways() -> None:
    """How many continuations, and how long."""
    st.number_input(
        "Continuations",
        LEAST_WAYS,
        MOST_WAYS,
        DEFAULTS["ways"],
        1,
        key="ways",
        bind="query-params",
        persist_state="session",
        width=150,
    )
    st.number_input(
        "Tokens each",
        LEAST_TOKENS,
        MOST_TOKENS,
        DEFAULTS["length"],
        1,
        key="length",
        bind="query-params",
        persist_state="session",
        width=150,
    )


def fold() -> None:
    """Whether runs of tokens without a branch are drawn as one."""
    st.toggle(
        "Fold what doesn't branch",
        DEFAULTS["fold"],
        key="fold",
        bind="query-params",
        persist_state="session",
    )
