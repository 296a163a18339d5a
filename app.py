"""Decoding Explorer: the entry of the app, with the frame that all pages share."""

from __future__ import annotations

import streamlit as st

from pages.ui.decode import controls
from pages.ui.run import save as share
from pages.ui.shell import address, browser, fragments, frame, models
from pages.ui.widgets import style

fragments.fall()
st.set_page_config(
    page_title="Decoding Explorer",
    page_icon=str(style.ASSETS / "icons" / "mark.svg"),
    layout="wide",
    initial_sidebar_state="auto",
)
style.use()
browser.prepare()
frame.around()
page = st.navigation(
    [
        st.Page("pages/decode.py", title="Decode", default=True),
        st.Page("pages/sampling.py", title="Sampling lab", url_path="sampling"),
        st.Page("pages/beam.py", title="Beam search", url_path="beam"),
        st.Page("pages/speculative.py", title="Speculative", url_path="speculative"),
        st.Page("pages/reasoning.py", title="Reasoning budget", url_path="reasoning"),
    ],
    position="top",
)
# Not before the page is known, or beginning again would lead to the first one.
controls.clean_address()
with st.sidebar:
    controls.sidebar(prompt=page.url_path != "reasoning")
    share.open_file(page.url_path)
share.turn_to_file(page.url_path)
address.bring_back(page.url_path)
page.run()
address.keep(page.url_path)
models.warm_up()
