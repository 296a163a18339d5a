"""Decode: one run of one model, every probability visible."""

from __future__ import annotations

import streamlit as st

from pages.ui.decode import controls
from pages.ui.decode import page as results
from pages.ui.run import bar, state

view = state.view()
bar.settle(view)

with st.container(key="intro", gap="small"):
    st.title("Decode", anchor=False)
    st.markdown(
        "A language model writes one token at a time: at every step it gives each token that it "
        "knows a probability, and the strategy picks one. Click a token to see what the model saw "
        "there."
    )
with st.container(key="controls", gap="small"):
    with st.container(key="method-row", horizontal=True, vertical_alignment="center", gap="medium"):
        controls.method()
        bar.draw(view)
    controls.knobs()
bar.restore(view)
results.draw(view)
