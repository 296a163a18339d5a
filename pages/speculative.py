"""Speculative decoding: every draft token's trial, and where the time goes."""

from __future__ import annotations

import streamlit as st

from pages.ui.run import bar
from pages.ui.shell import frame
from pages.ui.speculative import controls as spec_controls
from pages.ui.speculative import page as spec_page
from pages.ui.speculative import state as spec_state

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
        bar.draw(view, spec_controls.request)
bar.restore(view, spec_controls.request)
spec_page.draw(view)
