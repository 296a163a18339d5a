"""The steps of a run as a list in which one is picked; the current one is marked and in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.decoding.counting import nth
from core.decoding.record.steps import TokenStep
from core.figures.base.labels import visible_token
from core.language import tr
from pages.ui import platform
from pages.ui.widgets.component import component, source
from pages.ui.widgets.render_clock import drawn_at

_KEY = "step-picker"
_TOKEN_SHOWN = 24
_HTML = """
<div class="head" aria-hidden="true"
><span>step</span><span>token</span><span>probability</span><span>entropy</span></div>
<div class="steps" role="group" aria-label="Steps of the run"></div>
"""

_component = component(
    "step_picker",
    html=_HTML,
    css=source("lab/step_picker.css"),
    js=source("lab/step_picker.js"),
)


def draw(steps: Sequence[TokenStep], at: int, on_pick: Callable[[int], None]) -> None:
    """Draw the list.

    Args:
        at: the place of the current step; -1 where none of them is.
        on_pick: gets the place of a step that was clicked.
    """

    def picked() -> None:
        place = (st.session_state.get(platform.key(_KEY)) or {}).get("picked")
        if isinstance(place, int) and 0 <= place < len(steps):
            on_pick(place)

    _component(
        key=platform.key(_KEY),
        data={"steps": tuple(map(_row, steps)), "at": at, "drawn": drawn_at()},
        on_picked_change=picked,
    )


def _row(step: TokenStep) -> tuple[str, str, str, str]:
    token = visible_token(step.chosen.text, _TOKEN_SHOWN)
    return (
        str(nth(step.index)),
        token,
        f"{step.chosen.raw_prob:.4f}",
        tr("{entropy:.2f} nats", entropy=step.entropy),
    )
