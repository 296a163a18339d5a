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
"""Returns an input as the page would store it; None if the page would refuse it."""


@dataclass(eq=False)
class Prefetch:
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
    _cache: OrderedDict[Hashable, Shown] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def payload(self) -> dict[str, Any]:
        """Return the address and the inputs of the offer, for the browser."""
        return {"address": f"{PATH}/{self.secret}", "at": self.at}

    def cached(self, inputs: Inputs | None = None) -> Shown:
        """Return the cached parts for these inputs; without inputs, for those of the page."""
        with self._lock:
            return self._cache.get(_key(self.at if inputs is None else inputs), {})

    def read(self, query: Mapping[str, str]) -> Inputs | None:
        """The inputs that a browser names; None where one is missing or wrong."""
        inputs = {
            name: read(query[name])
            for name, read in self.readers.items()
            if len(query.get(name, "")) in range(1, _LONGEST_INPUT)
        }
        whole = inputs.keys() == self.readers.keys() and None not in inputs.values()
        return inputs if whole else None

    def parts(self, inputs: Inputs) -> Shown:
        """The parts under these inputs; empty where there are none."""
        try:
            made = self.cached(inputs) or self.build(inputs)
        except (LookupError, DecodingError):
            return {}
        key = _key(inputs)
        with self._lock:
            self._cache[key] = made
            self._cache.move_to_end(key)
            while len(self._cache) > _MOST_KEPT:
                self._cache.popitem(last=False)
        return made


def _key(inputs: Inputs) -> Hashable:
    return tuple(sorted(inputs.items()))


_prefetches: WeakValueDictionary[str, Prefetch] = WeakValueDictionary()


def prefetch(
    name: str,
    depends: tuple[Hashable, ...],
    inputs: Mapping[str, tuple[Any, Reader]],
    build: Callable[[Inputs], Shown],
) -> Prefetch:
    """Offer the browser parts of the page under other inputs, as long as the session lasts.

    Args:
        name: of the offer on the page.
        inputs: their present values and what reads others, by the names of the inputs.
    """
    at = {platform.key(name): present for name, (present, _) in inputs.items()}
    readers = {platform.key(name): read for name, (_, read) in inputs.items()}
    offered, name = _session_prefetches(), platform.key(name)
    entry = offered.get(name)
    if entry is None or entry.depends != depends or entry.readers.keys() != readers.keys():
        turns = platform.keep(_TURNS, Turns)
        entry = offered[name] = Prefetch(depends, readers, build, at, turns)
        _prefetches[entry.secret] = entry
    entry.build, entry.at, entry.is_open = slot.bound(partial(_named, build, inputs)), at, True
    return entry


def _named(build: Callable[[Inputs], Shown], names: Iterable[str], inputs: Inputs) -> Shown:
    """Return the parts that `build` makes, under the names of the current slot."""
    made = build({name: inputs[platform.key(name)] for name in names})
    return {platform.key(name): part for name, part in made.items()}


def invalidate() -> None:
    """Keep all back until it is offered anew: what it depends on may have changed."""
    for entry in _session_prefetches().values():
        entry.is_open = False


def turns_of(secret: str) -> Turns:
    """Return the turns of the secret's session; new ones for an unknown secret."""
    entry = _prefetches.get(secret)
    return entry.turns if entry is not None else Turns()


def parts(secret: str, query: Mapping[str, str]) -> Shown:
    """Return the requested parts; empty if they are not offered."""
    entry = _prefetches.get(secret)
    inputs = entry.read(query) if entry is not None and entry.is_open else None
    return entry.parts(inputs) if entry is not None and inputs is not None else {}


def routes() -> list[BaseRoute]:
    """Return the route at which a browser fetches parts, below a secret of the session's own."""
    return [gestures.route(PATH, turns_of, _answer)]


def _answer(secret: str, query: Mapping[str, str]) -> str:
    """Parts as JSON; empty where there are none."""
    answer = {name: _sent(part) for name, part in parts(secret, query).items()}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")) if answer else ""


def _sent(part: Drawing | str) -> dict[str, str]:
    """A part as the browser gets it."""
    if isinstance(part, str):
        return {"text": part}
    return {"figure": part.text, "alt": exact_plain(part.words["alt"])}


def _session_prefetches() -> dict[str, Prefetch]:
    return platform.keep(_OFFERED, dict[str, Prefetch])
