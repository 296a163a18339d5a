"""Read a link's values into the controls; a sentence names each one that they can't take."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st

from core.decoding.counting import listed
from core.language import tr
from pages.ui import platform
from pages.ui.platform import session
from pages.ui.widgets.controls.control import (
    Control,
    Number,
    Text,
    Toggle,
    is_declared,
    row_of,
    rows_in_address,
)
from pages.ui.widgets.controls.old_labels import OLD_KEYS
from pages.ui.widgets.controls.options import Menu, Options
from pages.ui.widgets.controls.slider import Slider

# Whether a server offers a model is told on the page itself.
MODELS = frozenset({"model", "draft"})
_SAID, _SHOWN = "link_refusals", 40
# In the session's state: the address that led to the page, and that page.
_OPENED, _PAGE = "link_opened", "link_page"


def remember(page: str) -> None:
    """Keep the address that led to the page, by its path, as the browser sent it."""
    query = session.query()
    if query is not None and st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        st.session_state[_OPENED] = dict(parse_qsl(query, keep_blank_values=True))


def rename_old(page: str) -> None:
    """Give the address's parameters of a page, by its path, the names that they have today."""
    for old, key in OLD_KEYS.get(page, {}).items():
        row, word = row_of(key), st.query_params.get(old)
        if word is not None and isinstance(row, Options) and row.takes(word):
            st.query_params[row.state_key] = word
            del st.query_params[old]
            st.rerun()


def fill(words: Mapping[str, str]) -> list[str]:
    """Set the controls of the current slot to an address's words, before they are drawn, and tell
    what they don't take. Return the names that no control of the slot has.
    """
    prefix, others = platform.key(""), []
    for name, word in words.items():
        key = name.removeprefix(prefix)
        if not is_declared(key) or row_of(key).state_key != name:
            others.append(name)
            continue
        row = row_of(key)
        held, (reason, used) = row.of_address(word), _refusal(row, word)
        if reason:
            used = used or _default(row)
            report(tr("{name}: {reason}: {used} is used.", name=row.name, reason=reason, used=used))
        if held is not None:
            row.set(held)
    return others


def opened_with(key: str) -> Any:
    """A control's value in the address that led to the page, by its key; else its default."""
    row = row_of(key)
    word = st.session_state.get(_OPENED, st.query_params).get(row.state_key)
    linked = None if word is None else row.of_address(word)
    return row.default if linked is None else linked


def check_address() -> None:
    """Tell what the controls don't take of the address, and take it out.

    A control reads the address that its run began with, and some fail at what they can't read. So
    the run begins again: before any control is drawn, as later the address belongs to them.
    """
    taken_out = False
    for key, row in rows_in_address().items():
        reason, used = (
            _refusal(row, st.query_params[row.state_key]) if key not in MODELS else ("", None)
        )
        if reason and used is None:
            used = _default(row)
            taken_out |= session.write_address(row.state_key, None)
        if reason:
            report(tr("{name}: {reason}: {used} is used.", name=row.name, reason=reason, used=used))
    if taken_out:
        st.rerun()
    show_reports()


def show_reports() -> None:
    """Show what was told since the last time."""
    for sentence in st.session_state.pop(_SAID, ()):
        st.toast(sentence, icon=":material/error:", duration="long")


def report(sentence: str) -> None:
    """Say once what a link asks for in vain."""
    reported = platform.keep(_SAID, list[str])
    if sentence not in reported:
        reported.append(sentence)


def quoted(word: str) -> str:
    """The beginning of a link's word for a sentence in a toast."""
    return f"“{literal(word[:_SHOWN])}”"


def literal(text: str) -> str:
    """Text for where Streamlit reads markup: none of it is any."""
    return re.sub(r"([!-,/:-@\[-`{-~])", r"\\\1", text)


def whole(word: str, digits: int = 6) -> int | None:
    """A number of at most so many digits; None for any other word."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= digits else None


def refused_models() -> list[str]:
    """Keys of the menus of models for which the address names one that isn't offered.

    Streamlit takes it out of the address as it draws the menu, and shows the default.
    """
    named = {key: row for key, row in rows_in_address().items() if key in MODELS}
    return [
        key
        for key, row in named.items()
        if isinstance(row, Menu) and not row.takes(st.query_params[row.state_key])
    ]


def _default(row: Control) -> str:
    """A control's default as its page shows it."""
    if isinstance(row, Options) and row.default in row.words:
        return literal(tr(row.words[row.default]))
    return row.in_address(row.default) or tr("nothing")


def _refusal(row: Control, word: str) -> tuple[str, str | None]:
    """Why a control doesn't take a word as it is, and what it makes of it; None: its default.

    The reason is empty where it takes it.
    """
    shown = tr("{word} in the link", word=quoted(word))
    if isinstance(row, Number | Slider):
        return _refused_number(row, word, shown)
    if isinstance(row, Options):
        if row.takes(word):
            return "", None
        labels = tr(listed(literal(tr(label)) for label in row.words.values()))
        return tr("{shown} is none of {labels}", shown=shown, labels=labels), None
    if isinstance(row, Toggle):
        return (
            ""
            if word.lower() in ("true", "false")
            else tr("{shown} is not true or false", shown=shown)
        ), None
    if isinstance(row, Text) and row.of_address(word) is None:
        return tr("{shown} is not {form}", shown=shown, form=tr(row.form[1])), None
    if isinstance(row, Text) and row.max_chars is not None and len(word) > row.max_chars:
        most = f"{row.max_chars:,}"
        return tr("the link holds more than {most} characters", most=most), tr(
            "the beginning, {most} characters,", most=most
        )
    return "", None


def _refused_number(row: Number | Slider, word: str, shown: str) -> tuple[str, str | None]:
    low, high = row.range
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        return tr("{shown} is no number", shown=shown), None
    if not low <= number <= high:
        return tr(
            "{number} in the link lies outside {low} to {high}",
            number=_digits(number),
            low=_digits(low),
            high=_digits(high),
        ), None
    if row.cast(number) != number:
        return tr(
            "{number} in the link is no whole number", number=_digits(number)
        ), f"{row.cast(number):g}"
    return "", None


def _digits(number: float) -> str:
    """A number with all digits of whole ones, as long as they can be read."""
    return f"{number:,.0f}" if number == int(number) and abs(number) < 1e12 else f"{number:,g}"
