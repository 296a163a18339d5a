"""The Evaluate page's controls: which stored plan is shown and run, and what of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui.run import address
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import declare
from pages.ui.widgets.controls.options import Segments

OWN = "own"
LESSONS = {
    "leak": "What does a missing template cost?",
    "hot-draft": "Does a hot draft change answers?",
    "beam": "Is a wider beam more often right?",
    "samplers": "Which sampler?",
}
(LESSON,) = declare(
    Segments("evaluation", "Evaluation", "leak", {**LESSONS, OWN: "My plan"}),
)  # fmt: skip


def load_controls(_: Any) -> None:
    """A file of another page sets nothing here."""


def choose(key: str, label: str, words: Mapping[str, str]) -> str:
    """One of what an evaluation holds, by its words; the address tells its place, from 0."""
    options, linked = list(words), st.query_params.get(key)
    if linked is not None and key not in st.session_state:
        place = link.whole(linked)
        if place is not None and place < len(options):
            st.session_state[key] = options[place]
        else:
            problem = f"{label}: {link.quoted(linked)} in the link is none of {len(options)}"
            link.report(f"{problem} (numbers in links begin at 0): the first one is shown.")
    chosen = st.selectbox(
        label, options, format_func=words.__getitem__, key=key, persist_state="session"
    )
    address.write(key, str(options.index(chosen)) if chosen != options[0] else None)
    return chosen
