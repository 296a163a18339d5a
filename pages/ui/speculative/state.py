"""Session state of the speculative page: a run, its selected token, measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import streamlit as st

from core.decoding.by_engine.speculation import ServerSpeculation
from core.decoding.record.trace import Trace
from core.decoding.speculative.acceptance import AcceptanceTable
from core.decoding.speculative.config import Acceptance
from core.decoding.speculative.measurement.report import (
    Comparison,
    ExitLayers,
    LengthSweep,
    Losslessness,
    SourceRow,
)
from core.decoding.speculative.types import DraftRound
from core.figures.opening import telling_token
from core.figures.speculative.timeline import COLUMNS, PHONE_COLUMNS, rounds_for
from core.figures.speculative.words import EXTRA, EmittedToken, token_at
from core.language import N_, tr
from pages.ui import platform
from pages.ui.resources import models
from pages.ui.run import address, named_run
from pages.ui.run.view import Source, View
from pages.ui.widgets import style
from pages.ui.widgets.controls import link

# The key of the text's strip of tokens.
STRIP = "spec-strip"
TOKEN, _OWN = "token", "own"
_NO_TOKEN = N_(
    "{word} in the link is no token of this run (numbers in links begin at 0): its most telling "
    "one is selected."
)
_NOWHERE = (-1, 0)
# Width of the timeline, px: beside the text in a window of 1280 px, and in one of 800 px.
_BESIDE_TEXT, _BETWEEN = 618, 442
MEASUREMENTS = (
    *("comparison", "sweep", "sources", "scored", "counted", "alone", "server", "exits"),
)


class ServerRun(NamedTuple):
    """Server's report on its own speculation in a run, and a caption of the run's settings."""

    speculation: ServerSpeculation
    caption: str


class ThreeTokenExample(NamedTuple):
    """Acceptance table of a rule on three tokens, under the present controls."""

    table: AcceptanceTable
    rule: Acceptance


@dataclass(eq=False)
class SpecView(View):
    """One session's view of one speculative run; `first` is the first round of the timeline.

    Args:
        token: the selected token as (round, place in it); the target's own has place -1.
        comparison, sweep, sources, scored, counted, alone, server, exits: what was measured on
            demand, each by the job of its name; `scored` holds runs of both ways of scoring,
            `alone` is target-only decoding, `server` the server's own speculation.
        compared_alone: the number of the greedy run for which the target ran alone by itself.
        linked: the token that the link names, until the run that it names is there.
        shown: the number of rounds that the timeline has shown of this run; 0 before it is drawn.
        three: the enumeration on three tokens, as they were typed when the page was drawn.
    """

    key: ClassVar[str] = "speculative"
    example: ClassVar[str] = "speculative.json"
    measurements: ClassVar[dict[str, str]] = {name: name for name in MEASUREMENTS}
    of_trace: ClassVar[tuple[str, ...]] = ("check", *MEASUREMENTS)

    token: tuple[int, int] | None = None
    comparison: Comparison | None = None
    sweep: LengthSweep | None = None
    sources: tuple[SourceRow, ...] | None = None
    scored: dict[str, list[Trace]] | None = None
    counted: Losslessness | None = None
    alone: Trace | None = None
    server: ServerRun | None = None
    exits: ExitLayers | None = None
    compared_alone: int = 0
    linked: tuple[int, int] | None = None
    shown: int = 0
    three: ThreeTokenExample | None = None

    @classmethod
    def initial(cls) -> Self:
        """The example, at the token that the link names."""
        view, example = cls(linked=_linked_token()), cls.load_example()
        if example is not None:
            view.show(example, "example")
        return view

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run, at its most telling token."""
        super().show(trace, source)
        self.token, self.shown = telling_token(trace), 0
        if self.linked is not None:
            there = self.look_at(*self.linked)
            if source != "example" or not named_run.is_named():
                self.linked = None
                if not there:
                    word = link.quoted(st.query_params.get(platform.key(TOKEN), ""))
                    link.report(tr(_NO_TOKEN, word=word))

    @property
    def place_of_token(self) -> int | None:
        """The place of the selected token in the text; None if the text has no such place."""
        if self.token is None:
            return None
        at, place = self.token
        step, accepted = self.rounds[at], len(self.rounds[at].accepted)
        return step.start + (accepted if place == EXTRA else place) if place <= accepted else None

    @property
    def rounds(self) -> tuple[DraftRound, ...]:
        return self.trace.rounds if self.trace else ()

    def look_at(self, at: int, place: int) -> bool:
        """Select a token and bring its round into the window; what isn't there stays unselected.

        Returns whether it is there.
        """
        if self.trace is None or token_at(self.trace, at, place) is None:
            return False
        self.token = (at, place)
        self._bring_into_window(shown_rounds(self.trace))
        return True

    def fit_window(self, shown: int) -> int:
        """Bring the selected token into a timeline of so many rounds, once: the reader may then
        turn its pages. The browser reports its width only after the first run of the page.
        Returns that number.
        """
        if shown != self.shown:
            self.shown = shown
            self._bring_into_window(shown)
        return shown

    def _bring_into_window(self, shown: int) -> None:
        at = self.token[0] if self.token else self.first
        if not self.first <= at < self.first + shown:
            self.first = at // shown * shown

    def may_load(self, chosen: str) -> bool:
        """Return whether both models may be loaded: a file must not make the app fetch a model."""
        trace = self.trace
        if trace is None or self.source != "file":
            return trace is not None
        drafts = {"", str(st.session_state.get(platform.key("draft")) or "").strip()}
        known = trace.draft_id in drafts or models.is_embedded(trace.draft_id)
        return known and super().may_load(chosen)

    def measuring(self) -> bool:
        """Return whether a job runs the models now."""
        return any(self.active(name) for name in ("decode", *MEASUREMENTS))


def shown_rounds(trace: Trace) -> int:
    """Return the number of rounds that the timeline shows at a time."""
    if style.narrow():
        return PHONE_COLUMNS
    return min(COLUMNS, rounds_for(timeline_width(), trace))


def timeline_width() -> int:
    """Return the width of the timeline, in px: it stands beside the text on a desktop."""
    beside = _BETWEEN if style.window() == "between" else _BESIDE_TEXT
    return min(style.figure_width(), beside)


def place_in_text(tokens: list[EmittedToken], token: tuple[int, int] | None) -> int:
    """The selected token's place in the text; -1 for one that was not emitted."""
    return next(
        (at for at, emitted in enumerate(tokens) if (emitted.round, emitted.place) == token), -1
    )


def _linked_token() -> tuple[int, int] | None:
    """The token in the address, as `keep_token` writes it; one that no run has where it is none."""
    word = st.query_params.get(platform.key(TOKEN), "")
    if not word:
        return None
    at, _, place = word.partition(".")
    index, within = link.whole(at), EXTRA if place == _OWN else link.whole(place)
    return _NOWHERE if index is None or within is None else (index, within)


def keep_token(view: SpecView) -> None:
    """Put the selected token into the address, so that a link shows it: `3.1`, or `3.own` for the
    target's own of round 3. The one that a run opens with needs no word."""
    if view.linked is not None or view.trace is None or "decode" in view.jobs:
        return
    word = None
    if view.token is not None and view.token != telling_token(view.trace):
        at, place = view.token
        word = f"{at}.{_OWN if place == EXTRA else place}"
    address.write(TOKEN, word)
