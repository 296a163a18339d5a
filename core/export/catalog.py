"""The figures of a stored trace by their names, as the command line and scripts ask for them."""

from __future__ import annotations

import core.figures as figures
from core.decoding.counting import counted, nth
from core.decoding.errors import FigureError
from core.decoding.trace import Trace
from core.export.part import Part, of_figure
from core.figures.base.grid import columns_for
from core.figures.base.paper import WIDE, Paper


def figures_of(trace: Trace, *, step: int = 0, paper: Paper = WIDE) -> list[Part]:
    """What can be drawn of a trace alone.

    Args:
        step: index of the step (of speculative decoding the round) that is looked at.
        paper: decides how many steps a window holds.

    Raises:
        FigureError: there is no such step.
    """
    count = len(trace.beam_steps or trace.rounds or trace.token_steps)
    if step and not 0 <= step < count:
        what = counted(count, "round" if trace.rounds else "step")
        raise FigureError(f"This trace has {what}, counted from 1; got {nth(step)}.")
    if trace.beam_steps:
        return [
            of_figure("tree", figures.beam_tree, trace),
            of_figure("step", figures.beam_step, trace, step),
        ]
    if trace.rounds:
        return [
            of_figure("timeline", figures.spec_timeline, trace),
            of_figure("time", figures.spec_time, trace),
            of_figure("positions", figures.spec_positions, trace),
            of_figure("verification", figures.spec_verification, trace, step, 0),
            of_figure("feed", figures.spec_feed, trace, step),
        ]
    return _of_tokens(trace, step, paper) if trace.token_steps else []


def _of_tokens(trace: Trace, at: int, paper: Paper) -> list[Part]:
    chosen, columns = trace.token_steps[at], columns_for(paper.width)
    first = chosen.index // columns * columns
    heat = figures.probability_heatmap
    found = [
        of_figure("heatmap", heat, trace, first=first, columns=columns),
        of_figure("candidates", figures.candidate_bars, chosen, trace),
        of_figure("stages", figures.step_stages, chosen, trace),
        of_figure("softmax", figures.softmax_row, chosen, trace),
        of_figure("uncertainty", figures.uncertainty, trace),
        of_figure("prompt", figures.prompt_reading, trace),
        of_figure("time", figures.timing, [("This run", trace)]),
    ]
    if chosen.compared:
        found.append(of_figure("compared", figures.contrast_bars, chosen, trace))
    return found
