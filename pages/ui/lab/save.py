"""A step of the lab out of the app and back in: its file, and a web page of its figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core import figures
from core.decoding.counting import nth
from core.decoding.lab.types import LabExample, LabStep
from core.decoding.trace import Trace
from core.export.part import Part, of_figure
from core.export.subject import Subject
from core.export.tables import step_tables
from core.figures.base.theme import LIGHT, Theme
from core.traces.lab import lab_bytes
from pages.ui.lab import tabs, work
from pages.ui.lab.controls import LabSettings
from pages.ui.lab.state import Lab, StepRef
from pages.ui.run import save
from pages.ui.run.archive import Shelf
from pages.ui.widgets import style

_WAIT = "wait until it is measured, which takes a moment after a knob was moved"


def menu(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    """Everything that takes the step along, as the knobs have made it until it is asked for."""

    def now() -> LabExample:
        key, newest = lab.step_of, lab.step
        if key is None or newest is None or key[0] != ref:
            return shown(lab, ref, settings, step)
        return shown(lab, ref, LabSettings(*key[1:]), newest)

    name = f"decoding-lab-seed{settings.config.seed}"
    file = lambda: lab_bytes(now())  # noqa: E731
    tables = lambda: step_tables(now().step.step, now().step.trace)  # noqa: E731
    figures_now = lambda paper: parts(now())  # noqa: ARG005, E731
    subject = lambda: Subject.of_trace(_read_before(now().step), file())  # noqa: E731
    shelf = Shelf(name, "", subject, figures_now, tables)
    save.save(shelf, file, lambda: web_page(now(), style.theme()))


def shown(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> LabExample:
    """The step with what was worked out of it under these settings."""
    found: dict[str, Any] = {}
    for name in ("flips", "rolls", "sweep"):
        measured = work.known(lab, name, ref, settings, step)
        if measured is not None:
            found[name] = measured
    grown = tabs.shown_rows(lab, ref)
    return LabExample(ref.index, step, continuations=grown, **found)


def parts(example: LabExample) -> list[Part]:
    """The figures of a step; those of what was not measured yet say so."""
    step, at = example.step, f"step-{nth(example.index)}"
    found = [
        of_figure(f"stages-{at}", figures.lab_stages, step),
        of_figure(f"draw-{at}", figures.lab_draw, step),
        *_measured(example, at),
    ]
    if grown := example.continuations:
        return [*found, of_figure(f"tree-{at}", figures.lab_tree, grown)]
    return [*found, Part("tree", needs="write continuations first")]


def _measured(example: LabExample, at: str) -> list[Part]:
    step = example.step
    boundaries = figures.lab_decision_boundaries, (step, example.flips), _WAIT
    rolls = figures.lab_rolls, (example.rolls,), f"open 1,000 rolls and {_WAIT}"
    heats = figures.lab_sweep, (example.sweep,), f"open Temperature and {_WAIT}"
    named = {"boundaries": boundaries, "rolls": rolls, "temperatures": heats}
    return [
        of_figure(f"{name}-{at}", draw, step, table[-1], table=table)
        if table[-1]
        else Part(name, needs=needs)
        for name, (draw, table, needs) in named.items()
    ]


def web_page(example: LabExample, theme: Theme = LIGHT) -> bytes:
    """The figures of a step as one page that needs no server and no network."""
    step = example.step
    title, settings = "Decoding Explorer: one step", figures.lab_caption(step)
    told = {"title": title, "settings": settings}
    return save.web_page(_read_before(step), parts(example), theme, **told)


def _read_before(step: LabStep) -> Trace:
    return replace(step.trace, prompt=step.text_before, rendered_prompt="")
