"""The controls of the Compare page: those of a side's own run, and of what the figures show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.decoding.comparison.measures import ComparedDistribution, drawing_config
from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui import platform
from pages.ui.compare import state
from pages.ui.compare.state import SideView
from pages.ui.decode import controls as decode
from pages.ui.decode.methods.strategies import STRATEGIES
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.display import bar
from pages.ui.run.request import Request, RunControls
from pages.ui.shell import browser
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import declare, value
from pages.ui.widgets.controls.options import Segments

declare(
    Segments("compare_text", N_("Read"), "own",
        {"own": N_("Each its own text"), "left": N_("Both A’s text"), "right": N_("Both B’s text")},
        help=N_("Each its own text: the runs' recorded candidates are compared, which "
            "gives lower bounds of divergences. Both under one text: one forward of "
            "each model measures the whole vocabulary.")),
    Segments("compare_of", N_("Distributions"), "raw",
        {"raw": N_("The model’s own"), "final": N_("After all settings")},
        help=N_("The distributions before all settings, or after them. A method that "
            "draws no single tokens, such as beam search, has only the model’s own.")),
)  # fmt: skip


def control_values(trace: Trace) -> dict[str, Any]:
    """Return the control values that describe a run, by key; of a method that has no controls here
    only its model and prompt."""
    if trace.config.method in STRATEGIES:
        return decode.control_values(trace)
    return shared.control_values(trace)


def load_controls(trace: Trace) -> None:
    """Set a side's controls to the settings of a run, as far as they reach."""
    control.load(control_values(trace))


def load_request(request: Request) -> None:
    """Set a side's controls to what a run is asked for, as far as they reach."""
    values = {name: getattr(request, name) for name in ("model", "prompt", "chat", "system")}
    if request.config.method in STRATEGIES:
        values = decode.values_of_config(request.config, values)
    control.load(values)


RUN_CONTROLS = RunControls(
    decode.RUN_CONTROLS.rows, decode.config, control_values, decode.request, given=decode.GIVEN.key
)


def draw_text_choice(then: Callable[[], None]) -> None:
    """Draw the choice of the text that is read.

    Args:
        then: ends the callback of a change.
    """
    control.draw("compare_text", on_change=then)


def draw_distribution_choice(then: Callable[[], None]) -> None:
    """Draw the choice of the distributions that are compared.

    Args:
        then: ends the callback of a change.
    """
    control.draw("compare_of", on_change=then, disabled=not _have_final())


def distribution() -> ComparedDistribution:
    """Return the distributions to compare: the models' own where a run draws no single tokens."""
    chosen: ComparedDistribution = value("compare_of")
    return chosen if _have_final() else "raw"


def _have_final() -> bool:
    """Return whether both runs have a distribution that they draw each token from."""
    runs = [side.trace for side in state.sides()]
    return all(run is None or drawing_config(run.config) is not None for run in runs)


SETUP = "own"


def open_setup() -> None:
    """In a callback: open the set-up of the current slot, with its model's field in focus."""
    st.session_state[platform.key(SETUP)] = True
    browser.focus(platform.key("model"))


def draw_setup(view: SideView) -> None:
    """Draw the controls of a new run of this side."""
    control.draw("model", "prompt")
    has_template = models.has_chat_template(str(value("model"))) is not False
    control.draw("chat", disabled=not has_template)
    if shared.chat():
        control.draw("system")
    control.draw("seed")
    with st.container(
        key=platform.key("method-row"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        decode.method()
        bar.draw(view, decode.request)
    decode.knobs(then=control.redraw_around)
