"""The browser's next request waits until a callback has ended; else it would undo a press."""

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    from pages.ui.shell import guard

    guard.guard_callbacks(lambda: None)

    def press() -> None:
        context = get_script_run_ctx()
        assert context is not None and context.script_requests is not None
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
