"""The compared tokens of a step of contrastive search: bars, scores, table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.record.compared import Compared
from core.decoding.record.trace import Trace
from core.figures import DARK, LIGHT, contrast_bars, contrast_bars_data
from tests.figures.looking import annotations, assert_sound, trace_named
from tests.figures.traces import HOSTILE, make_trace


@pytest.fixture
def trace() -> Trace:
    made = make_trace(1, "greedy")
    step = made.token_steps[0]
    contrast = (
        Compared(step.token_id, step.chosen.text, 0.5, 0.25, 0.05),
        Compared(511, HOSTILE[0], 0.25, -0.5, 0.4),
        Compared(510, HOSTILE[7], 0.0, 1.0, -0.6),
    )
    steps = (*made.steps[:-1], replace(step, compared=contrast))
    return replace(made, steps=steps, config=ContrastiveSearch(max_new_tokens=1))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_pair_of_bars_and_a_score_for_each_token(trace, theme) -> None:
    figure = contrast_bars(trace.token_steps[0], trace, theme=theme)
    assert list(trace_named(figure, "probability").x) == [0.5, 0.25, 0.0]
    assert list(trace_named(figure, "largest cosine").x) == [0.25, -0.5, 1.0]
    frame = trace_named(figure, "probability").marker.line
    assert frame.color == theme.accent and list(map(bool, frame.width)) == [True, False, False]
    scores = [a.text for a in figure.layout.annotations if a.name == "score"]
    assert "0.050" in scores[1] and scores[2:] == ["0.400", "−0.600"]
    assert figure.layout.xaxis.range[0] < -0.5
    assert_sound(figure)
    assert any("0.4 × probability" in text for text in annotations(figure))


def test_a_step_of_another_method_gives_a_sentence() -> None:
    sampled = make_trace(1)
    figure = contrast_bars(sampled.token_steps[0], sampled)
    assert not figure.data and "not of a run by contrastive search" in figure.layout.meta["alt"]


def test_the_table_holds_what_is_drawn(trace) -> None:
    table = contrast_bars_data(trace.token_steps[0], trace)
    assert table.probability.tolist() == [0.5, 0.25, 0.0]
    assert table.largest_cosine.tolist() == [0.25, -0.5, 1.0]
    assert table.score.tolist() == [0.05, 0.4, -0.6]
    assert table.chosen.tolist() == [True, False, False]
    assert contrast_bars_data(None, trace).empty
