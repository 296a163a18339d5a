"""The sampling lab's controls and the settings that they describe."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.decoding.autoregressive.config import Sampling
from core.decoding.lab.types import LabExample
from core.decoding.shaping.orders import ORDERS, TRANSFORMERS, Order
from core.language import N_, tr
from core.traces.lab import MAX_ROLL
from pages.ui import platform
from pages.ui.decode import lines
from pages.ui.decode.methods.sampling import DRAW_HELP, DRAWS
from pages.ui.lab.state import Lab
from pages.ui.run import shared
from pages.ui.widgets.controls import constraint, fold
from pages.ui.widgets.controls.config_fields import arguments, reached
from pages.ui.widgets.controls.control import Number, Read, Toggle, declare, draw, load, value
from pages.ui.widgets.controls.knob_rows import KNOB_ROWS, draw_rail
from pages.ui.widgets.controls.options import Segments
from pages.ui.widgets.controls.slider import Slider

# The parts of the page that these controls change, by the names that they can be drawn anew with.
WORDS, FIGURES, ROLL = "lab-words", "lab-figures", "lab-roll"

_DICE, _ROLL, _WAYS, _LENGTH = declare(
    Segments("dice", N_("Dice"), "inverse_cdf", DRAWS, field="draw", help=DRAW_HELP),
    Number("roll", N_("Rerolls"), 0, 0, MAX_ROLL, width=95,
        help=N_("Number of times the dice were rolled again: 0 is the run's own roll at this "
        "step, with the sidebar's seed.")),
    Number("ways", N_("Continuations"), 6, 2, 12),
    Number("length", N_("Tokens each"), 20, 4, 40),
)  # fmt: skip
declare(
    Segments(
        "at",
        N_("Step"),
        "run",
        {"run": N_("A step of the run"), "prompt": N_("The prompt's next token")},
    ),
    Segments(
        "order",
        N_("Order"),
        TRANSFORMERS.key,
        {key: order.label for key, order in ORDERS.items()},
        help=N_(
            "Libraries apply temperature and filters in different orders, and some lack a "
            "filter. Where temperature comes last, a filter counts the model's own "
            "probabilities."
        ),
    ),
    Toggle("fold", N_("Fold unbranched tokens"), True),
)
_STEP = (*KNOB_ROWS, *lines.ROWS, *constraint.ROWS, _DICE, shared.SEED)


@dataclass(frozen=True)
class LabSettings:
    """Settings of the lab's controls.

    Args:
        rolls: how often the dice were rolled again.
    """

    config: Sampling
    order: Order
    rolls: int


def settings(read: Read = value) -> LabSettings:
    """The settings that the controls describe; `read` gives a control's value by its key.

    Raises:
        ConfigError: a typed value that lies outside its interval.
    """
    return LabSettings(Sampling(**arguments(_STEP, read)), ORDERS[read("order")], int(read("roll")))


def load_controls(example: LabExample) -> None:
    """Set the controls to what a stored step was made with, as far as they reach."""
    step, grown = example.step, example.continuations
    values = shared.control_values(step.trace)
    if not step.trace.prompt:
        del values["prompt"], values["chat"]
    values |= {"at": "run", "order": step.order.key, "roll": _ROLL.fit(step.throw - example.index)}
    if grown is not None:
        values["ways"] = _WAYS.fit(len(grown.sampled))
        values["length"] = _LENGTH.fit(grown.config.max_new_tokens)
    load(reached(_STEP, step.config, values))


def lacking() -> set[str]:
    """Keys of the knobs whose setting the chosen order's library doesn't have."""
    order = ORDERS[value("order")]
    return {row.key for row in KNOB_ROWS if order.lacks(row.knob.field)}


def acting_knobs() -> list[Slider]:
    """The knobs that the chosen order has."""
    idle = lacking()
    return [row for row in KNOB_ROWS if row.key not in idle]


def knobs() -> None:
    """The numbers that shape the step."""
    with st.container(key=platform.key("knobs")):
        draw_rail("lab-rail", KNOB_ROWS, then=redraw, idle=lacking())


def redraw(*parts: str) -> None:
    """End a callback: what the controls act on is drawn anew, and these parts of their own."""
    note_move()
    platform.rerun(*parts, WORDS, FIGURES)


def note_move() -> None:
    """End a callback, with the whole page drawn anew: a token that flips flips by this change."""
    Lab.current().moved = True


def ways() -> None:
    """Draw the folds of the library's order, of the draw, and of the constraint."""
    with fold.popover(N_("Order and dice"), ("order", "dice", *lines.KEYS)):
        draw("order", on_change=note_move)
        draw("dice", on_change=redraw)
        fold.group(N_("Banned and biased tokens"), lines.KEYS, on_change=redraw)
    with fold.popover(N_("Rule"), constraint.KEYS, icon="rule"):
        constraint.draw_constraint(on_change=note_move)


def roll() -> None:
    """Roll again, and how many times it was rolled."""
    platform.part(_roll, key=ROLL)()


@platform.critical()
def _roll() -> None:
    # Uninterrupted: a number that is taken over and not yet drawn would be lost.
    # Not in the callback: only what is set in the run that draws the field reaches the address.
    if platform.key("rolled") in st.session_state:
        st.session_state[platform.key("roll")] = st.session_state.pop(platform.key("rolled"))
    with st.container(
        key=platform.key("roll-row"),
        horizontal=True,
        wrap=False,
        vertical_alignment="center",
        width="content",
    ):
        st.button(
            tr("Roll again"),
            key=platform.key("roll_again"),
            type="primary",
            icon=":material/casino:",
            on_click=_roll_again,
            disabled=int(value("roll")) >= MAX_ROLL,
        )
        draw("roll", on_change=redraw, args=(ROLL,))


def _roll_again() -> None:
    st.session_state[platform.key("rolled")] = min(int(value("roll")) + 1, MAX_ROLL)
    redraw(ROLL)
