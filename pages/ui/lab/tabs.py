"""Draw the lab's tabs on a step: rolls, temperatures, all cuts, continuations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from core import figures
from core.decoding.counting import nth, sentences
from core.decoding.lab.types import Continuations, LabStep, distinct
from core.decoding.shaping.library_table import library_table
from core.export.part import of_figure
from core.figures.base.figure import Figure
from core.figures.lab.words import lab_caption
from core.language import N_, tr
from pages.ui import platform
from pages.ui.lab import api_logprobs, work
from pages.ui.lab.controls import LabSettings
from pages.ui.lab.state import Lab, StepRef
from pages.ui.resources import models
from pages.ui.run import address, jobs
from pages.ui.run.display import bar, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import figure
from pages.ui.run.jobs import Job
from pages.ui.widgets import closed, table
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import value

_NOT_THERE = N_("The file has no such measurement, and its model is not loaded.")


def draw(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    """The tabs; only the open one is worked out."""
    _write_address(lab, ref, settings)
    drawings = {
        "rolls": Tab(N_("1,000 rolls"), partial(_rolls, lab, ref, settings, step)),
        "sweep": Tab(N_("Temperature"), partial(_sweep, lab, ref, settings, step)),
        "cuts": Tab(N_("All cuts"), partial(_cuts, lab, ref, settings, step)),
        "tree": Tab(N_("Continuations"), partial(_ways, lab, ref, settings)),
        "logprobs": Tab(N_("API log-probabilities"), api_logprobs.draw),
        "libraries": Tab(N_("Libraries"), _libraries),
    }
    # The first three start work by being drawn.
    panel.tabs("lab_look", drawings, ready=("tree", "logprobs", "libraries"))


def _libraries() -> None:
    """Draw the table of samplers and libraries."""
    head, *rows = library_table()
    st.text(
        tr(
            "A number is the sampler's place in the library's order; a dash means that the library "
            "lacks it, and the column behind them says why."
        )
    )
    named = [row[0].replace("`", "").rstrip(")").split(" (", 1) for row in rows]
    columns = {
        head[0]: [tr(name) for name, _ in named],
        **{name: [tr(row[at]) for row in rows] for at, name in enumerate(head) if at},
        N_("settings"): [fields for _, fields in named],
    }
    widths = {head[0]: 160, **dict.fromkeys(head[1:-1], 70), head[1]: 100, head[-1]: 420}
    table.draw("libraries", columns, widths=widths)


def _cuts(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    cuts = work.measured(lab, "cuts", ref, settings, step)
    _chart("cuts", cuts, N_("Cutting…"), figures.lab_cuts)


def _rolls(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    rolls = work.measured(lab, "rolls", ref, settings, step)
    _chart("rolls", rolls, N_("Rolling…"), figures.lab_rolls)


def _sweep(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    sweep = work.measured(lab, "sweep", ref, settings, step)
    _chart("small-multiples", sweep, "", figures.lab_temperatures)
    _chart("sweep", sweep, N_("Trying every temperature…"), figures.lab_sweep)


def _chart(name: str, result: work.Measured, waiting: str, draw: Figure[...]) -> None:
    """A figure of what was worked out beside the page, or what it waits for."""
    if result.value is None:
        if waiting:
            st.text(tr(_NOT_THERE if result.ready else waiting))
        return
    with measured(name, result):
        part = of_figure(name, draw, result.step, result.value)
        figure.chart(part, (result.step, result.value), across=True)


def measured(name: str, result: work.Measured) -> st.delta_generator.DeltaGenerator:
    """The place of a figure of what was worked out; its mark makes it pale while it is outdated.

    The container's own name stays: under another one the browser would draw the chart anew.
    """
    figure.also_omit(lab_caption(result.step))
    place = st.container(key=platform.key(f"measured-{name}"), gap=None)
    place.html("<i hidden></i>" if result.ready else '<i hidden class="de-before"></i>')
    return place


def _write_address(lab: Lab, ref: StepRef, settings: LabSettings) -> None:
    """A link grows continuations again only where they are those of its own settings."""
    grown = lab.grown
    shown = grown is not None and grown[0] == ref and not _changed(grown[1], settings)
    is_linked = shown or lab.regrow or "grow" in lab.jobs or lab.failures.get("grow")
    address.write("grow", "1" if is_linked else None)


def _changed(grown: Continuations, settings: LabSettings) -> bool:
    """Return whether pressing Continue would give other rows."""
    ways, tokens = int(value("ways")), int(value("length"))
    config = replace(settings.config, max_new_tokens=tokens)
    return (grown.config, len(grown.sampled)) != (config, ways)


def _ways(lab: Lab, ref: StepRef, settings: LabSettings) -> None:
    with st.container(
        key=platform.key("grow-row"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        control.draw("ways", "length")
        _restore(lab, ref, settings)
        bar.button(
            lab,
            "grow",
            N_("Continue"),
            lambda: _start(lab, ref, settings),
            key="start_grow",
            stop_key="stop_grow",
            disabled=not lab.loadable,
        )
        control.draw("fold")
    if job := lab.active("grow"):
        platform.poll(_live, jobs.poll_seconds)(job)
    elif error := lab.failures.get("grow"):
        st.text(tr(error))
    grown = shown_rows(lab, ref)
    if grown is not None:
        _tree(grown, ref, settings)


def _start(lab: Lab, ref: StepRef, settings: LabSettings) -> None:
    ways, tokens = int(value("ways")), int(value("length"))
    lab.begin("grow", work.grow(ref, settings, ways, tokens))


def _restore(lab: Lab, ref: StepRef, settings: LabSettings) -> None:
    """Repeat the continuations that a copied link describes; a link loads built-in models only."""
    if not lab.regrow or closed.state() == "closed":
        return
    lab.regrow = False
    if models.is_embedded(ref.model):
        _start(lab, ref, settings)
        st.rerun()


def _live(job: Job) -> None:
    job.watch()
    st.text(f"{tr(job.stage)} · {job.seconds:.1f} s")


def shown_rows(lab: Lab, ref: StepRef) -> Continuations | None:
    """The continuations of this step; the stored ones at the stored step."""
    if lab.grown is not None and lab.grown[0] == ref:
        return lab.grown[1]
    return lab.example.continuations if lab.example is not None and lab.stores(ref) else None


def _dice_words(ref: StepRef) -> str:
    """Describe the rows' random numbers, and explain why the run's own text is no row."""
    rows = tr("Each row is a new sample from here with its own seed.")
    if not ref.index:
        return rows
    dice = tr(
        "The run itself draws its number {roll} here, not its first: even the row of its seed goes "
        "on differently. Penalties, samplers with a state, watermarks and the constraint go on "
        "from the tokens that the run generated before.",
        roll=nth(ref.index),
    )
    return tr(sentences(rows, dice))


def _tree(grown: Continuations, ref: StepRef, settings: LabSettings) -> None:
    changed = _changed(grown, settings)
    panel.note(
        tr("Other settings since: press Continue to sample anew.") if changed else "",
        _dice_words(ref),
    )
    fold = bool(value("fold"))
    with st.container(key=platform.key("tree-wide")):
        figure.chart(of_figure("tree", figures.lab_tree, grown, fold=fold), (grown, fold))
    table.draw(
        "grown-rows",
        figures.rows_data(grown.rows),
        numbers={"mean ln p": "%.3f", "distinct-1": "%.2f", "distinct-2": "%.2f"},
        notes={"mean ln p": N_("Nats a token.")},
        widths={"text": 310},
    )
    st.caption(_together(grown))


def _together(grown: Continuations) -> str:
    shares = [(n, distinct(grown.sampled, n)) for n in (1, 2)]
    words = tr(", ").join(f"distinct-{n} {share:.2f}" for n, share in shares if share is not None)
    return tr(
        "The sampled rows together: {shares} (different n-grams over all n-grams). Mean ln p is of "
        "the model's own probabilities, before the knobs.",
        shares=words,
    )
