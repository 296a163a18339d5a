"""Reasoning budget: thinking is a longer loop, and here is what it buys."""

from __future__ import annotations

import streamlit as st

from pages.ui.reasoning import controls as reason_controls
from pages.ui.reasoning import page as reason_page
from pages.ui.reasoning import problem as reason_problem
from pages.ui.reasoning import state as reason_state
from pages.ui.run import bar
from pages.ui.shell import frame

frame.enter()

view = reason_state.view()
reason_state.settle(view)

with st.container(key="intro", gap="small"):
    st.title("Reasoning budget", anchor=False)
    st.markdown(
        "A model that reasons writes its thoughts before its answer, token by token; a reasoning "
        "level is only the bound on that loop. Turn the bound and see the answer go from wrong to "
        "right."
    )
with st.container(key="controls", gap="small"):
    with st.container(key="method-row", horizontal=True, vertical_alignment="center", gap="medium"):
        reason_problem.pick_problem()
        reason_controls.more()
        bar.draw(view, reason_problem.request)
    reason_problem.write_question()
    reason_controls.budget()
bar.restore(view, reason_problem.request)
reason_page.draw(view)
