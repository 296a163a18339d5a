"""The figures of a run, in reading order; only those in sight are drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from core.decoding.errors import DecodingError
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.export.part import Part
from core.figures.base.grid import columns_for, wide_columns
from core.figures.base.labels import settings_caption
from core.figures.base.paper import Paper
from core.figures.samplers.state import sampler_of
from core.language import N_, tr
from pages.ui import platform, registry
from pages.ui.decode import (
    another,
    branches,
    controls,
    forks,
    notice,
    parts,
    state,
    work,
)
from pages.ui.decode.methods import guided, repeats
from pages.ui.decode.methods.strategies import strategy_of
from pages.ui.decode.state import DecodeView
from pages.ui.platform import slot
from pages.ui.run.display import bar, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import constraint, figure, pager, pins, token_strip
from pages.ui.run.jobs import Job
from pages.ui.run.parts import PagePart
from pages.ui.run.view import select_step
from pages.ui.shell import glossary
from pages.ui.widgets import ahead, stepper, style
from pages.ui.widgets.controls import knob_rows, link
from pages.ui.widgets.controls.config_fields import moved
from pages.ui.widgets.controls.control import defaults, value

# What keeps the heatmap and the selected step on one screen.
HEATMAP_ROWS = 6
_READY = ("uncertainty", "state", "arithmetic", "prompt", "time")
_UNCERTAIN = N_("U: the next step with more entropy than the run has on average")


def draw_step(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    """The selected step as the knobs shape it, straight below the text."""
    shaped = work.selected(view, trace, step)
    depends = (view.number, step.index, shaped.trace.config)
    # What can't be shaped is the run's own step, whatever the knobs say.
    prefetch = None if shaped.waiting or shaped.error else _prefetch(view, trace)
    chart = partial(figure.chart, depends=depends, ahead=prefetch)
    first, second = _step_parts(view, shaped)
    figure.omit_captions(settings_caption(trace), settings_caption(shaped.trace))
    with st.container(key=platform.key("step"), gap="small"):
        _step_head(view, trace, shaped)
        with st.container(key=platform.key("notice")):
            st.markdown(glossary.marked(notice.words(shaped.trace, shaped.step)))
            if lowered := repeats.lowered(shaped.trace, shaped.step):
                st.text(lowered)
        with st.container(key=platform.key("pair")):
            with st.container(key=platform.key("pair-first")):
                chart(first, on_click=partial(another.choose, view, step))
            with st.container(key=platform.key("pair-second")):
                if view.painted:
                    chart(second)


def _step_parts(view: DecodeView, shaped: work.Shaped) -> list[Part]:
    """The step's two figures."""
    rows = parts.CANDIDATES, parts.STAGES
    return [row.part(view, shaped.trace, step=shaped.step) for row in rows]


def _prefetch(view: DecodeView, trace: Trace) -> ahead.Prefetch | None:
    """The figures of all steps under all knobs, as far as that takes no run of the model."""
    try:
        config = controls.config()
    except DecodingError:
        return None
    look = figure.FigureLook.now()
    rows = controls.acting_knobs(config)
    fixed = moved(config, rows, defaults().__getitem__)

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        step = trace.token_steps[inputs[token_strip.KEY]]
        shaped = work.shaped(view, trace, step, moved(config, rows, inputs.__getitem__))
        return {part.name: look.drawing(part.drawn()) for part in _step_parts(view, shaped)}

    inputs = {token_strip.KEY: (view.selected, link.whole), **knob_rows.inputs(rows)}
    return ahead.prefetch("step", (view.number, *look.key, fixed), inputs, build)


