"""Catalog of the figures of stored content by name, for the command line and for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .. import figures
from ..decoding.comparison.measures import ComparedRuns
from ..decoding.counting import counted, nth
from ..decoding.diffusion.canvas import canvas_steps
from ..decoding.diffusion.config import Diffusion
from ..decoding.errors import FigureError
from ..decoding.lab.types import LabExample
from ..decoding.many.types import ManyRuns
from ..decoding.record.trace import Trace
from ..decoding.record.tree import RunTree
from ..decoding.shaping.config import CONTRASTS, WATERMARKS
from ..evaluation.example import ReasoningExample
from ..evaluation.plan.types import Evaluation
from ..evaluation.sweep.types import BudgetSweep
from ..figures.base.figure import Figure
from ..figures.base.grid import columns_for, wide_columns
from ..figures.base.paper import Paper
from ..figures.base.window import even_span
from ..figures.beam.window import windows
from ..figures.opening import contested_step, telling_node, telling_place, telling_token
from ..figures.speculative.timeline import COLUMNS, rounds_for
from ..language import N_, Message, tr
from ..traces.data_path.steps import prompt_call, step_call, steps_in
from ..traces.data_path.types import DataPath
from .part import Part, of_figure
from .stored_parts import (
    evaluation_parts,
    lab_parts,
    many_parts,
    pair_parts,
    reasoning_parts,
    sweep_parts,
)

StoredContent = (
    Trace
    | RunTree
    | ManyRuns
    | ComparedRuns
    | LabExample
    | BudgetSweep
    | Evaluation
    | ReasoningExample
    | DataPath
)
# Number of beam search steps in a window of the tree, as on the page.
_SPAN = 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure by its name; the figure of a long run has one part for each step.

    Args:
        make: returns the part at an index, in a window of as many columns as the paper holds.
        unit: unit of the index: `step`, `round` or `position`; empty for a figure of the whole run.
        count: number of units.
        opens: index that the figure's page shows first.
    """

    name: str
    make: Callable[[int, Paper], Part]
    unit: str = ""
    count: int = 0
    opens: int = 0

    def part(self, step: int | None, paper: Paper) -> Part:
        """Return the part at a step, at most the last; without a step, the page's first view."""
        if step is None or not self.unit:
            return self.make(self.opens, paper)
        return self.make(max(0, min(step, self.count - 1)), paper)

    def require(self, step: int | None) -> None:
        """Raise FigureError if there is no such step."""
        if step is not None and self.unit and not 0 <= step < max(self.count, 1):
            what = counted(self.count, self.unit)
            raise FigureError(
                Message(
                    "This trace has {what}, counted from 1; got {step}.", what=what, step=nth(step)
                )
            )


def entries_of(content: StoredContent) -> list[Entry]:
    """Return the figures of stored content by their names, the main one first."""
    if isinstance(content, Trace):
        return list(_of_trace(content))
    if isinstance(content, RunTree):
        return [_all("tree", of_figure("tree", figures.run_tree, content))]
    if isinstance(content, ComparedRuns):
        return list(_of_pair(content))
    if isinstance(content, DataPath):
        return list(_of_calls(content))
    if isinstance(content, LabExample):
        parts: Sequence[Part] = lab_parts(content)
    elif isinstance(content, ManyRuns):
        parts = many_parts(content)
    elif isinstance(content, BudgetSweep):
        parts = sweep_parts(content)
    elif isinstance(content, Evaluation):
        parts = evaluation_parts(content)
    else:
        parts = reasoning_parts(content)
    return [_all(part.name.partition("-step-")[0], part) for part in parts if part.draw is not None]


def _of_trace(trace: Trace) -> Iterator[Entry]:
    if trace.beam_steps:
        return _of_search(trace)
    if trace.rounds:
        return _of_rounds(trace)
    if isinstance(trace.config, Diffusion):
        return _of_canvas(trace)
    return _of_tokens(trace) if trace.token_steps else iter(())


