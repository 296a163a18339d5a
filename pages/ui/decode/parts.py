"""The figures of the Decode page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core import figures
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import CONTRASTS, WATERMARKS
from core.figures.base.figure import Figure
from core.figures.base.grid import columns_for, wide_columns
from core.figures.base.paper import Paper
from core.figures.base.window import even_span
from core.figures.samplers.state import sampler_of
from core.language import tr
from pages.ui.decode.state import DecodeView, median_run
from pages.ui.run.figures import constraint
from pages.ui.run.parts import FigureWindow, PagePart, selected_step, windows_of

# Of a long prompt and of a long run only so many figures: of a prompt the end, written last.
MOST_FIGURES = 3


def _selected(view: DecodeView, trace: Trace) -> dict[str, Any]:
    return {"trace": trace, "selected": view.selected}


def _step(view: DecodeView, trace: Trace) -> Mapping[str, Any] | None:
    return None if view.step is None else {"step": view.step, "trace": trace}


def _candidates(view: DecodeView, trace: Trace) -> Mapping[str, Any] | None:
    """The step, and the text of the pick that a given token replaced."""
    if view.step is None:
        return None
    pick = view.step.instead_of
    return {"step": view.step, "trace": trace, "picked": "" if pick is None else view.text_of(pick)}


def _read_or_run(view: DecodeView, trace: Trace) -> Mapping[str, Any]:
    return {**_selected(view, trace), "reads": view.reads}


def _watermark(view: DecodeView, trace: Trace) -> Mapping[str, Any] | None:
    """The run, and its text with an edited word, if it has a watermark."""
    if not trace.config.shaping.active(WATERMARKS):
        return None
    return {**_selected(view, trace), "edited": view.result("edited")}


def _layers(view: DecodeView, trace: Trace) -> Mapping[str, Any] | None:
    """The run, if its steps are contrasted with earlier layers."""
    return _selected(view, trace) if trace.config.shaping.dola_layers else None


def _second(at: int, view: DecodeView, trace: Trace) -> Mapping[str, Any] | None:
    """The selected step, if the run has so many contrasts."""
    contrasts, step = trace.config.shaping.active(CONTRASTS), _step(view, trace)
    return {**step, "contrast": contrasts[at]} if step and at < len(contrasts) else None


def of_step(name: str, draw: Figure[...]) -> PagePart:
    """A figure of the selected step."""
    return PagePart(name, draw, _step, where=selected_step)


def _windows(trace: Trace, paper: Paper) -> list[FigureWindow]:
    count = len(trace.token_steps)
    across = even_span(count, columns_for(paper.width))
    return windows_of(range(0, max(count, 1), across)[:MOST_FIGURES], count)


def _prompt_windows(trace: Trace, paper: Paper) -> list[FigureWindow]:
    count = len(trace.prompt_ids)
    across = even_span(count, wide_columns(paper.width))
    return windows_of(range(max(count - MOST_FIGURES * across, 0), max(count, 1), across), count)


def timed_runs(
    view: DecodeView, trace: Trace
) -> tuple[list[tuple[str, Trace]], list[tuple[Trace, ...]]]:
    """The run by itself, else the median runs with and without the cache, and all runs of each.

    Times of now stand beside each other only, never beside those that a run recorded.
    """
    compared = view.compared
    if compared is None:
        return [(tr("Cache on") if trace.config.use_cache else tr("Cache off"), trace)], []
    runs = [
        (tr("Cache on"), median_run(compared.on)),
        (tr("Cache off"), median_run(compared.off)),
    ]
    return runs, list(compared)


HEATMAP = PagePart("heatmap", figures.probability_heatmap, _read_or_run, windows=_windows)
CANDIDATES = PagePart("candidates", figures.candidate_bars, _candidates, where=selected_step)
STAGES = of_step("stages", figures.step_stages)
SOFTMAX = of_step("softmax", figures.softmax_row)
UNCERTAINTY = PagePart(
    "uncertainty",
    figures.uncertainty,
    _read_or_run,
)
# A step may have several contrasts.
SECOND = tuple(
    PagePart(name, figures.second_forward, partial(_second, at), where=selected_step)
    for at, name in enumerate(("second", "second-2", "second-3"))
)
LAYERS = PagePart("layers", figures.dola_layers, _layers)
CONSTRAINT = constraint.part_of(lambda view: {"selected": view.selected})
WATERMARK = PagePart("watermark", figures.watermark, _watermark)
STATE = PagePart(
    "state",
    figures.sampler_state,
    lambda view, trace: _selected(view, trace) if sampler_of(trace) else None,
)
PROMPT = PagePart(
    "prompt",
    figures.prompt_reading,
    lambda _, trace: {"trace": trace},
    windows=_prompt_windows,
    unit="position",
)
TIME = PagePart(
    "time",
    figures.timing,
    lambda view, trace: dict(zip(("runs", "others"), timed_runs(view, trace), strict=True)),
)
STEP = (CANDIDATES, STAGES, SOFTMAX)
RUN = (UNCERTAINTY, STATE, *SECOND, LAYERS, WATERMARK, PROMPT, TIME)
