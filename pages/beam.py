"""Beam search: the tree as it really grew."""

from __future__ import annotations

import streamlit as st

from pages.ui import beam_controls, beam_page, beam_state, frame, run_bar

frame.enter()

view = beam_state.view()
beam_state.settle(view)

with st.container(key="intro", gap="small"):
    st.title("Beam search", anchor=False)
    st.markdown(
        "Beam search keeps several texts alive at once and drops the least likely at every step. "
        "Each edge of this tree is the parent that the search stored, not one guessed afterwards."
    )
with st.container(key="controls", gap="small"):
    with st.container(key="method-row", horizontal=True, vertical_alignment="center", gap="medium"):
        beam_controls.size()
        run_bar.draw(view, beam_controls.request)
    beam_controls.ranking()
run_bar.restore(view, beam_controls.request)
beam_page.draw(view)
