"""Every control of the app is one row: widget, default, range, address name, config field.

A page declares its rows once with `declare`. From a row come the widget (`draw`), the value
(`value`), and in `config_fields` the arguments of the method's config and the way back from it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import streamlit as st

from core.decoding.errors import ConfigError, DecodingError
from core.language import Message, tr, use
from core.language.catalogue import ENGLISH
from pages.ui import platform
from pages.ui.platform import session

Read: TypeAlias = Callable[[str], Any]
"""Gives a control's value by its key."""
R = TypeVar("R", bound="Control")
Width: TypeAlias = int | Literal["stretch", "content"]
# Of any field: a browser holds to its `max_chars`, others needn't.
LONGEST_TEXT = 20_000
# Stands for a setting's label in a sentence that isn't translated yet.
_SETTING = "\ue000"
# Key in the session's state: the package of the shown page.
_PACKAGE = "package"
_rows: dict[str, Control] = {}
_declared_by: dict[str, str] = {}  # The module of each, by their keys.


def _unchanged(held: Any) -> Any:
    return held


def always(_: Any) -> bool:
    return True


@dataclass(frozen=True)
class Control:
    """A row; each subclass is a kind of widget.

    Args:
        key: the name in the address and in the session's state.
        default: the value before anything was entered, and of an emptied field.
        width: in pixels or in Streamlit's words; None is the widget's own.
        field: the config's field that it sets, such as `shaping.top_k`; empty for none.
        to_field: makes the field's value of the control's.
        from_field: makes the control's value of the field's; None where there is none.
        acts: whether a run uses it, by the other controls' values. Where it doesn't, the widget is
            disabled, the field keeps the config's default, and a file doesn't set the control.
    """

    key: str
    label: str
    default: Any
    _: KW_ONLY
    help: str | None = None
    width: Width | None = None
    field: str = ""
    to_field: Callable[[Any], Any] = _unchanged
    from_field: Callable[[Any], Any] = _unchanged
    acts: Callable[[Read], bool] = always

    @property
    def state_key(self) -> str:
        """The key with the prefix of the current slot."""
        return platform.key(self.key)

    @property
    def name(self) -> str:
        """The label as sentences have it, without what follows a comma."""
        return tr(self.label).partition(",")[0]

    def cast(self, held: Any) -> Any:
        """The value in the control's type."""
        return held

    def fit(self, held: Any) -> Any:
        """The nearest value that the control can hold; None leaves it as it is."""
        return self.cast(held)

    def set(self, held: Any) -> None:
        """Set the control before it is drawn."""
        st.session_state[self.state_key] = held

    @property
    def held(self) -> Any:
        """Return its value; None before it was drawn, or when it was emptied."""
        return st.session_state.get(self.state_key)

    def in_address(self, held: Any) -> str:
        """A value as the address says it."""
        return str(held)

    def of_address(self, word: str) -> Any:
        """The value that a word of the address says; None where the control doesn't take it."""
        return self.fit(word)

    def draw(self, **more: Any) -> None:
        """Draw the widget.

        Args:
            more: arguments of Streamlit's function, before the row's own.
        """
        self._write_address()
        help: str | None = more.pop("help", self.help)
        self._widget(
            label=tr(self.label),
            **{
                "key": self.state_key,
                "bind": "query-params",
                "persist_state": "session",
                "help": help and tr(help),
                "disabled": not self.acts(value),
                "on_change": redraw_around,
                **({} if self.width is None else {"width": self.width}),
                **more,
            },
        )

    def _write_address(self) -> None:
        """Say in the address what Streamlit doesn't: what was set before the control was ever
        drawn, and what a browser dropped as it went back."""
        held = st.session_state.get(self.state_key)
        if held is None or held == self.default or self.state_key in st.query_params:
            return
        # Where it was drawn before, Streamlit writes what code sets.
        if not session.write_address(self.state_key, self.in_address(held)):
            st.session_state[self.state_key] = held

    def _widget(self, **arguments: Any) -> None:
        raise NotImplementedError


def redraw_around() -> None:
    """Empty callback: a change reruns everything around the control.

    It counts even where another callback of the same request reruns one fragment alone.
    """


@dataclass(frozen=True)
class Number(Control):
    """A field for a number between bounds; a whole number where the step is one.

    Args:
        short: its label is beside a field for a few digits, as in a row of controls.
    """

    low: float
    high: float
    step: float = 1
    _: KW_ONLY
    width: Width | None = 150
    short: bool = False

    @property
    def range(self) -> tuple[float, float]:
        return self.low, self.high

    def cast(self, held: Any) -> float:
        return int(held) if isinstance(self.step, int) else float(held)

    def fit(self, held: Any) -> float:
        return self.cast(min(max(held, self.low), self.high))

    def in_address(self, held: Any) -> str:
        return str(self.cast(held))

    def of_address(self, word: str) -> float | None:
        with suppress(ValueError):
            if self.low <= (number := float(word)) <= self.high:
                return self.cast(number)
        return None

    def _widget(self, **arguments: Any) -> None:
        bounds: dict[str, Any] = {"min_value": self.low, "max_value": self.high, "step": self.step}
        if self.short:
            with st.container(key=platform.key(f"short-{self.key}"), width="content"):
                st.number_input(value=self.default, **bounds, **arguments)
        else:
            st.number_input(value=self.default, **bounds, **arguments)


