"""A rail of knobs: one component that holds a slider and a field for each of them.

The component numbers its reports, and each has all that was moved since the last one that the
server told it to have seen. So a report that is overtaken by another loses nothing, and what the
server sets can't be undone by a value from before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.language import tr
from pages.ui import platform
from pages.ui.platform import session
from pages.ui.widgets.component import component, source
from pages.ui.widgets.controls.knob import Knob
from pages.ui.widgets.render_clock import drawn_at

_HTML = """
<div class="rail" role="group" aria-label="Knobs">
  <select aria-label="Which knob is in view"></select>
  <div class="knobs"></div>
  <div class="folded">
    <button type="button" class="fold" aria-expanded="false" aria-controls="more-knobs" hidden
    ></button>
    <div class="knobs" id="more-knobs"></div>
  </div>
</div>
"""

SCRIPTS = source("widgets/going.js", "widgets/numbers.js", "widgets/controls/rail.js")
_component = component(
    "rail",
    html=_HTML,
    css=source("widgets/controls/rail.css"),
    js=SCRIPTS,
)


def draw(
    key: str,
    knobs: Iterable[tuple[Knob, bool]],
    *,
    folded: Collection[str] = (),
    then: Callable[[], None] | None = None,
    settled: Callable[[], None] | None = None,
) -> None:
    """Draw knobs, one below the other; where there is little room, one of them at a time.

    Args:
        knobs: each with whether a run uses it.
        folded: keys of knobs below the others, under a button that shows them.
        then: ends the callback of a change; nothing by default, which draws the whole page anew.
        settled: ends the callback in its place once a slider was released or a number typed, and
            nothing has moved for a moment.
    """
    _take()
    drawn, key = {platform.key(row[0].key): row for row in knobs}, platform.key(key)
    for name, (knob, _) in drawn.items():
        _keep_in_address(name, knob, held(knob))
    _knobs_of()[key] = {name: knob for name, (knob, _) in drawn.items()}
    _component(
        key=key,
        data={
            "knobs": [
                _described(name, knob, enabled=enabled, folded=knob.key in folded)
                for name, (knob, enabled) in drawn.items()
            ],
            "seen": _seen().get(key, 0),
            "drawn": drawn_at(),
            "settles": settled is not None,
        },
        on_moved_change=partial(_moved, key, then, settled),
    )


def _described(name: str, knob: Knob, *, enabled: bool, folded: bool) -> dict[str, Any]:
    return {
        "key": name,
        "label": tr(knob.label),
        "help": tr(knob.help),
        "low": knob.low,
        "high": knob.high,
        "most": knob.typed_high,
        "step": knob.step,
        "digits": 0 if knob.whole else knob.digits,
        "start": knob.default,
        "value": held(knob),
        "enabled": enabled,
        "folded": folded,
        "partOf": knob.part_of and platform.key(knob.part_of),
    }


def held(knob: Knob) -> float:
    """Return the knob's value; before it was drawn, the address's value or its default."""
    _take()
    name = platform.key(knob.key)
    if name not in st.session_state:
        linked = knob.read(st.query_params.get(name, ""))
        if linked is None:
            return knob.default
        st.session_state[name] = linked
    value: float = st.session_state[name]
    return value


def put(knob: Knob, value: float) -> None:
    """Set a knob from elsewhere."""
    _take()
    st.session_state[platform.key(knob.key)] = knob.cast(value)


def known() -> set[str]:
    """The names in the address of all knobs that were drawn."""
    return set().union(*_knobs_of().values())


def _moved(key: str, then: Callable[[], None] | None, settled: Callable[[], None] | None) -> None:
    _take()
    report = (st.session_state.get(key) or {}).get("moved")
    is_settled = isinstance(report, Mapping) and report.get("settled") is True
    end = settled if is_settled and settled is not None else then
    if end is not None:
        end()


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
        for name, knob in knobs.items():
            value = report["values"].get(name)
            if isinstance(value, int | float):
                st.session_state[name] = knob.nearest(value)
                _keep_in_address(name, knob, st.session_state[name])


def _keep_in_address(name: str, knob: Knob, value: float) -> None:
    """Write a value into the address, or remove it from there if it is the default."""
    session.write_address(name, None if value == knob.default else knob.write(value))


def _knobs_of() -> dict[str, dict[str, Knob]]:
    """The drawn knobs by their names in the address, of each rail."""
    return platform.keep("rails", dict[str, dict[str, Knob]])


def _seen() -> dict[str, int]:
    return platform.keep("rails_seen", dict[str, int])
