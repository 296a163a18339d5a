"""What one browser session looks at on the speculative page: a run, a token of it, measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.decoding.configs import Speculative
from core.decoding.speculative_report import Comparison, LengthSweep, Losslessness
from core.decoding.types import DraftRound, Timings, Trace
from core.figures.spec.timeline import COLUMNS
from core.figures.spec.words import EXTRA, Emitted, token_at
from pages.ui import models, run_bar, stored
from pages.ui.running import Job
from pages.ui.state import Source, View

EXAMPLE = Path(__file__).parents[2] / "assets" / "traces" / "speculative.json"
MEASUREMENTS = ("comparison", "sweep", "scored", "counted", "alone")


@dataclass(eq=False)
class SpecView(View):
    """One session's view of one speculative run; `first` is the first round of the timeline.

    Args:
        token: the selected token as (round, place in it); the target's own has place -1.
        comparison, sweep, scored, counted, alone: what was measured on demand, each by the job of
            its name; `scored` holds runs of both ways of scoring, `alone` is target-only decoding.
    """

    token: tuple[int, int] | None = None
    comparison: Comparison | None = None
    sweep: LengthSweep | None = None
    scored: dict[str, list[Trace]] | None = None
    counted: Losslessness | None = None
    alone: Trace | None = None

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run, at the token that tells most of it."""
        super().show(trace, source)
        for name in MEASUREMENTS:
            setattr(self, name, None)
            if job := self.jobs.pop(name, None):
                job.stop()
        self.token = telling_token(trace)

    @property
    def rounds(self) -> tuple[DraftRound, ...]:
        return self.trace.rounds if self.trace else ()

    def look_at(self, at: int, place: int) -> None:
        """Select a token and bring its round into the window; what isn't there stays unselected."""
        if self.trace is not None and token_at(self.trace, at, place) is not None:
            self.token = (at, place)
            if not self.first <= at < self.first + COLUMNS:
                self.first = at // COLUMNS * COLUMNS

    def may_load(self, chosen: str) -> bool:
        """Whether both models may be loaded: a file must not make the app fetch a model."""
        trace = self.trace
        if trace is None or self.source != "file":
            return trace is not None
        drafts = {"", str(st.session_state.get("draft") or "").strip()}
        known = trace.draft_id in drafts or models.is_embedded(trace.draft_id)
        return known and super().may_load(chosen)

    def progress(self) -> dict[str, tuple[object, ...]]:
        """Where each work stands; a measurement's stage is shown by its own row, which is polled:
        drawing the page anew at every run of it would take its time."""
        found = super().progress()
        return {name: s[-1:] if name in MEASUREMENTS else s for name, s in found.items()}

    def measuring(self) -> bool:
        """Whether anything runs the models now."""
        return any(self.active(name) for name in ("decode", *MEASUREMENTS))


def telling_token(trace: Trace) -> tuple[int, int] | None:
    """The first token rejected by chance, else the first rejected one, else the first of all."""
    rejected = [(at, len(s.accepted)) for at, s in enumerate(trace.rounds) if s.recovered]
    by_chance = [key for key in rejected if trace.rounds[key[0]].drafted[key[1]].accept_prob > 0]
    if rejected:
        return (by_chance or rejected)[0]
    if not trace.rounds:
        return None
    return (0, 0) if trace.rounds[0].drafted else (0, EXTRA)


def place_in_text(tokens: list[Emitted], token: tuple[int, int] | None) -> int:
    """Where the selected token stands in the text; -1 for one that was not emitted."""
    return next((at for at, found in enumerate(tokens) if (found.round, found.place) == token), -1)


def view() -> SpecView:
    """This session's view of the speculative page, with the stored example at first."""
    if "speculative" not in st.session_state:
        found = SpecView()
        example = load_example()
        if example is not None:
            found.show(example, "example")
        st.session_state["speculative"] = found
    shown: SpecView = st.session_state["speculative"]
    return shown


def load_example() -> Trace | None:
    """The stored run; None where the file is missing or damaged."""
    return stored.example(EXAMPLE, Trace.load)


def settle(found: SpecView) -> None:
    """Take over what finished work has left."""
    run_bar.settle(found)
    for name in MEASUREMENTS:
        job = found.jobs.get(name)
        if job is not None and not job.active and not job.error:
            if job.result is not None:
                setattr(found, name, job.result)
            del found.jobs[name]
            found.seen.pop(name, None)


def so_far(found: SpecView, job: Job) -> Trace | None:
    """A run that goes on as a trace, up to now; None before its first round."""
    steps = [step for step in tuple(job.steps) if isinstance(step, DraftRound)]
    if found.request is None or not steps:
        return None
    return Trace(
        model_id=found.request.model,
        prompt=found.request.prompt,
        prompt_ids=(),
        config=found.request.config,
        steps=tuple(steps),
        token_ids=tuple(token for step in steps for token in step.token_ids),
        text="".join(step.text for step in steps),
        finish_reason="cancelled",
        timings=Timings(0.0, 0.0, job.seconds),
        draft_id=found.request.draft,
    )


def needs_run(trace: Trace, wanted: Speculative, chosen_draft: str) -> bool:
    """Whether the controls describe another run than the one that is shown."""
    return trace.config != wanted or trace.draft_id != chosen_draft
