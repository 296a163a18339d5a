"""A rail of knobs: one component that holds a slider and a field for each of them.

The component numbers its reports, and each has all that was moved since the last one that the
server told it to have seen. So a report that is overtaken by another loses nothing, and what the
server sets can't be undone by a value from before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from pages.ui import platform
from pages.ui.platform import session
from pages.ui.widgets.controls.knob import Knob
from pages.ui.widgets.render_clock import drawn_at
from pages.ui.widgets.source import source

_HTML = """
<div class="rail" role="group" aria-label="Knobs">
  <select aria-label="Which knob is in view"></select>
  <div class="knobs"></div>
</div>
"""

SCRIPTS = source("widgets/going.js", "widgets/numbers.js", "widgets/controls/rail.js")
_component = st.components.v2.component(
    "decoding_explorer.rail",
    html=_HTML,
    css=source("widgets/controls/rail.css"),
    js=SCRIPTS,
)


def draw(
    key: str,
    knobs: Iterable[tuple[Knob, bool]],
    *,
    then: Callable[[], None] | None = None,
) -> None:
    """Draw knobs, one below the other; where there is little room, one of them at a time.

    Args:
        knobs: each with whether a run uses it.
        then: ends the callback of a change; nothing by default, which draws the whole page anew.
    """
    _take()
    drawn = list(knobs)
    for knob, _ in drawn:
        _keep_in_address(knob, held(knob))
    known = _knobs_of()
    known[key] = tuple(knob for knob, _ in drawn)
    _component(
        key=key,
        data={
            "knobs": [_described(knob, enabled=enabled) for knob, enabled in drawn],
            "seen": _seen().get(key, 0),
            "drawn": drawn_at(),
        },
        on_moved_change=partial(_moved, then),
    )


def _described(knob: Knob, *, enabled: bool) -> dict[str, Any]:
    return {
        "key": knob.key,
        "label": knob.label,
        "help": knob.help,
        "low": knob.low,
        "high": knob.high,
        "most": knob.typed_high,
        "step": knob.step,
        "digits": 0 if knob.whole else knob.digits,
        "start": knob.default,
        "value": held(knob),
        "enabled": enabled,
    }


def held(knob: Knob) -> float:
    """What the knob says; before it was drawn, what the address says for it, or its default."""
    _take()
    if knob.key not in st.session_state:
        found = knob.read(st.query_params.get(knob.key, ""))
        if found is None:
            return knob.default
        st.session_state[knob.key] = found
    value: float = st.session_state[knob.key]
    return value


def put(knob: Knob, value: float) -> None:
    """Set a knob from elsewhere."""
    _take()
    st.session_state[knob.key] = knob.cast(value)


def known() -> set[str]:
    """The keys of all knobs that were drawn."""
    return {knob.key for knobs in _knobs_of().values() for knob in knobs}


def _moved(then: Callable[[], None] | None) -> None:
    _take()
    if then is not None:
        then()


def _take() -> None:
    """Take over what the browser reports, before anything is read: callbacks have no order.

    Once a run: what the browser reports comes with the next one.
    """
    if not session.is_first("take_rails"):
        return
    for key, knobs in _knobs_of().items():
        report = (st.session_state.get(key) or {}).get("moved")
        if not isinstance(report, Mapping) or report.get("number") == _seen().get(key):
            continue
        _seen()[key] = int(report["number"])
        for knob in knobs:
            value = report["values"].get(knob.key)
            if isinstance(value, int | float):
                st.session_state[knob.key] = knob.nearest(value)
                _keep_in_address(knob, st.session_state[knob.key])


def _keep_in_address(knob: Knob, value: float) -> None:
    """The address says what differs from the default; it isn't sent where it says so already."""
    session.tell_address(knob.key, None if value == knob.default else knob.write(value))


def _knobs_of() -> dict[str, tuple[Knob, ...]]:
    return platform.keep("rails", dict[str, tuple[Knob, ...]])


def _seen() -> dict[str, int]:
    return platform.keep("rails_seen", dict[str, int])
