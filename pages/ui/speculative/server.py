"""The tab of the server's own speculation, where the target is on a server."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import figures
from core.decoding.by_engine.config import ByEngine
from core.decoding.record.trace import Trace
from core.figures.base.labels import config_caption
from core.language import N_, tr
from pages.ui.resources import models
from pages.ui.run import jobs, shared
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.speculative import controls, measurement, parts
from pages.ui.speculative.state import ServerRun, SpecView
from pages.ui.widgets import table

_HINT = N_("One request: the server drafts, judges and draws, and tells how much it accepted.")


def is_there() -> bool:
    """Return whether the chosen target is on a server."""
    return models.is_on_server(shared.model())


def draw(view: SpecView, trace: Trace) -> None:
    """The run by the server, its rounds or positions, and the table."""
    measurement.row(view, "server", N_("Run speculation on the server"), _start, _HINT)
    run = view.server
    if run is not None:
        figure.chart(parts.SERVER.part(view, trace), (view.number, run))
        table.draw("server-counts", figures.server_speculation_data(run.speculation))
        st.caption(
            tr(
                "Counters of the server's /metrics before and after the run: what it served to "
                "others meanwhile counts too. Rounds come with --per-request-spec-decode-metrics "
                "detailed."
            )
        )


def _start() -> Job:
    request = controls.request()
    config = request.config
    seed, limit = getattr(config, "seed", 0), config.max_new_tokens
    return _run(
        replace(request, draft=""),
        ByEngine(max_new_tokens=limit, seed=seed, shaping=config.shaping),
    )


@jobs.in_background
def _run(job: Job, request: Request, config: ByEngine) -> ServerRun | None:
    from core.models.remote.speculation import speculation_in_a_run

    model = jobs.load(job, request.model)
    prompt = request.prompt_for(model)
    speculation = job.compute(N_("The server runs"), speculation_in_a_run, model, prompt, config)
    return (
        None
        if speculation is None
        else ServerRun(speculation, config_caption(model.model_id, config))
    )
