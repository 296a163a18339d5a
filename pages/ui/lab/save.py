"""A step of the lab out of the app and back in: its file, and a web page of its figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core import figures
from core.decoding.lab.types import LabExample, LabStep
from core.figures.base.theme import LIGHT, Theme
from core.traces.lab import lab_bytes
from pages.ui.lab import tabs, work
from pages.ui.lab.controls import Settings
from pages.ui.lab.state import Lab, StepRef
from pages.ui.run import save


def menu(lab: Lab, ref: StepRef, settings: Settings, step: LabStep) -> None:
    """Everything that takes the step along, as the knobs have made it until it is asked for."""

    def now() -> LabExample:
        key, newest = lab.step_of, lab.step
        if key is None or newest is None or key[0] != ref:
            return shown(lab, ref, settings, step)
        return shown(lab, ref, Settings(*key[1:]), newest)

    save.save(
        f"decoding-lab-seed{settings.config.seed}",
        lambda: lab_bytes(now()),
        lambda: web_page(now()),
    )


def shown(lab: Lab, ref: StepRef, settings: Settings, step: LabStep) -> LabExample:
    """The step with what was worked out of it under these settings."""
    found: dict[str, Any] = {}
    for name in ("flips", "rolls", "sweep"):
        measured = work.known(lab, name, ref, settings, step)
        if measured is not None:
            found[name] = measured
    grown = tabs.shown_rows(lab, ref)
    return LabExample(ref.index, step, continuations=grown, **found)


def web_page(example: LabExample, theme: Theme = LIGHT) -> bytes:
    """The figures of a step as one page that needs no server and no network."""
    step = example.step
    drawn = [figures.lab_stages(step, theme=theme), figures.lab_draw(step, theme=theme)]
    if example.flips:
        drawn.append(figures.lab_decision_boundaries(step, example.flips, theme=theme))
    if example.rolls:
        drawn.append(figures.lab_rolls(step, example.rolls, theme=theme))
    if example.sweep:
        drawn.append(figures.lab_sweep(step, example.sweep, theme=theme))
    if example.continuations:
        drawn.append(figures.lab_tree(example.continuations, theme=theme))
    trace = replace(step.trace, prompt=step.text_before, rendered_prompt="")
    title = "Decoding Explorer: one step"
    return save.document(trace, drawn, theme, title=title, settings=figures.lab_caption(step))
