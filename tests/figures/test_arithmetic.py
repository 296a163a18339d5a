"""The worked row's numbers are the step's own, and its softmax is the recorded distribution."""

import math
from dataclasses import replace

import pytest

from core.decoding.shaping.config import Shaping
from core.figures import softmax_row, softmax_row_data
from core.figures.decode.arithmetic import worked_out
from tests.figures.looking import annotations
from tests.figures.traces import make_trace

TRACE = make_trace(8, shaping=Shaping(temperature=0.7, top_p=0.9))


@pytest.mark.parametrize("step", TRACE.token_steps, ids=lambda step: str(step.index))
def test_each_share_is_the_exponential_over_the_sum(step) -> None:
    arithmetic = worked_out(step, TRACE)
    assert arithmetic.temperature == 0.7 and len(arithmetic.rows) == 3
    assert step.token_id in [row.candidate.token_id for row in arithmetic.rows]
    for row in arithmetic.rows:
        place = step.candidates.index(row.candidate)
        assert row.divided == pytest.approx(row.candidate.logit / 0.7)
        assert row.share == step.stages[1].probs[place]
        assert row.exponential / arithmetic.total == pytest.approx(row.share, rel=1e-6)
    assert arithmetic.rows[0].exponential == 1 and arithmetic.tokens == 512


def test_greedy_and_penalties_show_the_model_s_own_softmax() -> None:
    greedy = make_trace(3, "greedy")
    step = greedy.token_steps[0]
    arithmetic = worked_out(step, greedy)
    assert arithmetic.temperature == 1
    assert [row.share for row in arithmetic.rows] == [c.raw_prob for c in step.candidates[:3]]


def test_the_figure_and_its_table_hold_the_numbers() -> None:
    step = TRACE.token_steps[2]
    arithmetic, texts = worked_out(step, TRACE), annotations(softmax_row(step, TRACE))
    for row in arithmetic.rows:
        assert f"{row.candidate.logit:.3f}".replace("-", "\u2212") in texts
        assert f"{row.exponential:.4g}" in texts
    table = softmax_row_data(step, TRACE)
    assert table["step"].tolist() == [3, 3, 3]
    assert table["exponential"].tolist() == pytest.approx(
        [math.exp(row.divided - arithmetic.rows[0].divided) for row in arithmetic.rows]
    )


def test_another_temperature_than_the_runs_is_explained() -> None:
    trace = make_trace(1, shaping=Shaping(temperature=1.5))
    step = trace.token_steps[0]
    raw, *others = step.stages
    held_back = replace(step, stages=(raw, raw._replace(name="min_new_tokens"), *others))
    subtitles = [softmax_row(shown, trace).layout.meta["subtitle"] for shown in (step, held_back)]
    assert "T is 1.5;" in subtitles[0]
    assert "T is 1 (the run's 1.5 acts after min new tokens)" in subtitles[1]
