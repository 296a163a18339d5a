"""What one browser session looks at on the Decode page: a run and a step of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, Self

import streamlit as st

from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.figures.opening import most_open_step
from pages.ui import platform
from pages.ui.run import address
from pages.ui.run.view import Source, View
from pages.ui.widgets.controls import link

# In the address.
_STEP = "step"
_OTHERWISE = "its most uncertain one is selected"


class LinkedStep(Protocol):
    """What a link has opened, and the step as the link names it."""

    linked: str

    @property
    def steps(self) -> Sequence[TokenStep]: ...

    def select(self, index: int) -> None: ...


class CacheRuns(NamedTuple):
    """One run with the KV cache on and off, several times and in turns."""

    on: tuple[Trace, ...]
    off: tuple[Trace, ...]


@dataclass(eq=False)
class DecodeView(View):
    """One session's view of one run; `first` is the first step of the heatmap.

    Args:
        prompt_first: where the window of the prompt begins.
        compared: the same run with the KV cache on and off, once both were timed in turns.
        linked: the step as the link which opened the page names it, until a run has shown it.
    """

    key: ClassVar[str] = "view"
    example: ClassVar[str] = "decode.json"
    measurements: ClassVar[dict[str, str]] = {"compare": "compared"}
    of_trace: ClassVar[tuple[str, ...]] = ("check", "logits", "compare")

    prompt_first: int = 0
    compared: CacheRuns | None = None
    linked: str = ""

    @classmethod
    def initial(cls) -> Self:
        """The example, at the step that the address names, else at the most uncertain one."""
        found = super().initial()
        found.linked = st.query_params.get(platform.key(_STEP), "")
        if st.query_params.get(platform.key("run")) != "1":
            follow_link(found, _OTHERWISE)
        return found

    @classmethod
    def elsewhere(cls) -> Self:
        """This session's view, seen from a page whose address names a step of its own."""
        platform.keep(platform.key(cls.key), super().initial)
        return cls.current()

    def show(self, trace: Trace, source: Source) -> None:
        """Look at another run."""
        super().show(trace, source)
        self.prompt_first = 0
        self.select(most_open_step(trace))
        if source == "run":
            follow_link(self, _OTHERWISE)

    def follow(self, other: DecodeView) -> None:
        """Look at the run and the step of another slot."""
        if other is not self and other.trace is not None:
            self.show(other.trace, other.source)
            self.asked = other.asked
            self.select(other.selected)

    @property
    def untouched(self) -> bool:
        """Whether this is the example still, at the step that it opened with."""
        return (
            self.source == "example"
            and self.trace is not None
            and self.selected == most_open_step(self.trace)
        )


def follow_link(view: LinkedStep, otherwise: str) -> None:
    """Look at the step that the link names; where the run has none such, say so.

    Args:
        otherwise: which one is looked at then.
    """
    step = link.whole(view.linked)
    if step is not None and step < len(view.steps):
        view.select(step)
    elif view.linked:
        told = f"{link.quoted(view.linked)} in the link is no step of this run"
        link.tell(f"{told} (links count from 0): {otherwise}.")
    view.linked = ""


def tell_step(view: DecodeView) -> None:
    """Let the address name the selected step, where it isn't the one that is shown first."""
    first = view.trace is None or view.selected == most_open_step(view.trace)
    waits = view.linked and view.active("decode")
    if not waits:
        address.tell(_STEP, None if first else str(view.selected))


def uncertain_steps(trace: Trace) -> list[int]:
    """Steps with more entropy than the run's mean; a fixed bound would mark all steps or none."""
    entropies = [step.entropy for step in trace.token_steps]
    mean = sum(entropies) / max(len(entropies), 1)
    return [at for at, entropy in enumerate(entropies) if entropy > mean]


def median_run(runs: Sequence[Trace]) -> Trace:
    """The run in the middle by its time; of an even number the quicker of the two."""
    timed = sorted(runs, key=lambda run: run.timings.prefill + run.timings.decode)
    return timed[(len(runs) - 1) // 2]
