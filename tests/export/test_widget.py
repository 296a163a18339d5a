"""The data and the class of a trace's widget."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from core import explore
from core.decoding.errors import FigureError
from core.export.web import bundle
from core.export.web.widget import _widget_class, script, widget_data
from core.figures.opening import contested_step
from tests.figures.beams import make_search
from tests.figures.traces import make_trace


def test_its_data_are_json_and_hold_every_step_s_candidates() -> None:
    trace = make_trace(6, hostile=True)
    data = json.loads(json.dumps(widget_data(trace)))
    assert len(data["steps"]) == len(trace.token_steps)
    for own, step in zip(data["steps"], trace.token_steps, strict=True):
        assert own["token"] == step.token_id
        assert [c["prob"] for c in own["candidates"]] == [c.prob for c in step.candidates]
        assert own["knobs"]["start"] == data["start"]
    assert [knob["name"] for knob in data["knobs"]] == ["temperature", "top_k", "top_p", "min_p"]


def test_a_step_that_knobs_cannot_shape_has_none() -> None:
    trace = make_trace(3)
    steps = list(trace.steps)
    first = steps.index(trace.token_steps[0])
    cut = trace.token_steps[0].stages[-1]._replace(name="typical_p")
    steps[first] = replace(trace.token_steps[0], stages=(*trace.token_steps[0].stages, cut))
    data = widget_data(replace(trace, steps=tuple(steps)))
    assert data["steps"][0]["knobs"] is None and data["steps"][1]["knobs"] is not None


def test_it_shapes_by_the_script_of_the_saved_page() -> None:
    text = script()
    own = Path(bundle.__file__).with_name("knobs.js").read_text("utf-8")
    words, _, rest = text.partition("\n")
    assert words == "const WORDS = {};", "English needs no translations"
    assert rest.startswith(own) and text.count("const Knobs") == 1 and "export default" in text
    assert "innerHTML" not in text


def test_a_trace_gives_one_and_a_search_says_why_not() -> None:
    pytest.importorskip("anywidget")
    trace = make_trace(4)
    widget = trace.widget()
    assert widget.step == contested_step(trace) and len(widget.data["steps"]) == 4
    assert explore(make_trace(4), step=9).step == 3
    with pytest.raises(FigureError, match="no steps of one token"):
        explore(make_search())


def test_without_anywidget_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widget_class.cache_clear()
    with pytest.raises(FigureError, match="pip install anywidget"):
        make_trace(2).widget()
    _widget_class.cache_clear()
