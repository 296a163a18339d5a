"""Storage of a class's secrets in the browser, which a reload reads again."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.ui import platform
from pages.ui.widgets.component import component, source

_LONGEST = 200
_component = component("keeper", js=source("classroom/keeper.js"))


def is_told(item: str) -> bool:
    """Return whether the browser has told this session what it keeps."""
    return bool(st.session_state.get(f"{_key(item)}-told"))


def _key(item: str) -> str:
    return platform.key(f"keeper-{item}")


def keep(
    item: str, secret: str, found: Callable[[str], None], prefix: str = "", *, asks: bool = False
) -> None:
    """Keep a secret in the browser; nothing is shown.

    Args:
        item: its name in the browser's storage.
        secret: the secret; empty if the session has none.
        found: callback with the secret of an earlier visit, called at most once a session.
        prefix: only an earlier secret that begins with it is told.
        asks: keep nothing yet; the browser tells too that it has no such secret, as an empty one.
    """
    key = _key(item)

    def tell() -> None:
        st.session_state[f"{key}-told"] = True
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
                "told": is_told(item),
                "asks": asks,
            },
            on_kept_change=tell,
        )
