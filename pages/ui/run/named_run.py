"""The run that an address names under `run`, which a reload or a link makes again.

`1` is the run that the controls describe. A query such as `seed=3&tokens=20` is that run with these
values of controls that have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.ui import platform
from pages.ui.resources import models
from pages.ui.run import cost
from pages.ui.run.request import Request
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import Control, Read, is_declared, row_of

NAME, OF_THE_CONTROLS = "run", "1"
# A prompt may have 20,000 characters; an address should not.
_LONGEST = 1_000


def word() -> str:
    """Return the word of the address; empty if it names no run."""
    return str(st.query_params.get(platform.key(NAME), ""))


def is_named() -> bool:
    """Return whether the address names a run."""
    return reader(word()) is not None


def reader(word: str) -> Read | None:
    """Return the function that gives a control's value in the run that a word names, by the
    address that led to the page; None if it names none.
    """
    if word == OF_THE_CONTROLS:
        return link.opened_with
    held = _held(word)
    if not held:
        return None
    return lambda key: held[key] if key in held else link.opened_with(key)


def _held(word: str) -> dict[str, Any]:
    """Return the values of a query by the controls' keys; none if a control refuses one."""
    try:
        pairs = parse_qsl(word, keep_blank_values=True) if len(word) <= _LONGEST else []
    except ValueError:
        return {}
    known = all(is_declared(key) for key, _ in pairs)
    held = {key: row_of(key).of_address(text) for key, text in pairs} if known else {}
    return {} if None in held.values() else held


def word_for(values: Mapping[str, Any], rows: Mapping[str, Control]) -> str:
    """Return the word for values that differ from those of the controls; empty if it is too long
    or an address can't hold them.
    """
    words = {key: rows[key].in_address(held) for key, held in values.items()}
    query = urlencode(words)
    return query if _held(query) == dict(values) else ""


def starts_by_itself(request: Request) -> bool:
    """Return whether a run starts without a press: built-in models, and not too many tokens."""
    return all(map(models.is_embedded, request.models)) and not cost.awaited(
        cost.tokens_of(request.config), "Run"
    )
