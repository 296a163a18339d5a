"""Looking into figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import plotly.graph_objects as go

from core.decoding.trace import Trace
from core.figures import (
    LIGHT,
    Theme,
    candidate_bars,
    probability_heatmap,
    prompt_reading,
    step_stages,
    timing,
    uncertainty,
)


def trace_named(figure: go.Figure, name: str) -> Any:
    """The one trace of that name."""
    found = [trace for trace in figure.data if trace.name == name]
    assert len(found) == 1, [trace.name for trace in figure.data]
    return found[0]


def shapes_named(figure: go.Figure, name: str) -> list[Any]:
    """All shapes of that name."""
    return [shape for shape in figure.layout.shapes if shape.name == name]


def annotations(figure: go.Figure) -> list[str]:
    """The text of all annotations."""
    return [annotation.text for annotation in figure.layout.annotations]


def strings(figure: go.Figure) -> Iterator[str]:
    """Every string in the figure's JSON, as the browser gets it."""

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from walk(key)
                yield from walk(item)
        elif isinstance(value, list):
            for item in value:
                yield from walk(item)

    yield from walk(json.loads(figure.to_json()))


def all_figures(trace: Trace, theme: Theme = LIGHT) -> dict[str, go.Figure]:
    """Every figure of one trace, the step figures at every step."""
    figures = {
        "heatmap raw": probability_heatmap(trace, selected=2, theme=theme),
        "heatmap final": probability_heatmap(trace, value="final", rows=4, theme=theme),
        "uncertainty": uncertainty(trace, selected=2, theme=theme),
        "prompt": prompt_reading(trace, selected=1, theme=theme),
        "timing": timing([("one", trace), ("two", trace)], theme=theme),
    }
    for step in trace.token_steps:
        figures[f"bars {step.index}"] = candidate_bars(step, trace, theme=theme)
        figures[f"way {step.index}"] = step_stages(step, trace, theme=theme)
    return figures
