"""The tab of a run's constraint: the mass that it allowed, and its price against the free run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from core import figures
from core.decoding.counting import counted
from core.decoding.record.trace import Trace
from core.language import N_, tr
from pages.ui.run import jobs
from pages.ui.run.display import bar
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.parts import PagePart
from pages.ui.run.view import FREE, View
from pages.ui.widgets.controls.control import value


def part_of(selection: Callable[[Any], Mapping[str, Any]] = lambda _: {}) -> PagePart:
    """Return a page's figure of the allowed mass.

    Args:
        selection: the selected step or node of the view, as arguments of the figure.
    """
    return PagePart(
        "constraint",
        figures.constraint_masses,
        lambda view, trace: (
            {"trace": trace, "free": view.free, **selection(view)}
            if trace.config.shaping.constraint
            else None
        ),
    )


def tab(
    view: View,
    trace: Trace,
    part: PagePart,
    depends: Hashable,
    on_click: Callable[[list[object]], None] | None = None,
    then: Callable[[], None] = lambda: None,
) -> dict[str, Tab]:
    """Return the tab by its key; none for a run without a constraint.

    Args:
        depends: the selection that the figure shows.
        then: draws what follows below the figure.
    """

    def start() -> None:
        view.attempt(FREE, partial(run_free, trace))

    def draw() -> None:
        bar.measure(
            view,
            FREE,
            N_("Price it against the free run"),
            start,
            N_("The same settings and dice without the constraint."),
            row="free-row",
            key="run_free",
            icon="balance",
            disabled=not view.may_load(str(value("model"))) or "decode" in view.jobs,
            progress=lambda job: tr(counted(job.tokens, "token")),
        )
        figure.chart(
            part.part(view, trace),
            (view.number, depends, view.free is not None),
            on_click=on_click,
            across=True,
        )
        then()

    return {"constraint": Tab(N_("Constraint"), draw)} if trace.config.shaping.constraint else {}


@jobs.in_background
def run_free(job: Job, trace: Trace) -> Trace | None:
    """Run the same settings without the constraint; None where it was stopped."""
    from core import collect

    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    config = replace(trace.config, shaping=replace(trace.config.shaping, constraint=None))
    run = job.compute(
        N_("Running"),
        collect,
        model,
        trace.prompt_ids,
        config,
        draft=draft,
        on_step=job.steps.append,
    )
    return None if job.should_stop() else run
