"""Entropy and surprisal are the trace's own, in the unit asked for."""

import math

import pytest

from core import load_model
from core.decoding.reading.read import read_text
from core.decoding.reading.types import text_tokens, totals_of
from core.figures import uncertainty, uncertainty_data
from tests.figures.looking import shapes_named, trace_named
from tests.figures.traces import make_trace

TRACE = make_trace(12)


@pytest.mark.parametrize(("unit", "scale"), [("nats", 1.0), ("bits", 1 / math.log(2))])
def test_points_are_the_steps_values_in_the_unit(unit, scale):
    figure = uncertainty(TRACE, unit=unit)
    entropy = [step.entropy * scale for step in TRACE.token_steps]
    surprisal = [step.surprisal * scale for step in TRACE.token_steps]
    assert list(trace_named(figure, "entropy").y) == pytest.approx(entropy)
    assert list(trace_named(figure, "surprisal").y) == pytest.approx(surprisal)
    table = uncertainty_data(TRACE, unit=unit)
    assert table[f"entropy_{unit}"].tolist() == pytest.approx(entropy)
    assert table[f"surprisal_{unit}"].tolist() == pytest.approx(surprisal)


def test_clicks_hand_over_the_step():
    for name in ("entropy", "surprisal"):
        keys = trace_named(uncertainty(TRACE), name).customdata
        assert [tuple(key) for key in keys] == [(s.index, s.token_id) for s in TRACE.token_steps]


def test_the_selected_step_is_marked():
    (mark,) = shapes_named(uncertainty(TRACE, selected=3), "selected")
    assert (mark.x0, mark.x1) == (3.5, 4.5)


def test_a_text_that_was_read_has_all_its_predicted_tokens():
    """昔 is three tokens of bytes, of which a reading's prompt has several."""
    trace = read_text(load_model("embedded:target"), "昔々、あるところに")
    before, totals = len(trace.prompt_ids), totals_of(text_tokens(trace))
    assert before > 1 and totals.tokens == before + len(trace.token_ids) - 1
    figure = uncertainty(trace, reads=True, selected=0)
    surprisal = trace_named(figure, "surprisal")
    assert len(surprisal.y) == totals.tokens and sum(surprisal.y) == pytest.approx(totals.nats)
    assert list(surprisal.x) == list(range(2, totals.tokens + 2))
    steps = [key[0] for key in surprisal.customdata]
    assert steps == list(range(1 - before, len(trace.token_ids)))
    assert shapes_named(figure, "selected")[0].x0 == before + 0.5
    assert len(uncertainty_data(trace, reads=True)) == totals.tokens


def test_long_runs_write_a_part_of_their_tokens():
    assert 20 <= len(uncertainty(make_trace(120)).layout.xaxis.ticktext) <= 32
    assert len(uncertainty(TRACE).layout.xaxis.ticktext) == 12