def draw_rest(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    """Draw the figures below the step: a heatmap of the whole run, and tabs.

    Args:
        redraw: ends a callback that selects another step.
    """
    _heatmap(view, trace, redraw)
    _links(view, trace)
    strategy, along = strategy_of(trace.config), partial(_along, view, trace, redraw)
    drawings = {
        **(
            {"branches": Tab(state.BRANCHES, partial(branches.draw, view))}
            if branches.shown_tree(view)
            else {}
        ),
        **constraint.tab(
            view, trace, parts.CONSTRAINT, view.selected, partial(select_step, view, redraw)
        ),
        "uncertainty": Tab(N_("Uncertainty"), partial(along, parts.UNCERTAINTY)),
        **(
            {"second": Tab(N_("Two forwards"), partial(_contrasts, view, trace))}
            if trace.config.shaping.contrasts
            else {}
        ),
        **(
            {"layers": Tab(N_("DoLa layers"), partial(along, parts.LAYERS))}
            if trace.config.shaping.dola_layers
            else {}
        ),
        **(
            {"watermark": Tab(N_("Watermark"), partial(guided.draw, view, trace, redraw))}
            if guided.is_marked(trace)
            else {}
        ),
        **(
            {"state": Tab(N_("Sampler's state"), partial(along, parts.STATE))}
            if sampler_of(trace)
            else {}
        ),
        "forks": Tab(N_("Fork points"), partial(forks.draw, view, trace)),
        "arithmetic": Tab(N_("Arithmetic"), partial(_arithmetic, view, trace)),
        "prompt": Tab(N_("Prompt predictions"), partial(_prompt, view, trace)),
        "time": Tab(N_("Time"), partial(_time, view, trace, redraw)),
        "pins": Tab(
            N_("Pinned tokens"),
            partial(pins.draw, view, trace, partial(select_step, view, redraw), redraw),
        ),
        **{
            name: Tab(strategy.label, partial(_own, view, trace, part))
            for name, part in strategy.parts.items()
        },
    }
    if trace.config.shaping.contrastive_beta:
        del drawings["forks"]
    look = platform.key(state.LOOK)
    if look not in st.session_state and platform.key(pins.KEY) in st.query_params:
        st.session_state[look] = tr(drawings["pins"].title)
    panel.tabs(state.LOOK, drawings, linked=False, ready=_READY)


def _own(view: DecodeView, trace: Trace, row: PagePart) -> None:
    """The selected step in a figure of the strategy's own."""
    if view.step is not None:
        figure.chart(row.part(view, trace), (view.number, view.selected), across=True)


def _contrasts(view: DecodeView, trace: Trace) -> None:
    """The selected step in each contrast that acts."""
    for row in parts.SECOND:
        if row.of(view, trace):
            _own(view, trace, row)


def _heatmap(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    width = style.figure_width()
    columns = columns_for(width)
    width = min(width, style.BESIDE)
    with st.container(gap="small"):
        pager.draw(view, "first", pager.of_span(view.first, columns, len(view.steps)), "steps")
        figure.chart(
            parts.HEATMAP.part(
                view,
                trace,
                first=view.first,
                columns=columns,
                rows=HEATMAP_ROWS,
                paper=Paper(width),
            ),
            (view.number, view.first, view.selected, width),
            on_click=lambda custom: _press_cell(view, custom, redraw),
        )


def _press_cell(view: DecodeView, custom: list[object], redraw: Callable[[], None]) -> None:
    """Select a cell's step; a cell of the selected step opens the menu with its token."""
    if view.step is not None and custom[:1] == [view.selected]:
        another.choose(view, view.step, custom)
    select_step(view, redraw, custom)


def _links(view: DecodeView, trace: Trace) -> None:
    """Draw the buttons that lead to other pages, and the settings of the run."""
    if view.step is None:
        return
    with st.container(key=platform.key("step-links"), gap="small"):
        with st.container(horizontal=True, gap="small"):
            st.button(
                tr("Open this step in the lab"),
                key=platform.key("open_in_lab"),
                icon=":material/science:",
                on_click=_open_in_lab,
                args=(view,),
            )
            st.button(
                tr("Open this step in Inside"),
                key=platform.key("open_inside"),
                icon=":material/account_tree:",
                on_click=_open_inside,
                args=(view,),
            )
            st.button(
                tr("Compare this run"),
                key=platform.key("compare_run"),
                icon=":material/compare:",
                on_click=partial(another.compare, view, trace),
                help=tr("Beside the run that it went on from, else the one before it, on Compare."),
            )
        panel.made_by(settings_caption(trace))


def _open_in_lab(view: DecodeView) -> None:
    with slot.use(slot.PAGE):
        DecodeView.current().follow(view)
    st.session_state["go_to_lab"] = True
    st.rerun()


def _open_inside(view: DecodeView) -> None:
    if view.trace is not None:
        with slot.use(slot.PAGE):
            registry.OPEN_INSIDE(
                view.trace, view.selected, source=view.source, request=view.shown_request
            )
        st.rerun()


def _step_head(view: DecodeView, trace: Trace, shaped: work.Shaped) -> None:
    with st.container(
        key=platform.key("step-head"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        marked = tuple(state.uncertain_steps(trace))
        stepper.draw(token_strip.KEY, view.selected, len(view.steps), marked)
        hint, keys = escape(tr(_UNCERTAIN)), escape(tr("Keys ← → U"))
        st.html(f'<span class="de-keys" title="{hint}">{keys}</span>', width="content")
        reshaped = N_("Knobs reshape this step.") if work.reshapes(shaped.trace.config) else ""
        panel.note(_changed(shaped), reshaped)
        another.draw(view, trace, trace.token_steps[shaped.step.index])


def _changed(shaped: work.Shaped) -> str:
    if shaped.error or not shaped.changed:
        return shaped.error
    if shaped.waiting:
        return tr("Reading this step's logits…")
    return tr("The bars show this step under the new knobs.")


def _arithmetic(view: DecodeView, trace: Trace) -> None:
    if view.step is None:
        return
    shaped = work.selected(view, trace, view.step)
    figure.chart(
        parts.SOFTMAX.part(view, shaped.trace, step=shaped.step),
        (view.number, shaped.step.index, shaped.trace.config),
        across=True,
    )


def _along(view: DecodeView, trace: Trace, redraw: Callable[[], None], row: PagePart) -> None:
    """Draw a figure along the run's steps; a click on one selects it."""
    figure.chart(
        row.part(view, trace),
        (view.number, view.selected),
        on_click=partial(select_step, view, redraw),
        across=True,
    )


def _prompt(view: DecodeView, trace: Trace) -> None:
    width = min(style.figure_width(), style.BESIDE)
    with st.container(gap="small"):
        count = len(trace.prompt_ids)
        window = pager.of_span(view.prompt_first, wide_columns(width), count)
        pager.draw(view, "prompt_first", window, "positions")
        figure.chart(
            parts.PROMPT.part(view, trace, first=view.prompt_first, paper=Paper(width)),
            (view.number, view.prompt_first, width),
        )


def _time(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    _compare(view, trace, redraw)
    depends = (view.number, view.compared is not None)
    figure.chart(parts.TIME.part(view, trace), depends, across=True)


def _compare(view: DecodeView, trace: Trace, redraw: Callable[[], None]) -> None:
    def start() -> None:
        view.begin("compare", work.measure_cache(trace))
        redraw()

    job = view.active("compare")
    may_load = view.may_load(str(value("model")))
    with st.container(
        key=platform.key("compare"), horizontal=True, vertical_alignment="center", gap="small"
    ):
        st.button(
            tr("Measure the time with and without the cache"),
            key=platform.key("compare_cache"),
            icon=":material/timer:",
            disabled=job is not None or not may_load or view.active("decode") is not None,
            on_click=start,
        )
        if job is not None:
            platform.poll(_progress, bar.poll_seconds)(job, len(view.steps))
        else:
            st.text(tr(view.failures.get("compare", "")), width="stretch")


def _progress(job: Job, count: int) -> None:
    job.watch()
    done = tr("{done} of {total} tokens", done=job.tokens, total=count)
    st.text(f"{tr(job.stage)} · {done}", width="stretch")
