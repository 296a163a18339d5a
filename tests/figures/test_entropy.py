"""Entropy and surprisal are the trace's own, in the unit asked for."""

import math

import pytest

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


def test_long_runs_write_a_part_of_their_tokens():
    assert 20 <= len(uncertainty(make_trace(120)).layout.xaxis.ticktext) <= 32
    assert len(uncertainty(TRACE).layout.xaxis.ticktext) == 12
