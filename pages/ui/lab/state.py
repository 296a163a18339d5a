"""What one session of the sampling lab looks at, and the work under way for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from core.decoding.lab.types import Continuations, LabExample, LabStep
from core.decoding.trace import Trace
from core.traces.lab import load_lab, telling_step
from pages.ui.decode import controls
from pages.ui.decode.sampling import DRAWS
from pages.ui.lab import controls as lab_controls
from pages.ui.run import state
from pages.ui.run.jobs import Job, start
from pages.ui.run.state import View
from pages.ui.shell import examples, models

EXAMPLE = Path(__file__).parents[3] / "assets" / "traces" / "lab.json"
MEASURED = ("flips", "rolls", "sweep")
# A link carries no more tokens than this.
MOST_LINKED = 1500
_LONGEST_LINK = 11 * MOST_LINKED + 500
# Work that is done within this time needs no second drawing.
PATIENCE_SECONDS = 0.25
# A measurement begins so long after the page was drawn: it would take the browser's time.
REST_SECONDS = 0.15


@dataclass(frozen=True, slots=True)
class Spot:
    """A step to look at.

    Args:
        ids: the tokens before it; None for those of the prompt.
        index: how many of them were generated: the first throw of the dice.
        revision: of the model that generated them, where it is known.
    """

    model: str
    prompt: str
    chat: bool = False
    system: str = ""
    ids: tuple[int, ...] | None = None
    index: int = 0
    revision: str = ""


@dataclass(eq=False)
class Lab:
    """One session's lab.

    Args:
        index: the step of the run that is looked at.
        from_file: the example came from a file that was opened, which anyone may have written.
        run_seen, asked: the run's view, and the prompt's controls, as the lab last saw them.
        linked: where the link or the file that was opened points, until another step is picked.
        allowed: models that the visitor asked to load here.
        step: what was drawn last, for `step_of`.
        jobs: `scene`, `flips`, `rolls`, `sweep` and `grow`.
        waiting: work that begins when the page is drawn, by name.
        wanted, kept: what each work was asked for, and the last one finished, by name.
        told: work whose failure the page has shown.
        flipped: the token before the last change of a knob, if it was another one.
        grown: continuations with the spot that they go on from.
        regrow: the link that opened the page tells of continuations.
        loadable: the model of the spot may be loaded.
        failure: why the file that was to be opened shows nothing.
    """

    example: LabExample | None = None
    from_file: bool = False
    index: int = 0
    run_seen: tuple[int, int] | None = None
    asked: tuple[object, ...] | None = None
    linked: Spot | None = None
    allowed: set[str] = field(default_factory=set)
    step: LabStep | None = None
    step_of: tuple[Hashable, ...] | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    waiting: dict[str, Callable[[Job], Any]] = field(default_factory=dict)
    wanted: dict[str, Hashable] = field(default_factory=dict)
    kept: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)
    told: dict[str, Job] = field(default_factory=dict)
    asked_for: set[str] = field(default_factory=set)
    flipped: str = ""
    grown: tuple[Spot, Continuations] | None = None
    regrow: bool = False
    loadable: bool = False
    failure: str = ""

    @property
    def shown(self) -> LabStep | None:
        """The step drawn last; the stored one before the first."""
        return self.step or (self.example.step if self.example else None)

    def later(self, name: str, key: Hashable, work: Callable[[Job], Any]) -> tuple[Any, bool]:
        """What the work gives for this key, and whether it is there; else the last one's.

        Work that has to be done first begins with `start_waiting`, so that it doesn't compete with
        the drawing of the page.
        """
        self.asked_for.add(name)
        self._settle(name)
        kept = self.kept.get(name)
        if kept is not None and kept[0] == key:
            return kept[1], True
        if self.wanted.get(name) != key or name not in self.jobs:
            self.wanted[name] = key
            self.waiting[name] = work
        return (kept[1] if kept else None), False

    def soon(self, name: str, key: Hashable, work: Callable[[Job], Any]) -> tuple[Any, bool]:
        """As `later`, but started at once and given a moment to finish."""
        found, ready = self.later(name, key, work)
        if not ready:
            if name in self.waiting:
                self._start(name)
            self.jobs[name].done.wait(PATIENCE_SECONDS)
            return self.later(name, key, work)
        return found, ready

    def start_waiting(self) -> None:
        """Start the work that waits, as soon as the controls and the browser rest."""
        for name in tuple(self.waiting):
            self._start(name, REST_SECONDS)

    def _start(self, name: str, rest: float = 0.0) -> None:
        """Start one work; what it replaces is stopped."""
        work = self.waiting.pop(name)
        if before := self.jobs.get(name):
            before.stop()
        self.jobs[name] = start(lambda job: None if job.stopping.wait(rest) else work(job))

    def stop_outdated(self, key: Hashable) -> None:
        """Stop what is measured under other settings, so that drawing has the processor."""
        for name in MEASURED:
            if name in self.jobs and self.wanted.get(name) != key:
                self.jobs[name].stop()

    def _settle(self, name: str) -> None:
        """Keep what work gave that has ended by itself; an error stays with its job."""
        job = self.jobs.get(name)
        if job is None or job.active or name in self.waiting:
            return
        if job.error:
            self.told[name] = job
            return
        del self.jobs[name]
        if not job.stopping.is_set():
            self.kept[name] = (self.wanted[name], job.result)

    def forget_unasked(self) -> None:
        """Take note of ended work that the page, as it was just drawn, has no use for."""
        for name, job in list(self.jobs.items()):
            if name in self.asked_for or job.active:
                continue
            if name != "grow":
                self._settle(name)
            self.told[name] = job

    def stores(self, spot: Spot) -> bool:
        """Whether the stored step is of this spot."""
        if self.example is None or spot.ids is None:
            return False
        trace = self.example.step.trace
        return (spot.model, spot.ids) == (trace.model_id, trace.prompt_ids)

    def scene_is(self, spot: Spot) -> bool:
        """Whether the spot's logits were read."""
        return self.kept.get("scene", (None,))[0] == spot

    def error(self, name: str) -> str:
        """Why the last work of this kind failed; counts as told from now on."""
        job = self.jobs.get(name)
        if job is None or job.active or not job.error:
            return ""
        self.told[name] = job
        return job.error

    def allow(self, model: str) -> None:
        """The visitor asked to load the model: what its file says is worked out anew."""
        self.allowed.add(model)
        self.step_of = None

    def try_again(self) -> None:
        """Forget what failed, so that it begins anew."""
        for name in [name for name, job in self.jobs.items() if job.error]:
            del self.jobs[name]

    def open(self, example: LabExample) -> None:
        """Look at a stored step."""
        for job in self.jobs.values():
            job.stop()
        trace, index = example.step.trace, example.index
        ids, revision = trace.prompt_ids, trace.model_revision
        self.linked = Spot(trace.model_id, trace.prompt, ids=ids, index=index, revision=revision)
        self.example, self.from_file = example, True
        self.step = self.step_of = self.grown = self.asked = None
        self.jobs, self.waiting, self.kept, self.flipped = {}, {}, {}, ""

    @property
    def under_way(self) -> bool:
        """Whether work goes on, or has ended since the page was drawn from it."""
        return any(self.told.get(name) is not job for name, job in self.jobs.items())

    @property
    def news(self) -> bool:
        """Whether work has ended that the page wasn't drawn from yet."""
        ended = [(name, job) for name, job in self.jobs.items() if not job.active]
        return any(self.told.get(name) is not job for name, job in ended)


