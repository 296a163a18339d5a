"""Speculative decoding: every draft token's trial, and where the time goes."""

from __future__ import annotations

import streamlit as st

from pages.ui import frame, run_bar, spec_controls, spec_page, spec_state

frame.enter()

view = spec_state.view()
spec_state.settle(view)

with st.container(key="intro", gap="small"):
    st.title("Speculative decoding", anchor=False)
    st.markdown(
        "A small draft model proposes several tokens, and the target judges all of them in one "
        "forward. Every trial below really happened: its probabilities, its dice, and its outcome."
    )
with st.container(key="controls", gap="small"):
    row = st.container(key="method-row", horizontal=True, vertical_alignment="center", gap="medium")
    # The rule decides which of the rarer settings there are.
    spec_controls.rule()
    with row:
        spec_controls.pair()
        run_bar.draw(view, spec_controls.request)
run_bar.restore(view, spec_controls.request)
spec_page.draw(view)
