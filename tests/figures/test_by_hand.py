"""The search over three words: its numbers can be multiplied, and beam search finds the better."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from core import Greedy, collect
from core.decoding.record.trace import Trace
from core.figures import beam_by_hand, beam_by_hand_data
from core.figures.base.paper import Paper, printed
from core.traces.three_words import PROMPT, three_word_model, three_word_search
from tests.figures.beams import make_search
from tests.figures.looking import assert_sound

STORED = Path(__file__).parents[2] / "assets/traces/three-words.json"


def test_greedy_decoding_is_short_sighted_and_a_beam_of_two_is_not() -> None:
    search, greedy = (
        three_word_search(),
        collect(three_word_model(), PROMPT, Greedy(max_new_tokens=2)),
    )
    assert (greedy.text, search.text) == (" left left", " right right")
    assert math.exp(search.hypotheses[0].sum_logprob) == pytest.approx(0.4 * 0.9)
    product = math.prod(step.chosen.raw_prob for step in greedy.token_steps)
    assert product == pytest.approx(0.5 * 0.4)


def test_the_stored_search_is_the_one_that_the_model_makes_now() -> None:
    stored, made = Trace.load(STORED), three_word_search()
    assert stored.token_ids == made.token_ids
    assert stored.beam_steps == tuple(
        replace(step, **_seconds(one))
        for step, one in zip(made.beam_steps, stored.beam_steps, strict=True)
    )
    assert stored.checks and all(check.passed for check in stored.checks)


def _seconds(step: object) -> dict[str, object]:
    return {"seconds": step.seconds}  # type: ignore[attr-defined]


def test_each_product_is_that_of_its_edges() -> None:
    rows = beam_by_hand_data(three_word_search())
    first = dict(zip(rows["word"][:3], rows["product"][:3], strict=True))
    for row in rows[3:].itertuples():
        assert row.product == pytest.approx(first[row.after] * row.prob)
    assert rows[rows["greedy"]]["product"].min() == pytest.approx(0.2)
    assert rows[rows["best"]]["product"].min() == pytest.approx(0.36)


@pytest.mark.parametrize("paper", [Paper(), Paper(width=900.0), printed("85 mm")])
def test_every_factor_stands_in_the_gap_before_its_word(paper: Paper) -> None:
    figure = beam_by_hand(three_word_search(), paper=paper)
    assert_sound(figure)
    factors = [note for note in figure.layout.annotations if note.name == "factor"]
    assert sorted(note.text for note in factors) == sorted(
        f"× {factor}" for factor in (0.5, 0.4, 0.1, 0.4, 0.35, 0.25, 0.9)
    )
    boxes = [(x, x + width) for bar in figure.data if bar.type == "bar"
             for x, width in zip(bar.base, bar.x, strict=True)]  # fmt: skip
    for note in factors:
        assert not any(start - 20 < note.x < end for start, end in boxes)
    subtitle = figure.layout.meta["subtitle"]
    assert "left left: 0.5 × 0.4 = 0.2" in subtitle and "right right: 0.4 × 0.9 = 0.36" in subtitle


def test_a_larger_search_is_none_by_hand() -> None:
    assert "at most" in beam_by_hand(make_search(4, 12)).layout.meta["alt"]
