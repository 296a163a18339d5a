"""Session state of the sampling lab: the selected step and its background jobs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import streamlit as st

from core.decoding.lab.types import Continuations, LabExample, LabStep
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.language import tr
from core.traces.lab import load_lab, telling_step
from pages.ui import platform
from pages.ui.decode.methods.sampling import DRAWS
from pages.ui.decode.state import DecodeView
from pages.ui.resources import examples, models
from pages.ui.run import address, shared
from pages.ui.run.view import PageView
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import value

MEASURED = ("flips", "cuts", "rolls", "sweep")
# A link carries no more tokens than this.
MOST_LINKED = 1500
_LONGEST_LINK = 11 * MOST_LINKED + 500


@dataclass(frozen=True, slots=True)
class StepRef:
    """A step to look at.

    Args:
        ids: the tokens before it; None for those of the prompt.
        index: how many of them were generated: the first roll of the dice.
        states: of samplers at the step, as the run recorded them.
        revision, dtype: of the model that generated them, where it is known.
    """

    model: str
    prompt: str
    chat: bool = False
    system: str = ""
    ids: tuple[int, ...] | None = None
    index: int = 0
    states: tuple[tuple[str, float], ...] = ()
    revision: str = ""
    dtype: str = ""


@dataclass(eq=False)
class Lab(PageView):
    """One session's lab; its keyed work is `logits` and those in `MEASURED`.

    Args:
        index: the step of the run that is looked at.
        from_file: the example came from a file that was opened, which anyone may have written.
        run_seen: the view of the Decode page, as the lab last saw it.
        prompt_inputs: values of the prompt's controls, as the lab last saw them.
        linked: where the link or the file that was opened points, until another step is picked.
        allowed: models that the visitor asked to load here.
        step: what was drawn last, for `step_of`.
        flipped: the token before the last change of a knob, if it was another one.
        moved: a control was changed here since a step was drawn.
        grown: continuations with the step that they go on from.
        regrow: the link that opened the page asks for continuations.
        loadable: the model of the step may be loaded.
    """

    key: ClassVar[str] = "lab"

    example: LabExample | None = None
    from_file: bool = False
    index: int = 0
    run_seen: tuple[int, int] | None = None
    prompt_inputs: tuple[object, ...] | None = None
    linked: StepRef | None = None
    allowed: set[str] = field(default_factory=set)
    step: LabStep | None = None
    step_of: tuple[Hashable, ...] | None = None
    flipped: str = ""
    moved: bool = False
    grown: tuple[StepRef, Continuations] | None = None
    regrow: bool = False
    loadable: bool = False

    @classmethod
    def initial(cls) -> Self:
        """The stored example at its most telling step.

        Whoever has run or selected something on Decode before finds that step instead.
        """
        made, view = cls(example=load_example(), linked=_linked()), DecodeView.current()
        if made.linked is None and st.query_params.get(platform.key("ids")):
            link.report(tr("The step in the link can't be read: one of the run is shown instead."))
        made.regrow = st.query_params.get(platform.key("grow")) == "1"
        made.run_seen = (view.number, view.selected)
        if view.trace is not None:
            made.index = telling_step(view.trace) if view.untouched else view.selected
            if not view.untouched:
                _take_dice(view.trace)
        return made

    def collect(self, name: str, result: Any) -> None:
        """Take over continuations that are done."""
        if name == "grow" and result is not None:
            self.grown = result

    @property
    def shown(self) -> LabStep | None:
        """The step drawn last; the stored one before the first."""
        return self.step or (self.example.step if self.example else None)

    def stop_outdated(self, key: Hashable) -> None:
        """Stop what is measured under other settings, so that drawing has the processor."""
        for name in MEASURED:
            if name in self.jobs and self.pending_key.get(name) != key:
                self.jobs[name].stop()

    def stores(self, ref: StepRef) -> bool:
        """Return whether the stored step is this one."""
        if self.example is None or ref.ids is None:
            return False
        trace = self.example.step.trace
        return (ref.model, ref.ids) == (trace.model_id, trace.prompt_ids)

    def has_logits(self, ref: StepRef) -> bool:
        """Return whether the step's logits are in the cache."""
        return self.cached.get("logits", (None,))[0] == ref

    def allow(self, model: str) -> None:
        """The visitor asked to load the model: what its file says is worked out anew."""
        self.allowed.add(model)
        self.step_of = None
        self.memory.clear()

    def clear(self) -> None:
        follow(self, DecodeView.current())
        self.linked, self.flipped = None, ""

    def open(self, example: LabExample) -> None:
        """Look at a stored step."""
        self.drop(*self.jobs)
        self.deferred, self.cached, self.failures = {}, {}, {}
        trace, index = example.step.trace, example.index
        self.linked = _behind(trace, trace.prompt_ids, index, example.step.step)
        self.example, self.from_file = example, True
        self.step = self.step_of = self.grown = self.prompt_inputs = None
        self.memory.clear()
        self.flipped = ""


