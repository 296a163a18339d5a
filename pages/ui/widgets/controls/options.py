"""Controls that choose one of several values: segments and menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import streamlit as st

from core.language import current, in_every_language, tr
from pages.ui.platform import session
from pages.ui.widgets.controls.control import Control, always, redraw_around
from pages.ui.widgets.controls.old_labels import OLD_LABELS


def resend(key: str) -> None:
    """Send a menu's value to the browser again after a change of language, before it is drawn.

    The browser holds the label of the value and returns it with the next rerun.
    """
    languages: dict[str, str] = session.keep("menu_languages", dict)
    if languages.get(key, current()) != current() and key in st.session_state:
        st.session_state[key] = st.session_state[key]
    languages[key] = current()


@dataclass(frozen=True)
class Options(Control):
    """One of several values: words for them on the page, keys in the address.

    Streamlit would write the words into the address, so the control does it by itself.

    Args:
        options: the values with their words, or what gives them.
    """

    options: Mapping[Any, str] | Callable[[], Mapping[Any, str]]

    @property
    def words(self) -> Mapping[Any, str]:
        """The values with their words."""
        return self.options if isinstance(self.options, Mapping) else self.options()

    @property
    def held(self) -> Any:
        if self.state_key in st.session_state:
            return st.session_state[self.state_key]
        word = st.query_params.get(self.state_key)
        return None if word is None else self.of_address(word)

    def fit(self, held: Any) -> Any:
        return held if held in self.words else None

    def in_address(self, held: Any) -> str:
        return str(held).lower() if isinstance(held, bool) else str(held)

    def of_address(self, word: str) -> Any:
        """The value of a key, or of the label that addresses held before."""
        keys = {self.in_address(held): held for held in self.words}
        return keys[word] if word in keys else OLD_LABELS.get(self.key, {}).get(word)

    def takes(self, word: str) -> bool:
        """Return whether the word is a valid value in the address."""
        return self.of_address(word) is not None

    def draw(self, *, on_change: Callable[..., None] = redraw_around, **more: Any) -> None:
        def changed(*args: Any) -> None:
            self._write_address()
            on_change(*args)

        resend(self.state_key)
        super().draw(bind=None, on_change=changed, **more)

    def _write_address(self) -> None:
        held = self._option_of(self.held)
        if held is not None and st.session_state.get(self.state_key) != held:
            st.session_state[self.state_key] = held
        same = held is None or held == self.default
        session.write_address(self.state_key, None if same else self.in_address(held))

    def _option_of(self, held: Any) -> Any:
        """Return the option of a label in any language, as the browser may send an earlier label;
        any other value as it is."""
        words = self.words
        if held is None or held in words:
            return held
        labelled = (option for option, word in words.items() if held in in_every_language(word))
        return next(labelled, held)


@dataclass(frozen=True)
class Segments(Options):
    """Segments of which one is chosen.

    Args:
        offers: whether a value is shown where it isn't chosen.
    """

    _: KW_ONLY
    offers: Callable[[Any], bool] = always

    def _widget(self, **arguments: Any) -> None:
        words = {option: tr(word) for option, word in self.words.items()}
        st.segmented_control(
            options=[option for option in words if self.offers(option) or option == self.held],
            format_func=words.__getitem__,
            default=self.default,
            required=True,
            **arguments,
        )


@dataclass(frozen=True)
class Menu(Options):
    """A menu; the first option is the default.

    Args:
        free: whether other values may be typed.
    """

    free: Callable[[], bool] = lambda: False

    def fit(self, held: Any) -> Any:
        return held if self.free() else super().fit(held)

    def of_address(self, word: str) -> Any:
        option = super().of_address(word)
        return word if option is None and self.free() else option

    def _widget(self, **arguments: Any) -> None:
        words = {option: tr(word) for option, word in self.words.items()}
        st.selectbox(
            options=list(words),
            format_func=lambda option: words.get(option, option),
            accept_new_options=self.free(),
            **arguments,
        )
