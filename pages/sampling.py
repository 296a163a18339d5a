"""Sampling lab: what the knobs do to one distribution."""

from __future__ import annotations

import streamlit as st

from pages.ui.lab import controls as lab_controls
from pages.ui.lab import page as lab_page
from pages.ui.lab import state as lab_state
from pages.ui.run import state
from pages.ui.shell import frame

frame.enter()

view = state.view()
lab = lab_state.lab()
lab_state.follow(lab, view)

with st.container(key="intro", gap="small"):
    st.title("Sampling lab", anchor=False)
    st.markdown(
        "One step of a model, held still: every knob acts on its stored logits at once. Watch "
        "which tokens live, which stage removes the others, and where the same dice fall."
    )
with st.container(key="controls", gap="small"):
    with st.container(key="lab-row", horizontal=True, vertical_alignment="center", gap="medium"):
        lab_controls.order()
        lab_controls.dice()
        lab_controls.roll()
    lab_controls.knobs()
lab_page.draw(lab, view)
