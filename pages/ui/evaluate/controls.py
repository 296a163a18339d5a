"""The Evaluate page's controls: which stored plan is shown and run, and what of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.language import N_, tr
from pages.ui.run import address
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import declare
from pages.ui.widgets.controls.options import Segments

OWN = "own"
LESSONS = {
    "leak": N_("What does a missing template cost?"),
    "hot-draft": N_("Does a hot draft change answers?"),
    "beam": N_("Is a wider beam more often right?"),
    "samplers": N_("Which sampler?"),
}
(LESSON,) = declare(
    Segments("evaluation", N_("Evaluation"), "leak", {**LESSONS, OWN: N_("My plan")}),
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
            problem = tr(
                "{control}: {linked} in the link is none of {options} (numbers in links "
                "begin at 0): the first one is shown.",
                control=label,
                linked=link.quoted(linked),
                options=len(options),
            )
            link.report(problem)
    chosen = st.selectbox(
        label, options, format_func=words.__getitem__, key=key, persist_state="session"
    )
    address.write(key, str(options.index(chosen)) if chosen != options[0] else None)
    return chosen
