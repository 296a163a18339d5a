"""What code sets stays, whatever a slow browser still sends, until the user sets something else."""

from __future__ import annotations

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from pages.ui.platform.unconfirmed import Unconfirmed


def _page() -> None:
    import streamlit as st

    from pages.ui.platform import unconfirmed

    unconfirmed.keep_set_values()

    def put(width: int) -> None:
        st.session_state["width"] = width

    for width in (7, 9):
        st.button(str(width), on_click=put, args=(width,), key=f"put-{width}")
    st.number_input("Width", 0, 20, 3, key="width")
    st.text_input("Name", key="name")


def states_of(app: AppTest, width: int, name: str = "") -> WidgetStates:
    """Return a browser's states: it has this width."""
    states = WidgetStates()
    states.widgets.add(id=app.number_input(key="width").proto.id, double_value=width)
    states.widgets.add(id=app.text_input(key="name").proto.id, string_value=name)
    return states


def shown(app: AppTest) -> tuple[float, bool]:
    """Return the width, and whether the browser is told of it."""
    return app.session_state["width"], app.number_input(key="width").proto.set_value


@pytest.fixture
def app() -> AppTest:
    """A page whose browser has told its width of 3."""
    app = AppTest.from_function(_page).run()
    return app._run(states_of(app, 3))


def press(app: AppTest, width: int, has: int) -> None:
    states = states_of(app, has)
    states.widgets.add(id=app.button(key=f"put-{width}").proto.id, trigger_value=True)
    app._run(states)


def test_a_value_from_before_changes_nothing_and_the_browser_is_told_again(app: AppTest) -> None:
    press(app, 7, has=3)
    assert shown(app) == (7, True)
    for _ in range(2):
        app._run(states_of(app, 3, name="A user's text counts."))
        assert shown(app) == (7, True)
        assert app.session_state["name"] == "A user's text counts."


def test_once_the_browser_has_the_value_the_earlier_one_is_the_user_s(app: AppTest) -> None:
    press(app, 7, has=3)
    app._run(states_of(app, 7))
    assert shown(app) == (7, False)
    app._run(states_of(app, 3))
    assert shown(app) == (3, False)


def test_another_value_is_the_user_s_at_once(app: AppTest) -> None:
    press(app, 7, has=3)
    app._run(states_of(app, 5))
    assert shown(app) == (5, False)


def test_of_two_values_that_code_sets_the_later_one_stays(app: AppTest) -> None:
    press(app, 7, has=3)
    press(app, 9, has=3)
    for late in (3, 7, 3):
        app._run(states_of(app, late))
        assert shown(app) == (9, True)
    app._run(states_of(app, 9))
    assert shown(app) == (9, False)


@pytest.mark.parametrize(
    ("request_of", "width"),
    [({"is_auto_rerun": True}, 7), ({}, 3)],
    ids=["a timer", "the user, back to what it was"],
)
def test_a_request_with_nothing_new_is_the_user_s_unless_a_timer_sent_it(
    app: AppTest, request_of: dict[str, bool], width: int
) -> None:
    states = states_of(app, 3)
    record: Unconfirmed = app.session_state["unconfirmed"]
    record.hear(ClientState(widget_states=states))
    press(app, 7, has=3)
    record.hear(ClientState(widget_states=states, **request_of))
    app._run(states)
    assert app.session_state["width"] == width
