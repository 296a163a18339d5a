"""The figures of a stored trace by their names, as the command line and scripts ask for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import core.figures as figures
from core.decoding.trace import TokenStep, Trace
from core.export.part import Part
from core.figures.base.grid import columns_for
from core.figures.base.paper import WIDE, Paper


def figures_of(trace: Trace, *, step: int = 0, paper: Paper = WIDE) -> list[Part]:
    """What can be drawn of a trace alone.

    Args:
        step: index of the step (of speculative decoding the round) that is looked at.
        paper: decides how many steps a window holds.
    """
    if trace.beam_steps:
        at = min(step, len(trace.beam_steps) - 1)
        return [_part("tree", "beam_tree", trace), _part("step", "beam_step", trace, at)]
    if trace.rounds:
        at = min(step, len(trace.rounds) - 1)
        return [
            *(_part(name, f"spec_{name}", trace) for name in ("timeline", "time", "positions")),
            _part("verification", "spec_verification", trace, at, 0),
            _part("feed", "spec_feed", trace, at),
        ]
    return _of_tokens(trace, step, paper) if trace.token_steps else []


def _of_tokens(trace: Trace, at: int, paper: Paper) -> list[Part]:
    steps: tuple[TokenStep, ...] = trace.token_steps
    chosen = steps[min(at, len(steps) - 1)]
    columns = columns_for(paper.width)
    first = chosen.index // columns * columns
    draw = partial(figures.probability_heatmap, trace, first=first, columns=columns)
    data = partial(figures.probability_heatmap_data, trace)
    found = [
        Part("heatmap", draw, data),
        _part("candidates", "candidate_bars", chosen, trace),
        _part("stages", "step_stages", chosen, trace),
        _part("softmax", "softmax_row", chosen, trace),
        _part("uncertainty", "uncertainty", trace),
        _part("prompt", "prompt_reading", trace),
        _part("time", "timing", [("This run", trace)]),
    ]
    if chosen.compared:
        found.append(_part("compared", "contrast_bars", chosen, trace))
    return found


def _part(name: str, function: str, *of: Any) -> Part:
    draw: Callable[..., Any] = getattr(figures, function)
    data: Callable[..., Any] = getattr(figures, f"{function}_data")
    return Part(name, partial(draw, *of), partial(data, *of))
