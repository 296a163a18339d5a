"""A control that is a knob of the rail: a slider and a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui import platform
from pages.ui.widgets.controls import rail
from pages.ui.widgets.controls.control import Control, Width, value
from pages.ui.widgets.controls.knob import Knob


@dataclass(frozen=True)
class Slider(Control):
    """A knob: a slider and a field. It takes a file's value also where it doesn't act, because
    pages share it, and stays as it is where the value lies beyond its range."""

    knob: Knob

    @property
    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest number that may be typed."""
        return self.knob.low, self.knob.typed_high

    def cast(self, held: Any) -> float:
        return self.knob.cast(held)

    def fit(self, held: Any) -> float | None:
        return self.cast(held) if self.knob.low <= held <= self.knob.typed_high else None

    def of_address(self, word: str) -> float | None:
        return self.knob.read(word)

    def set(self, held: Any) -> None:
        rail.put(self.knob, held)

    @property
    def held(self) -> float:
        return rail.held(self.knob)

    def draw(self, *, width: Width | None = None, **more: Any) -> None:
        """Draw the slider and the field by themselves; `more` are arguments of `rail.draw`."""
        width = width or self.width or "stretch"
        with st.container(key=platform.key(f"knob-{self.key}"), gap=None, width=width):
            rail.draw(f"rail-{self.key}", [(self.knob, self.acts(value))], **more)


def slider(knob: Knob, **more: Any) -> Slider:
    """The row of a knob; `more` are arguments of `Control`."""
    return Slider(knob.key, knob.label, knob.default, knob, **more)
