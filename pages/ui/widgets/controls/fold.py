"""A fold of controls, whose label names those that are not at their defaults."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.ui import platform
from pages.ui.widgets.controls.control import Control, draw, row_of, value


def draw_fold(key: str, label: str, keys: Sequence[str], icon: str = "tune") -> None:
    """Draw controls in a popover.

    Args:
        key: of the popover.
        keys: of the controls.
    """
    words = label_of(label, keys)
    with st.popover(words, icon=f":material/{icon}:", key=platform.key(key)):
        draw(*keys)


def label_of(label: str, keys: Sequence[str]) -> str:
    """Return the label of a fold, with the names of the controls that a run uses and that are not
    at their defaults."""
    rows = [row_of(key) for key in keys]
    changed = [row.name for row in rows if row.acts(value) and _present(row) != row.default]
    return f"{label}: {', '.join(changed)}" if changed else label


def _present(row: Control) -> object:
    """Return the value of a control, also before it was drawn."""
    if row.held is not None:
        return row.held
    linked = st.query_params.get(row.state_key)
    return row.default if linked is None else row.of_address(linked)
