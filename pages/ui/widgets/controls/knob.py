"""A number that one slides or types: what it is; `rail` draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
        part_of: key of the knob that must be moved from its default for this one to show.
        group: its group among the knobs that a rail folds; empty for a knob in view.
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
    part_of: str = ""
    group: str = ""

    @property
    def whole(self) -> bool:
        return isinstance(self.step, int)

    def cast(self, value: float) -> float:
        """The value in the type of the knob."""
        return int(value) if self.whole else float(value)

    def read(self, text: str) -> float | None:
        """The number of an address; None where it is none, or lies out of range."""
        try:
            number = float(text)
        except ValueError:
            return None
        return self.cast(number) if self.low <= number <= self.typed_high else None

    def write(self, value: float) -> str:
        """The number for an address."""
        return f"{value:.10g}"

    def nearest(self, value: float) -> float:
        """The nearest value that there is; the default for what is no number."""
        if not math.isfinite(value):
            return self.default
        return self.cast(min(max(value, self.low), self.typed_high))


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
        part_of=SETTINGS[spec.part_of].key if spec.part_of else "",
        group=SETTINGS[spec.part_of or spec.field].group,
    )


LAB_KNOBS = tuple(_knob_of(spec) for spec in KNOB_SETTINGS)
KNOBS = tuple(knob for knob in LAB_KNOBS if SETTINGS[knob.field].on_decode)
# Filters of methods that don't write one text from left to right: those without a state.
FILTER_KEYS = tuple(
    knob.key
    for knob in KNOBS
    if (spec := SETTINGS[knob.field]).role == "filter"
    and SETTINGS[spec.part_of or knob.field].state is None
)


def nearest_temperature(typed: float) -> float:
    """The nearest that there is: 0, which is greedy, or the lowest that can be divided by."""
    return 0.0 if typed < MIN_TEMPERATURE / 2 else max(typed, MIN_TEMPERATURE)
