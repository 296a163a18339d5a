"""Button that continues from a token on any page with a run on Decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.decoding.record.trace import Trace
from core.language import tr
from pages.ui import platform, registry


def is_possible(trace: Trace) -> bool:
    """Return whether a run can go on from a token: one that compares with a draft model can't."""
    return not trace.config.shaping.contrastive_beta


def button(
    trace: Trace, token_ids: Callable[[], Sequence[int]], *, key: str, may_load: bool
) -> None:
    """Draw the button; nothing for a run that can't go on.

    Args:
        trace: has the prompt and the settings.
        token_ids: gives the tokens after the prompt, the chosen one last.
        may_load: the trace's model may be loaded.
    """
    if not is_possible(trace):
        return
    st.button(
        tr("Go on from here in Decode"),
        key=platform.key(key),
        icon=":material/alt_route:",
        disabled=not may_load,
        on_click=lambda: registry.GO_ON(trace, token_ids()),
    )