def _linked() -> StepRef | None:
    """The step of the address: `prompt~generated~model`, the ids joined by dashes."""
    text = st.query_params.get(platform.key("ids"), "")
    parts = text.split("~", 2)
    if len(parts) != 3 or len(text) > _LONGEST_LINK:
        return None
    numbers = [half.split("-") if half else [] for half in parts[:2]]
    prompt, generated = numbers
    if not prompt or not parts[2] or len(prompt) + len(generated) > MOST_LINKED:
        return None
    numbers_read = [link.whole(part, digits=10) for part in (*prompt, *generated)]
    ids = tuple(number for number in numbers_read if number is not None and number < 2**31)
    whole = len(ids) == len(numbers_read)
    return StepRef(parts[2], "", ids=ids, index=len(generated)) if whole else None


def follow(lab: Lab, view: DecodeView) -> None:
    """Take over what changed elsewhere: another run or step on Decode, another prompt.

    On the way to the page nothing is changed by hand, whatever the address says then.
    """
    if address.was_entered():
        lab.flipped, lab.moved = "", False
    seen = (view.number, view.selected)
    inputs = tuple(value(key) for key in ("model", "prompt", "chat", "system"))
    if seen != lab.run_seen:
        lab.run_seen, lab.linked = seen, None
        pick(lab, view.selected)
        _take_dice(view.trace)
    elif lab.prompt_inputs is not None and inputs != lab.prompt_inputs:
        st.session_state[platform.key("at")] = "prompt"
    lab.prompt_inputs = inputs


def pick(lab: Lab, index: int) -> None:
    """Look at another step of the run, with the roll that the run made there."""
    lab.index, lab.linked = index, None
    st.session_state[platform.key("at")] = "run"
    st.session_state[platform.key("roll")] = 0


def open_selected() -> None:
    """Look at the step that is selected on the Decode page."""
    view, lab = DecodeView.current(), Lab.current()
    if view.trace is not None:
        follow(lab, view)
        pick(lab, view.selected)
        _take_dice(view.trace)


def _take_dice(trace: Trace | None) -> None:
    """The dice of the run, so that the same roll draws the same token."""
    draw = getattr(trace.config, "draw", None) if trace is not None else None
    if draw in DRAWS:
        st.session_state[platform.key("dice")] = draw


def step_ref(lab: Lab, view: DecodeView) -> StepRef:
    """The step that the controls point at."""
    if value("at") == "run":
        if lab.linked is not None:
            return lab.linked
        if view.trace is not None and view.trace.token_ids:
            return _ref_in(view.trace, lab.index)
    return StepRef(
        model=shared.model(),
        prompt=str(value("prompt")),
        chat=bool(value("chat")),
        system=str(value("system")),
    )


def _ref_in(trace: Trace, index: int) -> StepRef:
    at = max(0, min(index, len(trace.token_ids) - 1))
    ids = (*trace.prompt_ids, *trace.token_ids[:at])
    return _behind(trace, ids, at, trace.token_steps[at] if trace.token_steps else None)


def _behind(trace: Trace, ids: tuple[int, ...], index: int, step: TokenStep | None) -> StepRef:
    """Return the step behind these tokens, in the model that made the trace."""
    return StepRef(
        trace.model_id,
        trace.prompt,
        ids=ids,
        index=index,
        states=() if step is None else tuple(step.states.items()),
        revision=trace.model_revision,
        dtype=trace.dtype,
    )


def link_ids(lab: Lab, view: DecodeView, ref: StepRef) -> str | None:
    """Return the token ids for a link to the step; None if not needed, unknown or too many."""
    if ref.ids is None or len(ref.ids) > MOST_LINKED:
        return None
    untouched = view.source == "example" and view.trace is not None
    if untouched and lab.linked is None and lab.index == telling_step(view.trace):  # type: ignore[arg-type]
        return None
    cut = len(ref.ids) - ref.index
    halves = ("-".join(map(str, half)) for half in (ref.ids[:cut], ref.ids[cut:]))
    return "~".join((*halves, ref.model))


def may_load(lab: Lab, view: DecodeView, ref: StepRef) -> bool:
    """Return whether the step's model may be loaded: never by a link or a file alone."""
    own_run = view.source in ("run", "request", "many") and view.trace is not None
    return (
        lab.has_logits(ref)
        or ref.model in lab.allowed
        or models.is_embedded(ref.model)
        or (own_run and view.trace.model_id == ref.model)  # type: ignore[union-attr]
    )


def load_example() -> LabExample | None:
    """The stored example; None where the file is missing or damaged."""
    return examples.example("lab.json", load_lab)
