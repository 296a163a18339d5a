"""Beam search: the tree as it really grew."""

from __future__ import annotations

import streamlit as st

from pages.ui.beam import controls as beam_controls
from pages.ui.beam import page as beam_page
from pages.ui.beam import state as beam_state
from pages.ui.run import bar
from pages.ui.shell import frame

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
        bar.draw(view, beam_controls.request)
    beam_controls.ranking()
bar.restore(view, beam_controls.request)
beam_page.draw(view)
