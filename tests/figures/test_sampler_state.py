"""A sampler's state over the run: the recorded numbers, and what they aim at."""

import math

import pytest

from core import Shaping
from core.figures import sampler_state, sampler_state_data
from tests.figures.looking import shapes_named, trace_named
from tests.figures.traces import make_trace

MIROSTAT = make_trace(14, shaping=Shaping(mirostat=2, mirostat_tau=3.0, mirostat_eta=0.2))
ADAPTIVE = make_trace(14, shaping=Shaping(adaptive_target=0.3, adaptive_decay=0.5))


def test_the_line_is_mu_and_the_marks_are_the_surprises_that_moved_it() -> None:
    figure = sampler_state(MIROSTAT)
    mu, surprise = (list(trace_named(figure, name).y) for name in ("mu", "surprise"))
    assert mu[0] == 6.0
    for at, (state, seen) in enumerate(zip(mu, surprise, strict=True)):
        step = MIROSTAT.token_steps[at]
        assert state == step.states["mirostat"]
        assert seen == pytest.approx(-math.log2(step.chosen.prob))
        if at + 1 < len(mu):
            assert mu[at + 1] == pytest.approx(state - 0.2 * (seen - 3.0))
    (aim,) = shapes_named(figure, "aim")
    assert (aim.y0, aim.y1) == (3.0, 3.0)
    assert sampler_state_data(MIROSTAT)["state"].tolist() == mu
    assert "Mirostat's mu over 14 steps, from 6.00 bits" in figure.layout.meta["alt"]


def test_the_line_of_adaptive_p_is_the_average_of_the_probabilities() -> None:
    figure = sampler_state(ADAPTIVE)
    average, seen = (list(trace_named(figure, name).y) for name in ("average", "probability"))
    assert average[0] == 0.3
    for at, step in enumerate(ADAPTIVE.token_steps[:-1]):
        assert seen[at] == pytest.approx(step.chosen.raw_prob, rel=1e-5)
        assert average[at + 1] == pytest.approx(0.5 * average[at] + 0.5 * seen[at])


def test_a_click_hands_over_the_step_and_the_selected_one_is_marked() -> None:
    keys = trace_named(sampler_state(MIROSTAT), "surprise").customdata
    assert [tuple(key) for key in keys] == [(s.index, s.token_id) for s in MIROSTAT.token_steps]
    (mark,) = shapes_named(sampler_state(MIROSTAT, selected=3), "selected")
    assert (mark.x0, mark.x1) == (3.5, 4.5)


def test_a_run_without_a_state_gets_a_sentence_and_an_empty_table() -> None:
    plain = make_trace(3)
    assert "No sampler of this run has a state" in str(sampler_state(plain).to_dict())
    assert sampler_state_data(plain).empty
