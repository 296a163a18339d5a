"""The browser's next request waits until a callback has ended; else it would undo a press."""

import tomllib

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner_utils.script_requests import (
    ScriptRequest,
    ScriptRequests,
    ScriptRequestType,
)
from streamlit.testing.v1 import AppTest

from tests.ui.conftest import ROOT


def _page() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from pages.ui.platform import fragments, guard

    guard.guard_callbacks(fragments.reset)

    def press() -> None:
        context = get_script_run_ctx()
        context.script_requests.request_rerun(RerunData())  # As the browser does meanwhile.
        st.session_state["before"] = True
        st.session_state["pressed"] = st.session_state.get("pressed", 0) + 1

    st.button("Run", on_click=press)
    st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1


def test_a_request_that_comes_during_a_callback_does_not_undo_it() -> None:
    app = AppTest.from_function(_page).run()
    app.button[0].click().run()
    assert app.session_state["pressed"] == 1
    # The request was not lost either, and a later one is served as before.
    assert app.session_state["drawn"] >= 2
    app.button[0].click().run()
    assert app.session_state["pressed"] == 2


def test_a_request_that_comes_before_a_press_was_looked_at_does_not_undo_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, ready, sent = AppTest.from_function(_page).run(), ScriptRequests.on_scriptrunner_ready, []

    def followed(self: ScriptRequests) -> ScriptRequest:
        request = ready(self)
        if request.type is ScriptRequestType.RERUN and not sent:
            sent.append(self.request_rerun(RerunData(widget_states=WidgetStates())))
        return request

    monkeypatch.setattr(ScriptRequests, "on_scriptrunner_ready", followed)
    app.button[0].click().run()
    assert sent == [True] and app.session_state["pressed"] == 1


def test_a_session_s_next_request_waits_for_the_one_before() -> None:
    """Otherwise Streamlit forgets what that one still waits for."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["fastReruns"] is False
