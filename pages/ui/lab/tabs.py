"""What else the lab shows of a step, one look at a time: rolls, temperatures, continuations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core import figures
from core.decoding.lab.types import Continuations, LabStep, distinct
from pages.ui.lab import api_logprobs, controls, work
from pages.ui.lab.controls import LOOKS, Settings
from pages.ui.lab.state import Lab, Spot
from pages.ui.run import jobs
from pages.ui.shell import models
from pages.ui.widgets import figure

_NOT_THERE = "The file holds nothing of this, and its model is not loaded."


def draw(lab: Lab, spot: Spot, settings: Settings, step: LabStep) -> None:
    """The tabs; only the open one is worked out."""
    _settle(lab)
    _write_address(lab, spot, settings)
    with st.container(key="more"):
        rolls, sweep, ways, api = st.tabs(
            LOOKS, key="lab_look", on_change="rerun", bind="query-params"
        )
        if rolls.open:
            with rolls:
                _rolls(lab, spot, settings, step)
        if sweep.open:
            with sweep:
                _sweep(lab, spot, settings, step)
        if ways.open:
            with ways:
                _ways(lab, spot, settings)
        if api.open:
            with api:
                api_logprobs.draw()


def _rolls(lab: Lab, spot: Spot, settings: Settings, step: LabStep) -> None:
    found = work.rolls(lab, spot, settings, step)
    _chart("rolls", found, "Rolling…", figures.lab_rolls, figures.lab_rolls_data)


def _sweep(lab: Lab, spot: Spot, settings: Settings, step: LabStep) -> None:
    found = work.sweep(lab, spot, settings, step)
    _chart("sweep", found, "Trying every temperature…", figures.lab_sweep, figures.lab_sweep_data)


def _chart(
    name: str,
    found: work.Measured,
    waiting: str,
    draw: Callable[..., go.Figure],
    data: Callable[..., pd.DataFrame],
) -> None:
    """A figure of what was worked out beside the page, or what it waits for."""
    if found.value is None:
        st.text(_NOT_THERE if found.ready else waiting)
        return
    with measured(name, found):
        figure.chart(
            name,
            lambda theme: draw(found.step, found.value, theme=theme),
            lambda: data(found.value),
            (found.step, found.value),
        )


def measured(name: str, found: work.Measured) -> st.delta_generator.DeltaGenerator:
    """Where a figure of what was worked out stands; its mark makes it pale while it is outdated.

    The container's own name stays: under another one the browser would draw the chart anew.
    """
    place = st.container(key=f"measured-{name}", gap=None)
    place.html("<i hidden></i>" if found.ready else '<i hidden class="de-before"></i>')
    return place


def _settle(lab: Lab) -> None:
    """Take over continuations that are done."""
    lab.asked_for.add("grow")
    job = lab.jobs.get("grow")
    if job is None or job.active or lab.error("grow"):
        return
    del lab.jobs["grow"]
    if job.result is not None:
        lab.grown = job.result


def _write_address(lab: Lab, spot: Spot, settings: Settings) -> None:
    """A link grows continuations again only where they are those of its own settings."""
    grown = lab.grown
    shown = grown is not None and grown[0] == spot and not _changed(grown[1], settings)
    if shown or lab.regrow or "grow" in lab.jobs:
        if st.query_params.get("grow") != "1":
            st.query_params["grow"] = "1"
    elif "grow" in st.query_params:
        del st.query_params["grow"]


def _changed(grown: Continuations, settings: Settings) -> bool:
    """Whether pressing Continue would give other rows."""
    ways, tokens = int(controls.value("ways")), int(controls.value("length"))
    config = replace(settings.config, max_new_tokens=tokens)
    return (grown.config, len(grown.sampled)) != (config, ways)


def _ways(lab: Lab, spot: Spot, settings: Settings) -> None:
    job = lab.jobs.get("grow")
    with st.container(key="grow-row", horizontal=True, vertical_alignment="center", gap="small"):
        controls.ways()
        _restore(lab, spot, settings)
        _button(lab, spot, settings, job)
        controls.fold()
    if job is not None and job.active:
        st.fragment(_live, run_every=jobs.POLL_SECONDS)(job)
    elif job is not None and job.error:
        st.text(job.error)
    grown = shown_rows(lab, spot)
    if grown is not None:
        _tree(grown, settings)


def _button(lab: Lab, spot: Spot, settings: Settings, job: jobs.Job | None) -> None:
    """One button in one place: Continue, or Stop while it goes on."""
    if job is not None and job.active:
        st.button(
            "Stopping" if job.stopping.is_set() else "Stop",
            key="stop_grow",
            icon=":material/stop:",
            disabled=job.stopping.is_set(),
            on_click=job.stop,
        )
        return
    st.button(
        "Continue",
        key="start_grow",
        icon=":material/play_arrow:",
        on_click=_start,
        args=(lab, spot, settings),
        disabled=not lab.loadable,
    )


def _start(lab: Lab, spot: Spot, settings: Settings) -> None:
    ways, tokens = int(controls.value("ways")), int(controls.value("length"))
    lab.jobs["grow"] = work.grow(spot, settings, ways, tokens)


def _restore(lab: Lab, spot: Spot, settings: Settings) -> None:
    """Continue again what a copied link tells of; only built-in models load by a link alone."""
    if not lab.regrow:
        return
    lab.regrow = False
    if models.is_embedded(spot.model):
        _start(lab, spot, settings)
        st.rerun()


def _live(job: jobs.Job) -> None:
    job.watch()
    if not job.active:
        st.rerun()
    st.text(f"{job.stage} · {job.seconds:.1f} s")


def shown_rows(lab: Lab, spot: Spot) -> Continuations | None:
    """The continuations of this spot; the stored ones at the stored step."""
    if lab.grown is not None and lab.grown[0] == spot:
        return lab.grown[1]
    return lab.example.continuations if lab.example is not None and lab.stores(spot) else None


def _tree(grown: Continuations, settings: Settings) -> None:
    changed = _changed(grown, settings)
    with st.container(key="note-changed" if changed else "note-plain"):
        st.text(
            "Other settings since: press Continue to sample anew."
            if changed
            else "One batch, each row with dice of its own: row i is what a run with its seed "
            "gives, in transformers' order."
        )
    fold = bool(controls.value("fold"))
    with st.container(key="tree-wide"):
        figure.chart(
            "tree",
            lambda theme: figures.lab_tree(grown, fold=fold, theme=theme),
            lambda: figures.lab_tree_data(grown),
            (grown, fold),
        )
    st.dataframe(
        figures.rows_data(grown.rows),
        hide_index=True,
        key="grown-rows",
        column_config={
            "text": st.column_config.TextColumn(width="large"),
            "mean ln p": st.column_config.NumberColumn(format="%.3f", help="Nats a token."),
            "distinct-1": st.column_config.NumberColumn(format="%.2f"),
            "distinct-2": st.column_config.NumberColumn(format="%.2f"),
        },
    )
    st.caption(_together(grown))


def _together(grown: Continuations) -> str:
    shares = [(n, distinct(grown.sampled, n)) for n in (1, 2)]
    words = ", ".join(f"distinct-{n} {share:.2f}" for n, share in shares if share is not None)
    return (
        f"The sampled rows together: {words} (different n-grams over all n-grams). Mean ln p is of "
        "the model's own probabilities, before the knobs."
    )