@dataclass(frozen=True)
class Text(Control):
    """A line of text, or an area of a height in pixels.

    Args:
        form: a regular expression that a link's text fits, and that form in words; empty for any.
    """

    _: KW_ONLY
    placeholder: str | None = None
    height: int | None = None
    max_chars: int | None = None
    form: tuple[str, str] = ("", "")

    def fit(self, held: Any) -> str:
        return str(held)[: self.max_chars or LONGEST_TEXT]

    def of_address(self, word: str) -> str | None:
        return self.fit(word) if re.fullmatch(self.form[0] or ".*", word, re.DOTALL) else None

    def _widget(self, **arguments: Any) -> None:
        arguments |= {
            "placeholder": self.placeholder and tr(self.placeholder),
            "max_chars": self.max_chars,
        }
        if self.height is None:
            st.text_input(value=self.default, **arguments)
        else:
            st.text_area(value=self.default, height=self.height, **arguments)


@dataclass(frozen=True)
class Toggle(Control):
    """On or off."""

    def in_address(self, held: Any) -> str:
        return str(bool(held)).lower()

    def of_address(self, word: str) -> bool | None:
        return {"true": True, "false": False}.get(word.lower())

    def _widget(self, **arguments: Any) -> None:
        st.toggle(value=self.default, **arguments)


def rows(kind: type[R]) -> Iterator[R]:
    """The declared rows of a kind."""
    return (row for row in _rows.values() if isinstance(row, kind))


def rows_in_address() -> dict[str, Control]:
    """The declared rows that the address names, by their keys."""
    return {key: row for key, row in _rows.items() if row.state_key in st.query_params}


def declare(*rows: R) -> tuple[R, ...]:
    """Make rows known by their keys, as those of the module that calls this; returns them."""
    module = sys._getframe(1).f_globals["__name__"]
    for row in rows:
        _rows[row.key], _declared_by[row.key] = row, module
    return rows


def row_of(key: str) -> Control:
    """The declared row of a key."""
    return _rows[key]


def is_declared(key: str) -> bool:
    """Return whether there is a control of this key."""
    return key in _rows


def draw(*keys: str, **more: Any) -> None:
    """Draw these controls, one after another."""
    for key in keys:
        _rows[key].draw(**more)


def value(key: str) -> Any:
    """Return a control's value; its default before it was drawn, or when it was emptied."""
    held = _rows[key].held
    return _rows[key].default if held is None else held


def defaults(within: str = "") -> dict[str, Any]:
    """The defaults of the controls declared in modules whose names begin so, by their keys."""
    return {key: row.default for key, row in _rows.items() if _declared_by[key].startswith(within)}


def use_labels_of(package: str) -> None:
    """Let this session's errors name settings as the page of this package does."""
    st.session_state[_PACKAGE] = package


class ErrorMessage(Message):
    """An error's sentence that names each setting by its control's label.

    Args:
        sentence: the error's text, with `_SETTING` in place of the setting that it is about.
        setting: field of that setting; empty for none.
    """

    setting: str

    def __new__(cls, sentence: str, setting: str) -> ErrorMessage:
        with use(ENGLISH):
            message = str.__new__(cls, _labelled(sentence, setting))
        message.template, message.values, message.setting = sentence, {}, setting
        return message

    def translated(self, language: str) -> str:
        with use(language):
            return _labelled(self.template, self.setting)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.setting


def in_words(error: DecodingError) -> Message:
    """Return an error as the page says it, for `tr`: each setting by its control's label.

    Quoted parts, which may be a user's own text, stay.
    """
    if isinstance(error, ConfigError):
        return ErrorMessage(error.sentence(_SETTING), error.setting)
    return ErrorMessage(error.args[0] if error.args else "", "")


def _labelled(sentence: str, setting: str) -> str:
    """Return the sentence in the current language, with the labels of its settings."""
    # Two pages may name one setting in two ways: the page's own row counts.
    package = st.session_state.get(_PACKAGE, "") if session.current() else ""
    own = {key for key in _rows if package and _declared_by[key].startswith(package)}
    rows = sorted(_rows.values(), key=lambda row: row.key not in own)
    names = {row.field.removeprefix("shaping."): row.name for row in reversed(rows)}
    label_of_setting = names.get(setting) or setting.replace("_", " ").capitalize()
    text = tr(sentence).replace(_SETTING, label_of_setting)

    def labelled(found: re.Match[str]) -> str:
        label = names.get(found[0])
        return f"“{label}”" if label else found[0]

    return re.sub(r"'[^']*'|\"[^\"]*\"|\b[a-z]+(?:_[a-z]+)+\b", labelled, text)


def load(values: Mapping[str, Any]) -> None:
    """Set controls, before they are drawn, by their keys."""
    for key, held in values.items():
        _rows[key].set(held)
