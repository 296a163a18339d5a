"""The tab of a run's constraint: the mass that it allowed, and its price against the free run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from core import figures
from core.decoding.record.trace import Trace
from pages.ui.decode.state import DecodeView
from pages.ui.run import jobs
from pages.ui.run.display import bar
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.parts import PagePart
from pages.ui.run.view import select_step
from pages.ui.widgets.controls.control import value

_WORK = "free"


CONSTRAINT = PagePart(
    "constraint",
    figures.constraint_masses,
    lambda view, trace: (
        {"trace": trace, "selected": view.selected, "free": view.free}
        if trace.config.shaping.constraint
        else None
    ),
)


def draw(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    """The button that runs without the constraint, and the figure of the allowed mass."""
    bar.measure(
        view,
        _WORK,
        "Price it against the free run",
        partial(_start, view, trace),
        "The same settings and dice without the constraint.",
        row="free-row",
        key="run_free",
        icon="balance",
        disabled=not view.may_load(str(value("model"))) or "decode" in view.jobs,
        progress=lambda job: f"{job.tokens:,} tokens",
    )
    figure.chart(
        CONSTRAINT.part(view, trace),
        (view.number, view.selected, view.free is not None),
        on_click=partial(select_step, view, redraw),
        across=True,
    )


def _start(view: DecodeView, trace: Trace) -> None:
    view.attempt(_WORK, partial(run_free, trace))


@jobs.in_background
def run_free(job: Job, trace: Trace) -> Trace | None:
    """Run the same settings without the constraint; None where it was stopped."""
    from core import collect

    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    config = replace(trace.config, shaping=replace(trace.config.shaping, constraint=None))
    run = job.compute(
        "Running", collect, model, trace.prompt_ids, config, draft=draft, on_step=job.steps.append
    )
    return None if job.should_stop() else run
