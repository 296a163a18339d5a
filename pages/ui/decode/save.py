"""A run's figures on their way out: the saved page, the archive."""

from __future__ import annotations

from dataclasses import replace

from core import figures
from core.decoding.counting import nth
from core.decoding.record.trace import Trace
from core.export.part import Part, of_figure, window_name
from core.export.tables import tables_of
from core.export.web.run_page import PAPER
from core.figures.base.grid import columns_for, wide_columns
from core.figures.base.paper import WIDE, Paper
from core.figures.base.theme import LIGHT, Theme
from pages.ui.decode import tabs
from pages.ui.decode.state import DecodeView
from pages.ui.decode.strategies import strategy_of
from pages.ui.run import save
from pages.ui.run.archive import Tables

# Of a long prompt and of a long run only so many figures: of a prompt the end, written last.
_MOST_FIGURES = 3


def parts(view: DecodeView, trace: Trace, paper: Paper = WIDE) -> list[Part]:
    """The whole run in windows, the selected step, and what its tabs show."""
    at, count, read = view.selected, len(trace.token_steps), len(trace.prompt_ids)
    across = columns_for(paper.width)
    starts = range(0, max(count, 1), across)[:_MOST_FIGURES]
    look = {"columns": across, "selected": at}
    heat = figures.probability_heatmap
    found = [
        of_figure(_part("heatmap", first, starts, count), heat, trace, first=first, **look)
        for first in starts
    ]
    found += _of_step(view, trace)
    found.append(of_figure("uncertainty", figures.uncertainty, trace, selected=at))
    wide = wide_columns(paper.width)
    ends = range(max(read - _MOST_FIGURES * wide, 0), max(read, 1), wide)
    reading = figures.prompt_reading
    found += [
        of_figure(
            _part("prompt", first, ends, read, "position"),
            reading,
            trace,
            first=first,
            columns=wide,
        )
        for first in ends
    ]
    runs, others = tabs.timed_runs(view, trace)
    found.append(of_figure("time", figures.timing, runs, others=others))
    if view.compared is None:
        found.append(Part("time-of-the-cache", needs="press “Time the cache” under Time first"))
    return found


def _of_step(view: DecodeView, trace: Trace) -> list[Part]:
    step = view.step
    if step is None:
        return []
    own = strategy_of(trace.config).parts.values()
    found = [make(step, trace) for make in (tabs.candidates, tabs.stages, tabs.softmax, *own)]
    return [replace(part, name=f"{part.name}-step-{nth(step.index)}") for part in found]


def _part(name: str, first: int, starts: range, count: int, unit: str = "step") -> str:
    """The name of a window's figure, of `count` columns in all; of the only one there is none."""
    if len(starts) == 1:
        return name
    return window_name(name, unit, first, min(first + starts.step, count))


def tables(view: DecodeView, trace: Trace) -> Tables:  # noqa: ARG001
    """The run in numbers, and its tokens."""
    return tables_of(trace)


def web_page(view: DecodeView, trace: Trace, theme: Theme = LIGHT) -> bytes:
    """The run and its figures as one page that needs no server and no network."""
    return save.web_page(trace, parts(view, trace, PAPER), theme)
