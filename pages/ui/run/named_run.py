"""The runs that an address names, which a reload or a link makes again.

`run` names one run, `made` the runs of Home and Many runs. `1` is what the controls describe. A
query such as `seed=3&tokens=20` is the same with these values of controls that have changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from core.decoding.errors import DecodingError
from core.language import N_, tr
from pages.ui import platform
from pages.ui.registry import Page
from pages.ui.resources import models
from pages.ui.run import address, cost
from pages.ui.run.request import Request
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import Control, Read, in_words, value

NAME, MADE, OF_THE_CONTROLS = "run", "made", "1"
UNREADABLE = N_(
    "The link names a run with settings that this page can't read. Set the controls and press Run."
)
NEEDS_RUN = N_("This link uses a model that is not built in. Press Run to load it.")
EARLIER = N_(
    "The link names an earlier run that only a press on Run may start: its model is not built in, "
    "or it has too many tokens. Set the controls and press Run."
)
NOT_HERE = N_(
    "The link names a run that this page can't repeat. Use the link of the page that made the run."
)
RequestedWork: TypeAlias = tuple[Sequence[Request], int]
"""The requests of a link's work, and the most tokens that it computes."""
# A prompt may have 20,000 characters; an address should not.
_LONGEST = 1_000


def word(name: str = NAME) -> str:
    """Return the word of the address under a name; empty if it names no run."""
    return str(st.query_params.get(platform.key(name), ""))


def is_named() -> bool:
    """Return whether the address names a run, even one that the page can't make."""
    return bool(word())


def reader(word: str, rows: Mapping[str, Control]) -> Read | None:
    """Return a function that gives a control's value in the run that a word names; None if it
    names none.

    Controls that the word leaves out have their values of the address that led to the page.

    Args:
        rows: the controls of the page's runs, by key.
    """
    if word == OF_THE_CONTROLS:
        return link.opened_with
    held = _held(word, rows)
    if not held:
        return None
    return lambda key: held[key] if key in held else link.opened_with(key)


def _held(word: str, rows: Mapping[str, Control]) -> dict[str, Any]:
    """Return the values of a query by the controls' keys; none if a control refuses one."""
    try:
        pairs = parse_qsl(word, keep_blank_values=True) if len(word) <= _LONGEST else []
    except ValueError:
        return {}
    known = all(key in rows for key, _ in pairs)
    held = {key: rows[key].of_address(text) for key, text in pairs} if known else {}
    return {} if None in held.values() else held


def word_for(values: Mapping[str, Any], rows: Mapping[str, Control]) -> str:
    """Return the word for values that differ from those of the controls; empty if it is too long
    or an address can't hold them.
    """
    words = {key: rows[key].in_address(held) for key, held in values.items()}
    query = urlencode(words)
    return query if _held(query, rows) == dict(values) else ""


def word_of(values: Mapping[str, Any], rows: Mapping[str, Control]) -> str:
    """Return the word for work that started with these values: those that the controls don't have
    any more; empty if the address can't hold them.
    """
    return word_for({key: held for key, held in values.items() if held != value(key)}, rows)


def starts_by_itself(requests: Sequence[Request], tokens: int) -> bool:
    """Return whether work starts without a press: built-in models, and not too many tokens."""
    return all(map(models.is_embedded, _models(requests))) and not cost.awaited(tokens, "Run")


def _models(requests: Sequence[Request]) -> list[str]:
    return [name for request in requests for name in request.models]


class LinkedWork(NamedTuple):
    """Work that the address names as the page opens.

    Args:
        read: gives a control's value in the work to start; None if nothing may start.
        failure: why nothing starts, in a sentence; empty if the address names no work.
        waits: the work may start at a press on Run, so the address keeps its name.
    """

    read: Read | None = None
    failure: str = ""
    waits: bool = False


def open_link(
    rows: Mapping[str, Control], work_of: Callable[[Read], RequestedWork], name: str = NAME
) -> LinkedWork:
    """Return the work that the address names: a link alone loads built-in models only, and starts
    nothing above the cost bound.

    Args:
        work_of: makes the work from a function that gives a control's value by its key.
    """
    named = word(name)
    read = reader(named, rows)
    if read is None:
        return LinkedWork(failure=UNREADABLE if named else "")
    of_controls = named == OF_THE_CONTROLS
    try:
        requests, tokens = work_of(read)
    except DecodingError as error:
        return LinkedWork(failure=in_words(error) if of_controls else UNREADABLE)
    if not of_controls and not requests[0].prompt.strip():
        return LinkedWork(failure=UNREADABLE)
    if starts_by_itself(requests, tokens):
        return LinkedWork(read)
    if not of_controls:
        return LinkedWork(failure=EARLIER)  # A press on Run would make another run.
    unknown = filter(None, map(models.unknown, _models(requests)))
    return LinkedWork(
        failure=next(unknown, "") or cost.awaited(tokens, "Run") or NEEDS_RUN, waits=True
    )


class RunsView(Protocol):
    """A view of several runs that its page makes together."""

    restored: bool
    waits: bool
    failure: str


def restore_runs(
    view: RunsView,
    rows: Mapping[str, Control],
    work_of: Callable[[Read], RequestedWork],
    start: Callable[[Read], None],
) -> None:
    """Repeat the runs that the address names as made; those of a model that isn't built in, and a
    larger amount of work, wait for Run.

    Args:
        rows: the controls that the runs depend on, by key.
        work_of: makes the work from a function that gives a control's value by its key.
        start: starts the runs with such a function.
    """
    view.restored = True
    linked = open_link(rows, work_of, MADE)
    view.waits = linked.waits
    if linked.read is not None:
        start(linked.read)
    elif linked.failure:
        view.failure = linked.failure


def refuse_elsewhere(page: Page) -> None:
    """Remove `run` from the address of a page that can't repeat a run, and say so."""
    if st.query_params.get(NAME) and not page.repeats_run:
        link.report(tr(NOT_HERE))
        address.write(NAME, None)
