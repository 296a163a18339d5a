"""Prefetch charts and texts for a changed widget's value before the script reruns.

The browser shows these parts before the page's script has answered; the script then draws the same.
A gesture changes named inputs: the selected step, a knob's number.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from starlette.routing import BaseRoute

from core.decoding.errors import DecodingError
from core.figures.base.labels import exact_plain
from pages.ui import platform
from pages.ui.platform import gestures, slot
from pages.ui.platform.gestures import Turns
from pages.ui.widgets.chart import Drawing

PATH = "/gestures"
# Under so many inputs a session's parts are kept; both figures of a step take some 20 kB.
_MOST_KEPT = 24
_LONGEST_INPUT = 40
_OFFERED, _TURNS = "offered_ahead", "turns_ahead"

Shown: TypeAlias = Mapping[str, Drawing | str]
"""Charts and words of the page, by their names."""
Inputs: TypeAlias = dict[str, Any]
Reader: TypeAlias = Callable[[str], Any]
"""Gives an input as the page would take it; None where the page would not."""


@dataclass(eq=False)
class Offer:
    """Parts of a session's page under other inputs.

    Args:
        depends: all that they depend on, beside the inputs.
        readers: of the inputs, by their names.
        build: makes the parts under some inputs; on any thread. Where it can't, it raises
            LookupError or DecodingError.
        at: the inputs under which the page shows them.
        turns: of all requests for what the session's page offers.
        secret: what names them: nobody else can ask for them.
        is_open: whether the page would draw just these.
    """

    depends: tuple[Hashable, ...]
    readers: Mapping[str, Reader]
    build: Callable[[Inputs], Shown]
    at: Inputs
    turns: Turns = field(default_factory=Turns)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    is_open: bool = True
    _kept: OrderedDict[Hashable, Shown] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def told(self) -> dict[str, Any]:
        """Return the address and the inputs of the offer, for the browser."""
        return {"address": f"{PATH}/{self.secret}", "at": self.at}

    def kept(self, inputs: Inputs | None = None) -> Shown:
        """Return the cached parts for these inputs; without inputs, for those of the page."""
        with self._lock:
            return self._kept.get(_key(self.at if inputs is None else inputs), {})

    def read(self, asked: Mapping[str, str]) -> Inputs | None:
        """The inputs that a browser names; None where one is missing or wrong."""
        found = {
            name: read(asked[name])
            for name, read in self.readers.items()
            if len(asked.get(name, "")) in range(1, _LONGEST_INPUT)
        }
        whole = found.keys() == self.readers.keys() and None not in found.values()
        return found if whole else None

    def parts(self, inputs: Inputs) -> Shown:
        """The parts under these inputs; empty where there are none."""
        try:
            found = self.kept(inputs) or self.build(inputs)
        except (LookupError, DecodingError):
            return {}
        key = _key(inputs)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return found


def _key(inputs: Inputs) -> Hashable:
    return tuple(sorted(inputs.items()))


_offers: WeakValueDictionary[str, Offer] = WeakValueDictionary()


def offer(
    name: str,
    depends: tuple[Hashable, ...],
    inputs: Mapping[str, tuple[Any, Reader]],
    build: Callable[[Inputs], Shown],
) -> Offer:
    """Offer the browser parts of the page under other inputs, as long as the session lasts.

    Args:
        name: of the offer on the page.
        inputs: their present values and what reads others, by the names of the inputs.
    """
    at = {platform.key(name): present for name, (present, _) in inputs.items()}
    readers = {platform.key(name): read for name, (_, read) in inputs.items()}
    offered, name = _offered(), platform.key(name)
    found = offered.get(name)
    if found is None or found.depends != depends or found.readers.keys() != readers.keys():
        turns = platform.keep(_TURNS, Turns)
        found = offered[name] = Offer(depends, readers, build, at, turns)
        _offers[found.secret] = found
    found.build, found.at, found.is_open = slot.bound(partial(_named, build, inputs)), at, True
    return found


def _named(build: Callable[[Inputs], Shown], names: Iterable[str], inputs: Inputs) -> Shown:
    """Return the parts that `build` makes, under the names of the current slot."""
    made = build({name: inputs[platform.key(name)] for name in names})
    return {platform.key(name): part for name, part in made.items()}


def withdraw() -> None:
    """Keep all back until it is offered anew: what it depends on may have changed."""
    for found in _offered().values():
        found.is_open = False


def turns_of(secret: str) -> Turns:
    """Return the turns of the secret's session; new ones for an unknown secret."""
    found = _offers.get(secret)
    return found.turns if found is not None else Turns()


def parts(secret: str, asked: Mapping[str, str]) -> Shown:
    """Return the requested parts; empty if they are not offered."""
    found = _offers.get(secret)
    inputs = found.read(asked) if found is not None and found.is_open else None
    return found.parts(inputs) if found is not None and inputs is not None else {}


def routes() -> list[BaseRoute]:
    """Return the route at which a browser fetches parts, below a secret of the session's own."""
    return [gestures.route(PATH, turns_of, _answer)]


def _answer(secret: str, asked: Mapping[str, str]) -> str:
    """Parts as JSON; empty where there are none."""
    found = {name: _sent(part) for name, part in parts(secret, asked).items()}
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""


def _sent(part: Drawing | str) -> dict[str, str]:
    """A part as the browser gets it."""
    if isinstance(part, str):
        return {"text": part}
    return {"figure": part.text, "alt": exact_plain(part.words["alt"])}


def _offered() -> dict[str, Offer]:
    return platform.keep(_OFFERED, dict[str, Offer])
