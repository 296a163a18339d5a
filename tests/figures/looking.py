"""Looking into figures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from inspect import signature
from typing import Any

import plotly.graph_objects as go

import core.figures
from core.decoding.record.trace import Trace
from core.figures import LIGHT, Theme, probability_heatmap
from tests.figures.forks import make_points

# Tags that the figures write themselves, and the sign before a share that is nearly nothing.
_OWN = re.compile(r'<br>|</?b>|</span>|<span style="|<extra></extra>|<\xa0')


def trace_named(figure: go.Figure, name: str) -> Any:
    """The one trace of that name."""
    matches = [trace for trace in figure.data if trace.name == name]
    assert len(matches) == 1, [trace.name for trace in figure.data]
    return matches[0]


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


def assert_sound(figure: go.Figure, name: str = "") -> str:
    """Plotly accepts every property, no text is markup, and the figure says what it shows.

    Returns its texts without the figures' own tags.
    """
    checked, layout = go.Figure(figure.to_dict()), figure.layout
    assert json.loads(checked.to_json())["data"] == json.loads(figure.to_json())["data"], name
    # So long a title leaves room for a button in a figure 400 px wide.
    assert 5 < len(_OWN.sub("", layout.title.text)) <= 34, name
    assert len(layout.meta["alt"]) > 60 and layout.meta["caption"], name
    texts = {text: _OWN.sub("", text) for text in strings(figure)}
    for text, remainder in texts.items():
        assert not re.search("[<$\u202e]", remainder), (name, text)
        # Plotly fills in no template where it draws nothing.
        assert "%{meta" not in remainder or text in layout.meta.values(), (name, text)
    return "".join(texts.values())


def all_figures(trace: Trace, theme: Theme = LIGHT) -> dict[str, go.Figure]:
    """Every exported figure of the Decode page, the step figures at every step."""
    drawn = {"final": probability_heatmap(trace, value="final", rows=4, theme=theme)}
    for name in figure_names("decode"):
        draw = getattr(core.figures, name)
        first, *others = parameters = list(signature(draw).parameters)
        marked = {"selected": 2} if "selected" in parameters else {}
        if first == "runs":
            drawn[name] = draw([("one", trace), ("two", trace)], theme=theme)
        elif others[0] == "points":
            drawn[name] = draw(trace, make_points(trace), theme=theme, **marked)
        elif first == "trace":
            drawn[name] = draw(trace, theme=theme, **marked)
        elif (first, others[0]) == ("step", "trace"):
            for step in trace.token_steps:
                drawn[f"{name} {step.index}"] = draw(step, trace, theme=theme)
    return drawn


def figure_names(room: str = "") -> list[str]:
    """The exported figures, of one folder of `core.figures` or of all: each has a table."""
    names = [name for name in core.figures.__all__ if f"{name}_data" in core.figures.__all__]
    folder = f"core.figures.{room}"
    return [n for n in names if getattr(core.figures, n).__module__.startswith(folder)]
