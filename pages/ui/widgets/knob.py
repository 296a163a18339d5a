"""A number that one slides or types: two widgets that hold one value.

The server sets the widget that did not move. Until the browser has followed, any other event still
carries that widget's old value; taken for a user's change, this echo would undo what was just
typed or slid. So a widget that was set is set again in every run, and its old value is not
believed, until the browser says what it was set to, or a while has passed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from core.decoding.shaping.config import Shaping
from core.decoding.validation import MIN_TEMPERATURE

# Where the address has a shorter name than the settings.
_FIELDS = {
    "penalty": "repetition_penalty",
    "epsilon": "epsilon_cutoff",
    "eta": "eta_cutoff",
}


@dataclass(frozen=True)
class Knob:
    """Typing may reach further than the slider; the field is what the address holds."""

    key: str
    label: str
    low: float
    high: float
    typed_high: float
    step: float
    default: float
    help: str
    sampling_only: bool = True
    digits: int = 2

    @property
    def slider_key(self) -> str:
        return f"{self.key}_slider"

    @property
    def field(self) -> str:
        """The field of `Shaping` that it sets."""
        return _FIELDS.get(self.key, self.key)

    @property
    def whole(self) -> bool:
        return isinstance(self.step, int)

    def cast(self, value: float) -> float:
        """The value in the type of the knob."""
        return int(value) if self.whole else float(value)

    def on_slider(self, value: float) -> float:
        """The value where the slider can show it."""
        return self.cast(min(max(value, self.low), self.high))


KNOBS = (
    Knob(
        "temperature",
        "Temperature",
        0.0,
        2.0,
        10.0,
        0.05,
        0.8,
        "Below 1 the likely tokens get likelier; above 1 all tokens get more alike. "
        "0 means greedy.",
    ),
    Knob("top_k", "Top-k", 0, 100, 10_000, 1, 0, "Keep the k most probable tokens. 0 is off."),
    Knob(
        "top_p",
        "Top-p",
        0.0,
        1.0,
        1.0,
        0.01,
        0.95,
        "Keep the most probable tokens that together reach this probability. 1 is off.",
    ),
    Knob(
        "min_p",
        "Min-p",
        0.0,
        1.0,
        1.0,
        0.01,
        0.0,
        "Drop tokens below this share of the top token's probability. 0 is off.",
    ),
    Knob(
        "penalty",
        "Penalty",
        1.0,
        2.0,
        10.0,
        0.05,
        1.0,
        "Above 1, tokens that are already in the text get less likely. It acts in greedy too. "
        "1 is off.",
        sampling_only=False,
    ),
)

# What the sampling lab adds, before the penalty.
_RARER_KNOBS = (
    Knob(
        "typical_p",
        "Typical-p",
        0.01,
        1.0,
        1.0,
        0.01,
        1.0,
        "Keep the tokens whose surprisal is nearest to the entropy, up to this probability. "
        "1 is off.",
    ),
    Knob(
        "epsilon",
        "Epsilon",
        0.0,
        0.1,
        0.99,
        0.001,
        0.0,
        "Drop tokens below this probability. 0 is off.",
        digits=3,
    ),
    Knob(
        "eta",
        "Eta",
        0.0,
        0.1,
        0.99,
        0.001,
        0.0,
        "Drop tokens below a probability that falls as the entropy rises. 0 is off.",
        digits=3,
    ),
)
LAB_KNOBS = (*KNOBS[:-1], *_RARER_KNOBS, KNOBS[-1])


# Longer than a very busy browser takes to follow.
ECHO_SECONDS = 5.0
# A run that begins so long after a widget was set was asked for by the browser, not by the script.
CONFIRM_SECONDS = 1.5


@dataclass(eq=False)
class _Following:
    """A widget that was set: to what, what it may still report by mistake, and since when."""

    target: float
    stale: set[float]
    since: float


@dataclass(eq=False)
class _Memory:
    """The value of a knob, and its widgets that have to follow it."""

    value: float
    widgets: dict[str, _Following] = field(default_factory=dict)

    def follow(self, key: str, target: float, *stale: float) -> None:
        """The widget is about to be set; what it was, or was set to, isn't believed for a while."""
        old = {*stale}
        if self.following(key):
            before = self.widgets[key]
            old |= {before.target, *before.stale}
        self.widgets[key] = _Following(target, old - {target}, time.monotonic())

    def following(self, key: str) -> bool:
        return key in self.widgets and self._age(key) < ECHO_SECONDS

    def followed(self, key: str) -> None:
        """The widget says what it was set to."""
        if key in self.widgets and self._age(key) >= CONFIRM_SECONDS:
            del self.widgets[key]

    def _age(self, key: str) -> float:
        return time.monotonic() - self.widgets[key].since

    def is_echo(self, key: str, value: float) -> bool:
        return self.following(key) and value in self.widgets[key].stale


