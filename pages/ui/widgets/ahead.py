"""Figures of other steps, which the browser fetches as soon as one of them is chosen.

It shows them before the page's script has answered, which then draws the same ones.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakValueDictionary

import streamlit as st

from pages.ui.widgets.chart import Drawing

PATH = "/step-figures"
# Of so many steps a session's figures are kept; both of one take some 20 kB.
_MOST_KEPT = 24
_OFFERED = "figures_ahead"

Build = Callable[[int], dict[str, Drawing]]


@dataclass(eq=False)
class Offer:
    """The figures of a session's steps.

    Args:
        depends: all that they depend on, beside the step.
        build: makes a step's figures, by their names; on any thread. A step that isn't there
            raises IndexError.
        strip: the strip of tokens in which a step is chosen.
        secret: what names them: nobody else can ask for them.
        is_open: whether the page would draw just these.
    """

    depends: tuple[Hashable, ...]
    build: Build
    strip: str
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    is_open: bool = True
    _kept: OrderedDict[int, dict[str, Drawing]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def address(self) -> str:
        return f"{PATH}/{self.secret}/"

    def kept(self, at: int) -> dict[str, Drawing]:
        """What the browser has asked for of a step already."""
        with self._lock:
            return self._kept.get(at, {})

    def figures(self, at: int) -> dict[str, Drawing]:
        """A step's figures; IndexError where there is no such step."""
        found = self.kept(at) or self.build(at)
        with self._lock:
            self._kept[at] = found
            self._kept.move_to_end(at)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found


_offers: WeakValueDictionary[str, Offer] = WeakValueDictionary()


def offer(strip: str, depends: tuple[Hashable, ...], build: Build) -> Offer:
    """Offer the browser the figures of the steps in a strip, as long as the session lasts."""
    found: Offer | None = st.session_state.get(_OFFERED)
    if found is None or (found.strip, found.depends) != (strip, depends):
        found = st.session_state[_OFFERED] = Offer(depends, build, strip)
        _offers[found.secret] = found
    found.is_open = True
    return found


def withdraw() -> None:
    """Keep the figures back until they are offered anew: what they depend on may have changed."""
    found: Offer | None = st.session_state.get(_OFFERED)
    if found is not None:
        found.is_open = False


def figures(secret: str, at: int) -> dict[str, Drawing]:
    """A step's figures for the browser; empty where none are offered."""
    found = _offers.get(secret)
    if found is None or not found.is_open:
        return {}
    try:
        return found.figures(at)
    except IndexError:
        return {}
