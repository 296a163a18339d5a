"""Reading the prompt: guesses, what followed, and the one guess that counts."""

import math

import pytest

from core.figures import LIGHT, prompt_reading, prompt_reading_data
from tests.figures.looking import annotations, shapes_named, trace_named
from tests.figures.traces import make_trace

TRACE = make_trace(4, prompt_tokens=9)
POSITIONS = TRACE.prompt_step.positions


def test_cells_are_the_guess_and_the_probability_of_what_follows():
    z = trace_named(prompt_reading(TRACE), "probability").z
    for position in POSITIONS:
        assert z[0][position.index] == position.candidates[0].raw_prob
    for position in POSITIONS[:-1]:
        assert z[1][position.index] == position.next_prob


def test_after_the_last_position_stands_the_first_generated_token():
    z = trace_named(prompt_reading(TRACE), "probability").z
    assert z[1][8] == TRACE.token_steps[0].chosen.raw_prob


def test_only_the_last_guess_has_the_ring():
    figure = prompt_reading(TRACE)
    ring = trace_named(figure, "chosen")
    assert list(ring.x) == [8]
    assert round(ring.base[0] + 0.46) == 0
    assert ring.marker.line.color == LIGHT.accent
    assert any("only prediction" in text for text in annotations(figure))


def test_a_window_without_the_last_position_points_at_nothing():
    figure = prompt_reading(TRACE, first=2, columns=3, selected=3)
    assert list(figure.layout.xaxis.ticktext) == ["3", "4", "5"]
    assert "chosen" not in [drawn.name for drawn in figure.data]
    assert not any("only prediction" in text for text in annotations(figure))
    (mark,) = shapes_named(figure, "selected")
    assert (mark.x0, mark.x1) == (0.5, 1.5)


def test_marks_are_a_tick_for_a_right_guess_and_the_rank_else():
    figure = prompt_reading(TRACE)
    marks = {
        x: text
        for drawn in figure.data
        if drawn.type == "bar" and drawn.name == "tokens"
        for x, base, text in zip(drawn.x, drawn.base, drawn.text, strict=True)
        if round(base + 0.5) == 2
    }
    for position in POSITIONS[:-1]:
        right = position.candidates[0].token_id == position.next_token_id
        assert marks[position.index] == ("✓" if right else str(position.next_rank))
    assert marks[8] == "chosen"


def test_surprisal_is_that_of_what_follows():
    y = trace_named(prompt_reading(TRACE), "surprisal").y
    expected = [-math.log(position.next_prob) for position in POSITIONS[:-1]]
    assert list(y)[:-1] == pytest.approx(expected)
    assert y[-1] == pytest.approx(TRACE.token_steps[0].surprisal)


def test_the_table_is_what_is_drawn():
    table = prompt_reading_data(TRACE)
    assert table["token_id"].tolist() == list(TRACE.prompt_ids)
    assert table["next_id"].tolist() == [*TRACE.prompt_ids[1:], TRACE.token_ids[0]]
    assert table["next_is_generated"].tolist() == [False] * 8 + [True]
    assert table["guess"].tolist() == [position.candidates[0].text for position in POSITIONS]
    assert prompt_reading_data(TRACE, first=2, columns=3)["position"].tolist() == [3, 4, 5]
