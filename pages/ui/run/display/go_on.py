"""Button that continues from a token on any page with a run on Decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.decoding.record.trace import Trace
from core.language import tr
from pages.ui import platform, registry


def button(
    trace: Trace, token_ids: Callable[[], Sequence[int]], *, key: str, may_load: bool
) -> None:
    """Draw the button; nothing for a run with a draft model, which can't go on.

    Args:
        trace: has the prompt and the settings.
        token_ids: gives the tokens after the prompt, the chosen one last.
        may_load: the trace's model may be loaded.
    """
    if trace.config.shaping.contrastive_beta:
        return
    st.button(
        tr("Go on from here in Decode"),
        key=platform.key(key),
        icon=":material/alt_route:",
        disabled=not may_load,
        on_click=lambda: registry.GO_ON(trace, token_ids()),
    )