def lab() -> Lab:
    """This session's lab; at first the stored example at its most telling step.

    Whoever has run or selected something on Decode before finds that step instead.
    """
    if "lab" not in st.session_state:
        view = state.view()
        made = Lab(example=load_example(), linked=_linked())
        made.regrow = st.query_params.get("grow") == "1"
        made.run_seen = (view.number, view.selected)
        if view.trace is not None:
            made.index = telling_step(view.trace) if view.untouched else view.selected
            if not view.untouched:
                _adopt(view.trace)
        st.session_state["lab"] = made
    found: Lab = st.session_state["lab"]
    return found


def _linked() -> Spot | None:
    """The step of the address: `prompt~generated~model`, the ids joined by dashes."""
    text = st.query_params.get("ids", "")
    parts = text.split("~", 2)
    if len(parts) != 3 or len(text) > _LONGEST_LINK:
        return None
    numbers = [half.split("-") if half else [] for half in parts[:2]]
    prompt, generated = numbers
    if not prompt or not parts[2] or len(prompt) + len(generated) > MOST_LINKED:
        return None
    if not all(_is_id(part) for part in (*prompt, *generated)):
        return None
    ids = tuple(map(int, (*prompt, *generated)))
    return Spot(parts[2], "", ids=ids, index=len(generated)) if max(ids) < 2**31 else None


