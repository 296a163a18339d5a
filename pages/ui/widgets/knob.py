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

from core.decoding.shaping.config import KNOB_SETTINGS, SETTINGS
from core.decoding.shaping.spec import SettingSpec
from core.decoding.validation import MIN_TEMPERATURE


@dataclass(frozen=True)
class Knob:
    """Typing may reach further than the slider.

    Args:
        key: what the address holds.
        field: of `Shaping`, if it sets one.
        sampling_only: it does nothing in greedy decoding.
    """

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
    field: str = ""

    @property
    def slider_key(self) -> str:
        return f"{self.key}_slider"

    @property
    def whole(self) -> bool:
        return isinstance(self.step, int)

    def cast(self, value: float) -> float:
        """The value in the type of the knob."""
        return int(value) if self.whole else float(value)

    def on_slider(self, value: float) -> float:
        """The value where the slider can show it."""
        return self.cast(min(max(value, self.low), self.high))


def _knob_of(spec: SettingSpec) -> Knob:
    slider = spec.slider
    assert slider is not None
    return Knob(
        key=spec.key,
        label=spec.label,
        low=slider.low,
        high=slider.high,
        typed_high=slider.high if slider.typed is None else slider.typed,
        step=slider.step,
        default=spec.off if slider.start is None else slider.start,
        help=spec.help,
        sampling_only=not spec.penalises,
        digits=slider.digits,
        field=spec.field,
    )


LAB_KNOBS = tuple(_knob_of(spec) for spec in KNOB_SETTINGS)
KNOBS = tuple(knob for knob in LAB_KNOBS if SETTINGS[knob.field].on_decode)


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


def knob_value(knob: Knob, otherwise: float) -> float:
    """What the knob holds, also before it is drawn; `otherwise` if it never was."""
    memory = _memories().get(knob.key)
    return otherwise if memory is None else memory.value


def set_knob(knob: Knob, value: float) -> None:
    """Set a knob from elsewhere, before it is drawn."""
    _memories().setdefault(knob.key, _Memory(knob.cast(value))).value = knob.cast(value)
