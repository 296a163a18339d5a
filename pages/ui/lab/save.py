"""A step of the lab out of the app and back in: its file, and a web page of its figures."""

from __future__ import annotations

from typing import Any, cast

from core import figures
from core.decoding.lab.types import LabExample, LabStep
from core.export.stored_parts import lab_parts
from core.export.subject import Subject
from core.export.tables import read_before, step_tables
from core.figures.base.theme import LIGHT, Theme
from core.language import tr
from core.traces.lab import lab_bytes
from pages.ui.lab import tabs, work
from pages.ui.lab.controls import LabSettings
from pages.ui.lab.state import MEASURED, Lab, StepRef, load_example
from pages.ui.run.files import save
from pages.ui.run.files.archive import ArchiveSource
from pages.ui.widgets import style


def menu(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    """Everything that takes the step along, as the knobs have made it until it is asked for."""

    def now() -> LabExample:
        key, newest = lab.step_of, lab.step
        if key is None or newest is None or key[0] != ref:
            return shown(lab, ref, settings, step)
        return shown(lab, ref, LabSettings(*cast("tuple[Any, ...]", key[1:])), newest)

    name = f"decoding-lab-seed{settings.config.seed}"

    def file() -> bytes:
        return lab_bytes(now())

    source = ArchiveSource(
        name,
        "",
        lambda: Subject.of_trace(read_before(now().step), file()),
        lambda _: lab_parts(now()),
        lambda: step_tables(now().step.step, now().step.trace),
    )
    save.save(source, file, lambda: web_page(now(), style.theme()))


def shown(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> LabExample:
    """The step with what was worked out of it under these settings."""
    results: dict[str, Any] = {}
    for name in MEASURED:
        measured = work.known(lab, name, ref, settings, step)
        if measured is not None:
            results[name] = measured
    grown = tabs.shown_rows(lab, ref)
    return LabExample(ref.index, step, continuations=grown, **results)


def web_page(example: LabExample, theme: Theme = LIGHT) -> bytes:
    """The figures of a step as one page that needs no server and no network."""
    step = example.step
    title, settings = tr("Decoding Explorer: one step"), figures.lab_caption(step)
    parts = lab_parts(example)
    return save.web_page(read_before(step), parts, theme, title=title, settings=settings)


def stored_page() -> bytes | None:
    """Return the web page of the stored step; None if its file can't be read."""
    example = load_example()
    return web_page(example) if example else None
