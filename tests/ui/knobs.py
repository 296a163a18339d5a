"""Knobs in AppTest: what the rails show, and a knob that is moved."""

from __future__ import annotations

import json
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id as trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest


def shown_knobs(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the data of each knob in the page's rails, by its key."""
    drawn = [_data(element) for element in app.get("bidi_component")]
    return {knob["key"]: knob for data in drawn for knob in data.get("knobs", ())}


def move(app: AppTest, key: str, value: object) -> AppTest:
    """Set a knob or another control without a report from the browser; the caller runs the app."""
    app.session_state[key] = value
    return app


def report(app: AppTest, **values: float) -> AppTest:
    """Run the app as the browser has it run when knobs of a rail were moved."""
    rail = next(
        element.proto
        for element in app.get("bidi_component")
        if values.keys() <= {knob["key"] for knob in _data(element).get("knobs", ())}
    )
    number = json.loads(rail.json)["seen"] + 1
    states = app._tree.get_widget_states()
    message = {"moved": {"number": number, "values": values}}
    states.widgets.append(WidgetState(id=rail.id, json_value=json.dumps(message)))
    return app._run(states)


def trigger(app: AppTest, component: str, event: str, value: object) -> AppTest:
    """Run the app as the browser has it run when a component tells of an event.

    Args:
        component: end of its key.
    """
    ids = [element.proto.id for element in app.get("bidi_component")]
    widget = next(widget_id for widget_id in ids if widget_id.endswith(component))
    states = app._tree.get_widget_states()
    events = json.dumps([{"event": event, "value": value}])
    states.widgets.append(WidgetState(id=trigger_id(widget, "events"), json_trigger_value=events))
    return app._run(states)


def _data(element: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(element.proto.json or "{}")
    return data