def _of_pair(pair: ComparedRuns) -> Iterator[Entry]:
    """Yield the measures along both runs, then the figures of each run."""
    parts = pair_parts(pair.left, pair.right, pair.measures)
    yield from (_all(part.name, part) for part in parts)
    for name, trace in (("a", pair.left), ("b", pair.right)):
        for entry in _of_trace(trace):
            yield replace(entry, name=f"{name}-{entry.name}", make=partial(_named, name, entry))


def _named(name: str, entry: Entry, at: int, paper: Paper) -> Part:
    part = entry.make(at, paper)
    return replace(part, name=f"{name}-{part.name}")


def _all(name: str, part: Part) -> Entry:
    """A figure that has one part."""
    return Entry(name, lambda _at, _paper: part)


def _of_tokens(trace: Trace) -> Iterator[Entry]:
    steps, opens = trace.token_steps, contested_step(trace)

    def heatmap(at: int, paper: Paper) -> Part:
        columns = even_span(len(steps), columns_for(paper.width))
        return of_figure(
            "heatmap",
            figures.probability_heatmap,
            trace,
            first=at // columns * columns,
            columns=columns,
            selected=at,
        )

    def wide(name: str, draw: Figure[...], count: int, at: int, paper: Paper) -> Part:
        columns = even_span(count, wide_columns(paper.width))
        return of_figure(name, draw, trace, first=at // columns * columns, columns=columns)

    yield Entry("heatmap", heatmap, "step", len(steps), opens)
    draws: dict[str, Figure[...]] = {
        "candidates": figures.candidate_bars,
        "stages": figures.step_stages,
        "softmax": figures.softmax_row,
    }
    if any(step.compared for step in steps):
        draws["compared"] = figures.contrast_bars
    for name, draw in draws.items():
        yield Entry(name, partial(_of_step, trace, name, draw), "step", len(steps), opens)
    for at, contrast in enumerate(trace.config.shaping.active(CONTRASTS)):
        name = f"second-{at + 1}" if at else "second"
        draw_one = partial(_of_step, trace, name, figures.second_forward, contrast=contrast)
        yield Entry(name, draw_one, "step", len(steps), opens)
    yield _all("uncertainty", of_figure("uncertainty", figures.uncertainty, trace))
    if trace.config.shaping.dola_layers:
        yield _all("layers", of_figure("layers", figures.dola_layers, trace))
    if trace.config.shaping.active(WATERMARKS):
        yield _all("watermark", of_figure("watermark", figures.watermark, trace))
    if any(step.states for step in steps):
        yield _all("state", of_figure("state", figures.sampler_state, trace))
    yield from _of_constraint(trace)
    read = len(trace.prompt_step.positions) if trace.prompt_step else 0
    yield Entry("prompt", partial(wide, "prompt", figures.prompt_reading, read), "position", read)
    favourites = partial(wide, "favourites", figures.reading_favourites, read + len(steps))
    yield Entry("favourites", favourites, "position", read + len(steps))
    yield _all("time", of_figure("time", figures.timing, [("This run", trace)]))


def _of_constraint(trace: Trace) -> Iterator[Entry]:
    if trace.config.shaping.constraint is not None:
        yield _all("constraint", of_figure("constraint", figures.constraint_masses, trace))


def _of_step(trace: Trace, name: str, draw: Figure[...], at: int, _: Paper, **looks: Any) -> Part:
    return of_figure(name, draw, trace.token_steps[at], trace, **looks)


def _of_search(trace: Trace) -> Iterator[Entry]:
    steps, node = trace.beam_steps, telling_node(trace) or (0, 0)
    spans = list(windows(steps, _SPAN, pruned=True))

    def tree(at: int, _: Paper) -> Part:
        first, last = next(span for span in spans if span[0] <= at < span[1])
        return of_figure("tree", figures.beam_tree, trace, first=first, span=last - first)

    def step(at: int, _: Paper) -> Part:
        return of_figure(
            "step", figures.beam_step, trace, at, selected=node[1] if at == node[0] else 0
        )

    yield Entry("tree", tree, "step", len(steps))
    yield Entry("step", step, "step", len(steps), node[0])
    yield from _of_constraint(trace)


def _of_rounds(trace: Trace) -> Iterator[Entry]:
    count, opens = len(trace.rounds), (telling_token(trace) or (0, 0))[0]

    def timeline(at: int, paper: Paper) -> Part:
        columns = even_span(count, min(COLUMNS, rounds_for(paper.width, trace)))
        return of_figure(
            "timeline", figures.spec_timeline, trace, first=at // columns * columns, columns=columns
        )

    def verification(at: int, _: Paper) -> Part:
        place = telling_place(trace, at)
        return of_figure("verification", figures.spec_verification, trace, at, place)

    def of_round(name: str, drawn: Figure[...]) -> Entry:
        return Entry(name, lambda at, _: of_figure(name, drawn, trace, at), "round", count, opens)

    yield Entry("timeline", timeline, "round", count)
    yield _all("time", of_figure("time", figures.spec_time, trace))
    yield _all("positions", of_figure("positions", figures.spec_positions, trace))
    yield _all("calibration", of_figure("calibration", figures.spec_calibration, trace))
    yield _all("classes", of_figure("classes", figures.spec_classes, trace))
    yield Entry("verification", verification, "round", count, opens)
    yield from _of_constraint(trace)
    if any(step.translation for step in trace.rounds):
        yield of_round("translation", figures.spec_translation)
    if any(step.parents for step in trace.rounds):
        yield of_round("tree", figures.spec_tree)
        yield of_round("mask", figures.spec_mask)
    if any(step.window for step in trace.rounds):
        yield of_round("window", figures.spec_window)
    yield of_round("feed", figures.spec_feed)


def _of_canvas(trace: Trace) -> Iterator[Entry]:
    count, places = len(canvas_steps(trace)), canvas_steps(trace)[0].limit if trace.steps else 0

    def canvas(at: int, paper: Paper) -> Part:
        columns = even_span(count, wide_columns(paper.window))
        looks = {"first": at // columns * columns, "columns": columns}
        return of_figure("canvas", figures.canvas_fill, trace, **looks)

    yield Entry("canvas", canvas, "step", count)
    yield _all("order", of_figure("order", figures.fill_order, trace))
    of_position: dict[str, Figure[...]] = {
        "choice": figures.fill_choice,
        "position": figures.canvas_position,
    }
    for name, draw in of_position.items():
        yield Entry(name, partial(_of_position, trace, name, draw), "position", places)


def _of_position(trace: Trace, name: str, draw: Figure[...], at: int, _: Paper) -> Part:
    return of_figure(name, draw, trace, at)


def _of_calls(path: DataPath) -> Iterator[Entry]:
    """Yield a chart of the function calls of each step of a recorded run, and one of all calls."""
    count = steps_in(path)
    calls_recorded = counted(sum(1 for _ in path.walk()), "recorded call")
    caption = tr(calls_recorded)
    if path.left_out:
        caption = tr(
            "{calls}, {count:,} more were not kept", calls=calls_recorded, count=path.left_out
        )
    draw = partial(of_figure, "calls", figures.flame_chart)

    def calls(at: int, _: Paper) -> Part:
        both = (prompt_call(path) if at == 0 else None, step_call(path, at))
        return replace(
            draw(
                tuple(call for call in both if call is not None),
                caption=f"{caption} · {tr('step {step}', step=nth(at))}",
                what=N_("this step with the prompt") if both[0] else N_("this step"),
                first_step=at - 1,
            ),
            name=f"calls-step-{nth(at)}",
        )

    if count:
        yield Entry("calls", calls, "step", count)
    whole = draw(path.calls, caption=caption, what=N_("the whole run"))
    yield _all("run", replace(whole, name="calls-of-the-run"))