def _memories() -> dict[str, _Memory]:
    found: dict[str, _Memory] = st.session_state.setdefault("knobs", {})
    return found


def known() -> set[str]:
    """The keys of all knobs that have a value already."""
    return set(_memories())


def draw_knob(knob: Knob, *, disabled: bool, then: Callable[[], None] | None = None) -> None:
    """A slider with its label, and the field beside it.

    Args:
        then: ends the callback of a change; nothing by default, which draws the whole page anew.
    """
    left, right = st.container(), st.container()
    memory = _memories().get(knob.key)
    if memory is not None:
        _put(memory, knob.key, memory.value)
        _keep_in_address(knob, memory.value)
    typed = right.number_input(
        knob.label,
        knob.cast(knob.low),
        knob.cast(knob.typed_high),
        knob.cast(knob.default),
        knob.cast(knob.step),
        format="%d" if knob.whole else f"%.{knob.digits}f",
        key=knob.key,
        bind="query-params",
        disabled=disabled,
        label_visibility="collapsed",
        on_change=_moved,
        args=(knob, knob.key, then),
    )
    if memory is None:
        memory = _memories()[knob.key] = _Memory(knob.default if typed is None else typed)
        memory.follow(knob.key, memory.value)
    _put(memory, knob.slider_key, knob.on_slider(memory.value))
    left.slider(
        knob.label,
        knob.cast(knob.low),
        knob.cast(knob.high),
        knob.on_slider(memory.value),
        step=knob.cast(knob.step),
        key=knob.slider_key,
        disabled=disabled,
        help=knob.help,
        on_change=_moved,
        args=(knob, knob.slider_key, then),
    )


def _put(memory: _Memory, key: str, value: float) -> None:
    """Make a widget show the value, in every run until the browser must have followed."""
    current = st.session_state.get(key)
    if current == value:
        memory.followed(key)
    elif current is not None:
        memory.follow(key, value, current)
    if current != value or memory.following(key):
        st.session_state[key] = value


def _keep_in_address(knob: Knob, value: float) -> None:
    """Write the value again where the address has lost it, or still has one that is the default.

    A change of the address by the server is of the whole of it, as it was when the run began.
    """
    if knob.key in st.session_state and (knob.key in st.query_params) == (value == knob.default):
        st.session_state[knob.key] = value


def _moved(knob: Knob, key: str, then: Callable[[], None] | None) -> None:
    """A widget reports another value: the user's, unless it is the echo of an old one."""
    value, memory = st.session_state.get(key), _memories()[knob.key]
    if value is None:
        value = knob.default
    if not memory.is_echo(key, value):
        memory.value = value
        memory.widgets.pop(key, None)
    if then is not None:
        then()


def nearest_temperature(typed: float) -> float:
    """The nearest that there is: 0, which is greedy, or the lowest that can be divided by."""
    return 0.0 if typed < MIN_TEMPERATURE / 2 else max(typed, MIN_TEMPERATURE)


def adopt_shaping(shaping: Shaping) -> None:
    """Set every knob to what a run was shaped with, as far as it reaches."""
    for knob in LAB_KNOBS:
        value = getattr(shaping, knob.field)
        if knob.low <= value <= knob.typed_high:
            set_knob(knob, value)


def knob_value(knob: Knob, otherwise: float) -> float:
    """What the knob holds, also before it is drawn; `otherwise` if it never was."""
    memory = _memories().get(knob.key)
    return otherwise if memory is None else memory.value


def set_knob(knob: Knob, value: float) -> None:
    """Set a knob from elsewhere, before it is drawn."""
    _memories().setdefault(knob.key, _Memory(knob.cast(value))).value = knob.cast(value)