def _is_id(part: str) -> bool:
    return len(part) <= 10 and part.isascii() and part.isdecimal()


def follow(found: Lab, view: View) -> None:
    """Take over what changed elsewhere: another run or step on Decode, another prompt."""
    seen = (view.number, view.selected)
    asked = tuple(controls.value(key) for key in ("model", "prompt", "chat", "system"))
    if seen != found.run_seen:
        found.run_seen, found.linked = seen, None
        pick(found, view.selected)
        _adopt(view.trace)
    elif found.asked is not None and asked != found.asked:
        st.session_state["at"] = "prompt"
    found.asked = asked


def pick(found: Lab, index: int) -> None:
    """Look at another step of the run, with the throw that the run made there."""
    found.index, found.linked = index, None
    st.session_state["at"] = "run"
    st.session_state["roll"] = 0


def _adopt(trace: Trace | None) -> None:
    """The dice of the run, so that the same throw draws the same token."""
    draw = getattr(trace.config, "draw", None) if trace is not None else None
    if draw in DRAWS:
        st.session_state["dice"] = draw


def spot_of(found: Lab, view: View) -> Spot:
    """The step that the controls point at."""
    if lab_controls.value("at") == "run":
        if found.linked is not None:
            return found.linked
        if view.trace is not None and view.trace.token_ids:
            return _spot_in(view.trace, found.index)
    return Spot(
        model=str(controls.value("model")).strip(),
        prompt=str(controls.value("prompt")),
        chat=bool(controls.value("chat")),
        system=str(controls.value("system")),
    )


def _spot_in(trace: Trace, index: int) -> Spot:
    at = max(0, min(index, len(trace.token_ids) - 1))
    ids = (*trace.prompt_ids, *trace.token_ids[:at])
    return Spot(trace.model_id, trace.prompt, ids=ids, index=at, revision=trace.model_revision)


def link_ids(found: Lab, view: View, spot: Spot) -> str | None:
    """What the address has to hold so that a link finds the spot; None where it finds it anyway."""
    if spot.ids is None or len(spot.ids) > MOST_LINKED:
        return None
    untouched = view.source == "example" and view.trace is not None
    if untouched and found.linked is None and found.index == telling_step(view.trace):  # type: ignore[arg-type]
        return None
    cut = len(spot.ids) - spot.index
    halves = ("-".join(map(str, half)) for half in (spot.ids[:cut], spot.ids[cut:]))
    return "~".join((*halves, spot.model))


def may_load(found: Lab, view: View, spot: Spot) -> bool:
    """Whether the spot's model may be loaded: never by a link or a file alone."""
    own_run = view.source == "run" and view.trace is not None
    return (
        found.scene_is(spot)
        or spot.model in found.allowed
        or models.is_embedded(spot.model)
        or (own_run and view.trace.model_id == spot.model)  # type: ignore[union-attr]
    )


def load_example() -> LabExample | None:
    """The stored example; None where the file is missing or damaged."""
    return examples.example(EXAMPLE, load_lab)
