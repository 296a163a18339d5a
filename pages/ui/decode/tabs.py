"""The figures of a run, in reading order; only those in sight are drawn."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import figures
from core.decoding.trace import TokenStep, Trace
from pages.ui.decode import work
from pages.ui.decode.state import DecodeView
from pages.ui.decode.strategies import strategy_of
from pages.ui.run import bar, panel
from pages.ui.run.jobs import Job
from pages.ui.run.view import PAGE_COLUMNS
from pages.ui.shell import fragments
from pages.ui.widgets import figure, pager
from pages.ui.widgets.control import value

# What keeps the heatmap and the selected step on one screen.
HEATMAP_ROWS, CANDIDATES = 6, 10

_NOTICE = """
**What to notice**

- Where one token takes nearly all the probability, no strategy changes the text. Where several
  share it, the strategy decides.
- Greedy takes rank 1 at every step. Sampling may take a lower rank: lower the temperature and
  watch the final bars lean to the top.
- Top-k, top-p and min-p cut the long tail. What is cut has no bar below its own, and can't be
  drawn.
"""


def draw_figures(view: DecodeView, trace: Trace) -> None:
    """Heatmap, the selected step, and three more looks in tabs."""
    _heatmap(view, trace)
    if view.step is not None:
        _one_step(view, trace, view.step)
    drawings = {
        "Uncertainty": partial(_uncertainty, view, trace),
        "Reading the prompt": partial(_prompt, view, trace),
        "Time": partial(_time, view, trace),
        **{
            name: partial(draw, view, trace)
            for name, draw in strategy_of(trace.config).tabs.items()
        },
    }
    panel.tabs("look", drawings, linked=False)


def _heatmap(view: DecodeView, trace: Trace) -> None:
    with st.container(gap="small"):
        pager.draw(view, "first", pager.of_span(view.first, PAGE_COLUMNS, len(view.steps)), "steps")
        figure.chart(
            "heatmap",
            partial(
                figures.probability_heatmap,
                trace,
                first=view.first,
                columns=PAGE_COLUMNS,
                rows=HEATMAP_ROWS,
                selected=view.selected,
            ),
            partial(figures.probability_heatmap_data, trace),
            (view.number, view.first, view.selected),
            on_click=lambda custom: _select(view, custom),
        )


def _select(view: DecodeView, custom: list[object]) -> None:
    if custom and isinstance(custom[0], int | float):
        view.select(int(custom[0]))


def _one_step(view: DecodeView, trace: Trace, step: TokenStep) -> None:
    shaped = work.selected(view, trace, step)
    depends = (view.number, step.index, shaped.trace.config)
    with st.container(key="step", gap="small"):
        _step_head(view, shaped)
        left, right = st.columns(2, gap="small")
        with left:
            figure.chart(
                "candidates",
                partial(figures.candidate_bars, shaped.step, shaped.trace, count=CANDIDATES),
                partial(figures.candidate_bars_data, shaped.step, shaped.trace, count=20),
                depends,
            )
        with right:
            figure.chart(
                "way",
                figures.step_stages,
                figures.step_stages_data,
                depends,
                of=(shaped.step, shaped.trace),
            )
            with st.container(key="notice"):
                st.markdown(_NOTICE)


def _step_head(view: DecodeView, shaped: work.Shaped) -> None:
    at, last = view.selected, len(view.steps) - 1
    with st.container(key="step-head", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Previous step",
            key="previous",
            icon=":material/chevron_left:",
            disabled=at == 0,
            on_click=view.select,
            args=(at - 1,),
        )
        st.markdown(f"**Step {at}** / {last}", width="content")
        st.button(
            "Next step",
            key="next",
            icon=":material/chevron_right:",
            disabled=at == last,
            on_click=view.select,
            args=(at + 1,),
        )
        reshaped = "Move a knob above: this step is reshaped at once. "
        reshaped = reshaped if strategy_of(shaped.trace.config).reshapes else ""
        panel.note(_changed(shaped), f"{reshaped}The arrow keys go from step to step.")


def _changed(shaped: work.Shaped) -> str:
    if shaped.error or not shaped.changed:
        return shaped.error
    if shaped.waiting:
        return "Reading this step's logits…"
    return (
        "Knobs changed since this run: the bars show this step under the new knobs. "
        "Press Run to decode again."
    )


def _uncertainty(view: DecodeView, trace: Trace) -> None:
    figure.chart(
        "uncertainty",
        partial(figures.uncertainty, trace, selected=view.selected),
        partial(figures.uncertainty_data, trace),
        (view.number, view.selected),
        on_click=lambda custom: _select(view, custom),
    )


def _prompt(view: DecodeView, trace: Trace) -> None:
    with st.container(gap="small"):
        count = len(trace.prompt_ids)
        window = pager.of_span(view.prompt_first, PAGE_COLUMNS, count)
        pager.draw(view, "prompt_first", window, "positions")
        figure.chart(
            "prompt",
            partial(figures.prompt_reading, trace, first=view.prompt_first, columns=PAGE_COLUMNS),
            partial(figures.prompt_reading_data, trace),
            (view.number, view.prompt_first),
        )


def _time(view: DecodeView, trace: Trace) -> None:
    runs = _timed_runs(view, trace)
    _compare(view, trace)
    figure.chart("time", figures.timing, figures.timing_data, (view.number, len(runs)), of=(runs,))


def _timed_runs(view: DecodeView, trace: Trace) -> list[tuple[str, Trace]]:
    names = ("Cache on", "Cache off") if trace.config.use_cache else ("Cache off", "Cache on")
    runs = [(names[0], trace)]
    if view.compared is not None:
        runs.append((names[1], view.compared))
    return runs


def _compare(view: DecodeView, trace: Trace) -> None:
    job = view.active("compare")
    other = "off" if trace.config.use_cache else "on"
    may_load = view.may_load(str(value("model")))
    with st.container(key="compare", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Measure the same run with the cache {other}",
            key="compare_cache",
            icon=":material/timer:",
            disabled=job is not None or not may_load or view.active("decode") is not None,
            on_click=lambda: view.begin("compare", work.measure_cache(trace)),
        )
        if job is not None:
            fragments.polled(_progress, bar.poll_seconds)(job, len(view.steps))
        else:
            st.text(view.failures.get("compare", ""), width="stretch")


def _progress(job: Job, count: int) -> None:
    job.watch()
    st.text(f"{job.stage} · {job.tokens} of {count} tokens", width="stretch")
