"""Re-ranking a stored search equals searching again; the guess of parents is counted."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from core import BeamSearch, Greedy, collect, follow, guess_parents, rerank
from core.decoding.beam.hypotheses import NOTHING, BeamHypotheses, float32, score_of
from core.decoding.beam.replay import ranked_anew
from core.decoding.errors import ConfigError, TraceError
from core.decoding.record.notes import RANKED_ANEW
from core.models.scripted import ScriptedModel
from tests.decoding.beam.beams import ARCHITECTURES, random_case
from tests.decoding.checks.forging import forge
from tests.depth import cases
from tests.figures.beams import make_search


def _paths(hypotheses) -> list[tuple]:
    return [(h.token_ids, h.parents, h.score, h.text, h.finish_reason) for h in hypotheses]


def test_reranking_equals_searching_again_wherever_it_says_that_it_is_exact() -> None:
    exact, differing, inexact = 0, 0, 0
    for case in range(cases(120, 80)):
        model, prompt, config = random_case(ARCHITECTURES[case % 6], case)
        dice = random.Random(case)
        if config.do_sample is False and config.num_beams in (4, 8) and dice.random() < 0.6:
            config = replace(config, num_beam_groups=2, diversity_penalty=0.5)
        trace = collect(model, prompt, config)
        changes = {
            "length_penalty": dice.choice([-2.0, -0.5, 0.0, 0.5, 1.5, 3.0]),
            "early_stopping": dice.choice([None, True, False, "never"]),
            "num_return_sequences": config.num_beams,
        }
        reranked = rerank(trace, **changes)
        settings = {name: value for name, value in changes.items() if value is not None}
        again = collect(model, prompt, replace(config, **settings))
        if reranked.exact:
            exact += 1
            assert _paths(reranked.hypotheses) == _paths(again.hypotheses)
            steps = len(trace.beam_steps)
            if config.num_beam_groups == 1:
                assert (reranked.differs_at is None) == (len(again.beam_steps) == steps)
                if reranked.differs_at is not None:
                    assert (reranked.would, reranked.differs_at) == (
                        "stop",
                        len(again.beam_steps) - 1,
                    )
                    differing += 1
        else:
            inexact += 1
            assert reranked.differs_at is not None
            if config.num_beam_groups == 1:
                assert reranked.would == "go_on"
                assert len(again.beam_steps) > len(trace.beam_steps)
    assert min(exact, differing, inexact) >= 3


def test_reranking_by_the_run_s_own_settings_changes_nothing() -> None:
    for case in range(6):
        model, prompt, config = random_case(ARCHITECTURES[case % 6], case)
        trace = collect(model, prompt, config)
        reranked = rerank(trace)
        assert reranked.hypotheses == trace.hypotheses[: config.num_return_sequences]
        assert (reranked.exact, reranked.differs_at, reranked.would) == (True, None, None)


def test_a_dropped_hypothesis_comes_back_under_a_penalty_that_favours_it() -> None:
    script = {(): [0.35, 0.55, 0.1], (2,): [0.9, 0.05, 0.05]}
    config = BeamSearch(num_beams=2, max_new_tokens=4, length_penalty=3.0, early_stopping="never")
    trace = collect(ScriptedModel(script, tokens=("<end>", "a", "b")), [1], config)
    assert (0,) not in [hypothesis.token_ids for hypothesis in trace.hypotheses]
    short = rerank(trace, length_penalty=-3.0, num_return_sequences=2)
    assert short.hypotheses[0].token_ids == (0,)
    assert short.hypotheses[0].score == pytest.approx(math.log(0.35))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"length_penalty": 9.0}, "length_penalty must lie in"),
        ({"num_return_sequences": 3}, r"must lie in \[1, 2\]"),
        ({"early_stopping": "soon"}, "must be True, False or 'never'"),
    ],
)
def test_a_bad_value_is_refused(changes: dict, words: str) -> None:
    model = ScriptedModel({(): [0.5, 0.5]}, tokens=("<end>", "a"))
    trace = collect(model, [1], BeamSearch(num_beams=2, max_new_tokens=2))
    with pytest.raises(ConfigError, match=words):
        rerank(trace, **changes)


def test_another_method_s_trace_is_refused() -> None:
    model = ScriptedModel({(): [0.5, 0.5]}, tokens=("<end>", "a"))
    trace = collect(model, [1], Greedy(max_new_tokens=2))
    for function in (rerank, guess_parents):
        with pytest.raises(TraceError, match="trace of greedy, not of beam search"):
            function(trace)


def test_the_guess_is_the_row_that_gives_the_token_the_highest_log_probability() -> None:
    """Row 0 is far ahead, so both tokens come from it, though row 1 likes the second one better."""
    script = {(): [0, 0.9, 0.1, 0, 0], (1,): [0, 0, 0, 0.6, 0.4], (2,): [0, 0, 0, 0.1, 0.9]}
    model = ScriptedModel(script, tokens=("<end>", "a", "b", "c", "d"))
    trace = collect(model, [3], BeamSearch(num_beams=2, max_new_tokens=3))
    guessed = [guess for guess in guess_parents(trace).guesses if guess.step == 1]
    assert [(guess.token_id, guess.parent, guess.guess) for guess in guessed] == [
        (3, 0, 0),
        (4, 0, 1),
    ]
    table = trace.beam_steps[1].kept_logprobs
    # A row where the token is banned is never guessed.
    banned = forge(trace, 1, kept_logprobs=(table[0], (table[1][0], None)))
    guesses = guess_parents(banned)
    assert [guess.guess for guess in guesses.guesses if guess.step == 1] == [0, 0]
    wrong = sum(guess.guess != guess.parent for guess in guesses.guesses)
    assert guesses.error_rate == wrong / len(guesses.guesses)
    assert guess_parents(replace(trace, steps=())).error_rate == 0.0


def test_a_path_can_be_followed_to_where_it_leaves_the_beam() -> None:
    script = {(): [0.25] * 4, (3,): [0, 0.5, 0.3, 0.2], (1,): [0, 0.4, 0.3, 0.3]}
    script[(2,)] = [0, 0, 0, 1]
    model = ScriptedModel(script, tokens=("<end>", "a", "b", "c"))
    steps = collect(model, [3], BeamSearch(num_beams=2, max_new_tokens=3)).beam_steps
    greedy = collect(model, [3], Greedy(max_new_tokens=3)).token_ids
    assert greedy == (1, 1, 1)
    assert [(c.token_id, c.fate) for c in follow(steps, greedy)] == [
        (1, "kept"),
        (1, "kept"),
        (1, "pruned"),
    ]
    assert [c.fate for c in follow(steps, [2, 3, 1])] == ["kept", "kept", "finished"]
    assert follow(steps, [0]) == ()
    assert follow(steps, greedy, group=1) == ()
    assert follow((), greedy) == ()


def test_scores_are_float32_and_leave_it_nowhere() -> None:
    assert score_of(-1.0, 3, 1.0) == float32(-1 / 3) != -1 / 3
    assert score_of(-7.0, 10, 0.0) == -7.0
    assert score_of(-1e30, 100_000, -5.0) == NOTHING
    assert score_of(-2.0, 100_000, 5.0) > -1e-20


@pytest.mark.parametrize(
    ("early_stopping", "length_penalty", "best", "rule"),
    [
        (True, 1.0, -0.1, "enough"),
        (False, 1.0, -3.0, None),
        (False, 1.0, -9.0, "no_better"),
        ("never", 1.0, -9.0, None),
        ("never", 1.0, -21.0, "no_better"),
        ("never", 0.0, -9.0, "no_better"),
        (False, 1.0, None, "no_row"),
    ],
)
def test_the_rule_that_ends_a_search(early_stopping, length_penalty, best, rule) -> None:
    """Two hypotheses with scores of -1 and -2, rows of 4 tokens, and 10 tokens at most."""
    held = BeamHypotheses(2, length_penalty, early_stopping, 10)
    held.add([(-1.0, "x"), (-2.0, "y")], 1)
    assert [entry.item for entry in held.entries] == ["x", "y"]
    assert held.stop_reason(best, 4) == rule


def test_a_book_that_is_not_full_ends_nothing_and_a_full_one_drops_the_worst() -> None:
    held = BeamHypotheses(2, 1.0, True, 10)
    held.add([(-5.0, "x")], 1)
    assert held.stop_reason(-100.0, 1) is None
    held.add([(-4.0, "y"), (-12.0, "z")], 2)
    assert [(entry.item, entry.score) for entry in held.entries] == [("y", -2.0), ("x", -5.0)]


def test_a_trace_that_is_ranked_anew_says_both_settings() -> None:
    search = make_search(5, 12, model_seed=3, num_return_sequences=2)
    assert ranked_anew(search, rerank(search), search.config) is search
    new = replace(search.config, length_penalty=-0.25, early_stopping="never")
    ranking = rerank(search, length_penalty=-0.25, early_stopping="never")
    reranked = ranked_anew(search, ranking, new)
    assert (reranked.config, reranked.hypotheses) == (new, ranking.hypotheses)
    assert (reranked.token_ids, reranked.text) == (
        reranked.hypotheses[0].token_ids,
        reranked.hypotheses[0].text,
    )
    assert reranked.steps == search.steps
    ((key, words),) = reranked.notes
    assert key == RANKED_ANEW
    assert words == "ranked anew after a search with length penalty 1, early stopping off"
