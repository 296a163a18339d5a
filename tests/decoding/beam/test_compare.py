"""Greedy's path through a search, by arithmetic on a scripted model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import BeamSearch, Greedy, Sampling, Shaping, collect, rerank
from core.decoding.beam.compare import (
    Ran,
    greedy_path,
    hypothesis_text,
    ran,
    rivals,
    winner_candidates,
)
from core.decoding.beam.replay import ranked_anew
from core.decoding.record.steps import NO_RECORD
from core.models.scripted import ScriptedModel
from tests.figures.beams import beam_model, make_search

# Ids: 0 the end, 1 the, 2 cat, 3 dog, 4 sat, 5 ran, 6 home, 7 the full stop.
TRAP = ScriptedModel(
    {
        (): [0, 0, 0.6, 0.4, 0, 0, 0, 0],
        (2,): [0, 0, 0, 0, 0.26, 0.25, 0.25, 0.24],
        (3,): [0, 0, 0, 0, 0, 0.99, 0.01, 0],
        (4,): [1, 0, 0, 0, 0, 0, 0, 0],
        (5,): [1, 0, 0, 0, 0, 0, 0, 0],
        (6,): [1, 0, 0, 0, 0, 0, 0, 0],
        (7,): [1, 0, 0, 0, 0, 0, 0, 0],
    }
)


def test_greedy_walks_into_the_trap_and_the_search_does_not() -> None:
    search = collect(TRAP, [1], BeamSearch(num_beams=2, max_new_tokens=5))
    assert search.token_ids == (3, 5, 0)
    greedy = greedy_path(search)
    assert [c.token_id for c in greedy.path] == [2, 4, 0]
    assert greedy.parted_at == 0
    assert greedy.end == "finished" and greedy.step == 2


def test_bytes_that_form_no_character_are_named_in_a_path_s_text() -> None:
    tokens = ("<end>", "a", b"\xe6", b"\x98", b"\x94", b"\xec")
    rows = {(last,): [float(at == then) for at in range(6)] for last, then in
            ((1, 2), (2, 3), (3, 4), (4, 5), (5, 0))}  # fmt: skip
    model = ScriptedModel(rows, tokens=tokens)
    search = collect(model, [1], BeamSearch(num_beams=1, max_new_tokens=6))
    (path,) = search.hypotheses
    assert path.text == "昔\ufffd" and path.finish_reason == "eos"
    assert hypothesis_text(search.beam_steps, path) == "昔<EC>"


def test_a_beam_of_one_never_leaves_greedy() -> None:
    search = make_search(1, 8)
    greedy = greedy_path(search)
    assert greedy is not None and greedy.end in ("kept", "finished")
    assert greedy.parted_at is None


@pytest.mark.parametrize("seed", range(12))
def test_the_path_is_that_of_greedy_decoding(seed: int) -> None:
    search = make_search(3, 10, model_seed=seed)
    run = collect(beam_model(seed=seed), [1, 2, 3], Greedy(max_new_tokens=10))
    greedy = greedy_path(search)
    ids = tuple(c.token_id for c in greedy.path)
    assert ids == run.token_ids[: len(ids)]
    if greedy.end == "finished":
        assert ids == run.token_ids
    elif greedy.end == "pruned":
        assert greedy.path[-1].fate == "pruned" and greedy.step == len(ids) - 1
    elif greedy.end == "unseen":
        assert greedy.step == len(ids) and search.beam_steps[greedy.step].index == greedy.step


def test_both_ways_of_losing_greedy_occur() -> None:
    ends = {greedy_path(make_search(2, 10, model_seed=seed)).end for seed in range(40)}
    assert {"pruned", "unseen", "finished"} <= ends


def test_drawn_candidates_tell_nothing_of_greedy() -> None:
    assert greedy_path(make_search(do_sample=True, seed=3)) is None
    assert greedy_path(replace(make_search(), steps=())) is None
    assert greedy_path(collect(beam_model(), [1], Greedy(max_new_tokens=2))) is None


def test_the_winner_may_be_another_one() -> None:
    search = collect(TRAP, [1], BeamSearch(num_beams=2, max_new_tokens=5))
    winner = next(
        hypothesis for hypothesis in search.hypotheses if hypothesis.token_ids == (2, 4, 0)
    )
    greedy = greedy_path(search, winner)
    assert greedy is not None and greedy.parted_at is None


def test_the_winners_candidates_spell_its_tokens() -> None:
    for seed in range(6):
        search = make_search(5, 12, model_seed=seed, num_return_sequences=2)
        for hypothesis in search.hypotheses:
            path = winner_candidates(search.beam_steps, hypothesis)
            assert tuple(c.token_id for c in path) == hypothesis.token_ids
            assert path[-1].cum_logprob == pytest.approx(hypothesis.sum_logprob)


def test_rivals_are_scored_alike_by_the_model_itself() -> None:
    search = collect(TRAP, [1], BeamSearch(num_beams=2, max_new_tokens=5))
    greedy, beam = rivals(search, ran(collect(TRAP, [1], Greedy(max_new_tokens=5))), ())
    assert beam.sum_logprob == pytest.approx(math.log(0.4 * 0.99), abs=1e-5)
    assert greedy.sum_logprob == pytest.approx(math.log(0.6 * 0.26), abs=1e-5)
    assert beam.score == pytest.approx(beam.sum_logprob / 3)
    assert (greedy.forwards, greedy.rows) == (3, 3)
    assert beam.forwards == len(search.beam_steps)
    assert beam.rows == 1 + sum(len(step.groups) for step in search.beam_steps[1:])


def test_a_rival_s_probability_is_the_model_s_own_whatever_penalty_it_was_searched_with() -> None:
    shaping = Shaping(logit_bias=((5, 1.0),))
    search = collect(TRAP, [1], BeamSearch(num_beams=2, max_new_tokens=5, shaping=shaping))
    _, beam = rivals(search, ran(collect(TRAP, [1], Greedy(max_new_tokens=5))), ())
    assert search.token_ids == (3, 5, 0)
    assert beam.sum_logprob == pytest.approx(math.log(0.4 * 0.99), abs=1e-5)


def test_the_best_of_some_samples_pays_for_all_of_them() -> None:
    torch.manual_seed(0)
    runs = [collect(TRAP, [1], Sampling(max_new_tokens=5, seed=seed)) for seed in range(6)]
    search = collect(TRAP, [1], BeamSearch(num_beams=2, max_new_tokens=5))
    best = rivals(search, ran(runs[0]), [ran(run) for run in runs])[-1]
    assert best.name == "Best of 6 samples"
    assert best.forwards == sum(len(run.token_ids) for run in runs)
    totals = [-sum(s.surprisal for s in r.token_steps) / len(r.token_ids) for r in runs]
    assert best.score == pytest.approx(max(totals))


def test_another_length_penalty_scores_every_rival_anew() -> None:
    """Two samples, -2 over 1 token and -3 over 4: by the mean the second wins, by the sum not."""
    search = make_search(5, 12, model_seed=3, stop_strings=(".",))
    greedy, samples = Ran("g", 2, -2.0, 1), (Ran("short", 1, -2.0, 0), Ran("long", 4, -3.0, 3))
    winners = set()
    for penalty, text, score in ((1.0, "long", -0.75), (0.0, "short", -2.0), (-1.0, "short", -2.0)):
        new = replace(search.config, length_penalty=penalty)
        ranking = rerank(search, length_penalty=penalty)
        compared = rivals(ranked_anew(search, ranking, new), greedy, samples)
        assert compared[0].score == pytest.approx(-2.0 / 2**penalty)
        best, tokens = ranking.hypotheses[0], len(ranking.hypotheses[0].token_ids)
        assert (compared[1].text, compared[1].tokens) == (best.text, tokens)
        assert compared[1].score == pytest.approx(best.sum_logprob / tokens**penalty, rel=1e-5)
        assert (compared[2].text, compared[2].score) == (text, pytest.approx(score))
        winners.add(best.token_ids)
    assert len(winners) > 1, "the penalties agree; take another search"


def test_without_a_finished_path_the_search_is_no_rival() -> None:
    search = replace(make_search(), method_record=NO_RECORD)
    assert [rival.name for rival in rivals(search, Ran("g", 2, -2.0, 1), ())] == ["Greedy"]


@pytest.mark.parametrize("seed", range(8))
def test_the_bill_is_that_of_a_search_under_the_settings_it_is_ranked_by(seed: int) -> None:
    settings = {"early_stopping": True, "length_penalty": -1.0}
    search = make_search(4, 14, model_seed=seed, ends=9, early_stopping="never")
    fresh = make_search(4, 14, model_seed=seed, ends=9, **settings)
    ranking = rerank(search, **settings)
    assert ranking.exact
    ranked = ranked_anew(search, ranking, replace(search.config, **settings))
    greedy = Ran("", 1, -1.0, 0)
    bill, again, whole = (rivals(trace, greedy, [])[1] for trace in (ranked, fresh, search))
    assert (bill.forwards, bill.rows) == (again.forwards, again.rows)
    assert again.forwards == len(fresh.beam_steps) < whole.forwards
    assert (bill.ran_forwards, bill.ran_rows) == (whole.forwards, whole.rows)
    assert whole.ran_forwards is None
    assert not (bill.at_least or again.at_least or whole.at_least)


def test_a_search_that_would_have_gone_on_costs_at_least_what_it_did() -> None:
    search = make_search(4, 14, model_seed=1, ends=9, early_stopping=True)
    ranking = rerank(search, early_stopping="never")
    assert ranking.would == "go_on"
    ranked = ranked_anew(search, ranking, replace(search.config, early_stopping="never"))
    rival = rivals(ranked, Ran("", 1, -1.0, 0), [])[1]
    assert rival.at_least and rival.forwards == len(search.beam_steps)
