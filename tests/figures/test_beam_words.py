"""A beam's winner and its candidates in words."""

from __future__ import annotations

from math import exp

import pytest

from core import Greedy, collect
from core.figures.beam.words import margin_words, winner_words
from tests.figures.beams import beam_model, make_search


@pytest.mark.parametrize("seed", range(6))
def test_the_winner_words_say_what_greedy_decoding_does(seed: int) -> None:
    search = make_search(4, 8, model_seed=seed)
    greedy = collect(beam_model(seed=seed), [1, 2, 3], Greedy(max_new_tokens=8))
    words = winner_words(search)
    if "Greedy would have" in words:
        lost = greedy.token_ids[: len(search.token_ids)] != search.token_ids
        assert ("lost it" in words) == lost
    else:
        assert words == "The winner was first of the beam at every step."


def test_a_kept_candidate_is_so_many_times_as_likely_as_the_last_one() -> None:
    steps = make_search().beam_steps
    first, last = (of(steps[2].kept, key=lambda c: c.cum_logprob) for of in (max, min))
    times = exp(first.cum_logprob - last.cum_logprob)
    assert margin_words(steps, 2, first) == f"{times:,.1f} times as likely as the last one kept."
    assert margin_words(steps, 2, last) == ""
