"""Session state of the page Read: a text that was read, and its selected token."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import ClassVar, Self

import streamlit as st

from core.decoding.record.trace import Trace
from core.language import N_
from pages.ui import platform
from pages.ui.decode.state import STEP, follow_link
from pages.ui.run import named_run
from pages.ui.run.view import Source, View

_OTHERWISE = N_("the most surprising one is selected")


@dataclass(eq=False)
class ReadView(View):
    """One session's view of one text; its keyed work is `pins`, `word`, `own` and `divergence`.

    Args:
        token_first: place of the first token of the window of favourites.
        linked: the step as the link which opened the page names it, until a run has shown it.
        choices: by the name of keyed work the key of the last that was started (True) or stopped
            (False) by a press.
    """

    key: ClassVar[str] = "read-view"
    example: ClassVar[str] = "read.json"
    reads: ClassVar[bool] = True
    of_trace: ClassVar[tuple[str, ...]] = ("check", "pins", "word", "own", "divergence", "marked")

    token_first: int = 0
    linked: str = ""
    choices: dict[str, tuple[Hashable, bool]] = field(default_factory=dict)

    @classmethod
    def initial(cls) -> Self:
        """The example, at the token that the address names, else at the most surprising one."""
        view = super().initial()
        view.linked = st.query_params.get(platform.key(STEP), "")
        if not named_run.is_named():
            follow_link(view, _OTHERWISE)
        return view

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another text, at its most surprising token."""
        super().show(trace, source)
        self.token_first = 0
        self.select(most_surprising(trace))
        if source == "run":
            follow_link(self, _OTHERWISE)
        self.linked = ""


def most_surprising(trace: Trace) -> int:
    """Return the index of the step with the highest surprisal."""
    steps = trace.token_steps
    return max(range(len(steps)), key=lambda at: steps[at].surprisal, default=0)
