"""The measures of two runs: infinite steps and runs of other tokens are told in words."""

from __future__ import annotations

import math

import pytest

from core.decoding.comparison.measures import Divergence, recorded_measures
from core.figures import pair_lines
from tests.figures.forks import make_fork
from tests.figures.traces import make_trace


@pytest.fixture(scope="module")
def runs():
    run = make_trace(6)
    return run, make_fork(run, 3)


def _with(measures, infinite):
    """The measures with an infinite divergence at each of these steps."""
    return measures._replace(
        steps=tuple(
            step._replace(divergence=Divergence(math.inf, 0.2, 0.5)) if at in infinite else step
            for at, step in enumerate(measures.steps)
        )
    )


def test_the_alt_text_counts_infinite_steps(runs) -> None:
    figure = pair_lines(*runs, _with(recorded_measures(*runs), {1, 2}), measure="kl")
    alt = figure.layout.meta["alt"]
    assert "infinite at 2 steps, outside the mean." in alt


def test_a_line_of_infinite_steps_alone_is_drawn(runs) -> None:
    measures = recorded_measures(*runs)
    endless = Divergence(math.inf, math.inf, 1.0)
    every = measures._replace(
        steps=tuple(step._replace(divergence=endless) for step in measures.steps)
    )
    figure = pair_lines(*runs, every, measure="kl")
    assert set(figure.data[0].marker.symbol) == {"triangle-up-open"}
    assert "infinite at" in figure.layout.meta["alt"] and "mean 0" not in figure.layout.meta["alt"]


def test_runs_of_other_tokens_say_so(runs) -> None:
    measures = recorded_measures(*runs)
    steps = tuple(step._replace(divergence=None) for step in measures.steps)
    other = measures._replace(steps=steps, other_tokens="token 5 is '<b>' in A and 'c' in B")
    notes = pair_lines(*runs, other, measure="kl").layout.annotations
    drawn = " ".join(note.text for note in notes).replace("<br>", " ").replace("\xa0", " ")
    assert "different tokens" in drawn and "&lt;b&gt;" in drawn and "<b>' in A" not in drawn
    assert "different tokens" not in str(pair_lines(*runs, other, measure="entropy"))
