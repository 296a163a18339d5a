"""A fold of controls, which tells those that are not at their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.language import tr
from pages.ui import platform
from pages.ui.widgets.controls.control import Control, draw, row_of, value
from pages.ui.widgets.controls.options import Options


def popover(
    label: str, keys: Sequence[str], icon: str = "tune"
) -> st.delta_generator.DeltaGenerator:
    """Return the popover in which the controls with these keys are drawn; a lesson finds it by
    them. Its label counts those that are set, so that a row keeps its width; its hint names them.
    """
    names, key = _set_names(keys), platform.key(f"fold-{'-'.join(keys)}")
    words = f"{tr(label)} ({len(names)})" if names else tr(label)
    return st.popover(words, icon=f":material/{icon}:", key=key, help=tr(", ").join(names) or None)


def group(label: str, keys: Sequence[str], hint: str = "", **more: Any) -> None:
    """Draw the controls with these keys in a part of a popover that is folded at first.

    Args:
        hint: says what switches them on, while none of them acts.
        more: arguments of Streamlit's functions.
    """
    names = _set_names(keys)
    words = f"{tr(label)}: {tr(', ').join(names)}" if names else tr(label)
    with st.expander(words, key=platform.key(f"group-{'-'.join(keys)}")):
        if hint and not any(row_of(key).acts(value) for key in keys):
            st.caption(tr(hint))
        draw(*keys, **more)


def _set_names(keys: Sequence[str]) -> list[str]:
    """Return the names of the controls that a run uses and that are not at their defaults; a choice
    with its option, and without the text field of the same setting."""
    rows = [row_of(key) for key in keys]
    menus = {row.field for row in rows if isinstance(row, Options) and row.field}
    return [
        f"{row.name} {tr(row.words[held])}"
        if isinstance(row, Options) and held in row.words
        else row.name
        for row in rows
        if row.acts(value) and (held := _present(row)) != row.default
        if isinstance(row, Options) or row.field not in menus
    ]


def _present(row: Control) -> object:
    """Return the value of a control, also before it was drawn."""
    if row.held is not None:
        return row.held
    linked = st.query_params.get(row.state_key)
    return row.default if linked is None else row.of_address(linked)
