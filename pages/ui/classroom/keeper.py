"""Storage of a class's secrets in the browser, which a reload reads again."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import platform
from pages.ui.widgets.source import source

_LONGEST = 200
_component = st.components.v2.component(
    "decoding_explorer.keeper", js=source("classroom/keeper.js")
)


def keep(item: str, secret: str, found: Callable[[str], None], prefix: str = "") -> None:
    """Keep a secret in the browser; nothing is shown.

    Args:
        item: its name in the browser's storage.
        secret: the secret; empty if the session has none.
        found: callback with the secret of an earlier visit, called at most once a session.
        prefix: only an earlier secret that begins with it is told.
    """
    key = platform.key(f"keeper-{item}")
    told = f"{key}-told"

    def tell() -> None:
        st.session_state[told] = True
        kept = (st.session_state.get(key) or {}).get("kept")
        if isinstance(kept, str) and len(kept) <= _LONGEST:
            found(kept)

    with st.container(key=platform.key(f"kept-{item}")):
        _component(
            key=key,
            data={
                "item": item,
                "value": secret,
                "prefix": prefix,
                "told": bool(st.session_state.get(told)),
            },
            on_kept_change=tell,
        )
