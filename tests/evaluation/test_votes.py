"""Votes by arithmetic, on attempts that are written down."""

from __future__ import annotations

import pytest

from core import ConfigError, Reasoning, Shaping
from core.decoding.validation import MAX_SEED
from core.evaluation.attempts import attempt_of
from core.evaluation.scoring.verifier import check_arithmetic
from core.evaluation.types import Attempt, Ballot, Problem, ProblemSet
from core.evaluation.votes.ballots import vote
from core.evaluation.votes.compare import compare_rivals
from core.evaluation.votes.sampling import sample_and_vote, seeded
from tests.evaluation.thinkers import ID, THINKS, following, thinker

PROBLEM = Problem("k", "What is 30 + 6?", "36")


def attempt(answer: str | None, mean_logprob: float = -1.0, tokens: int = 10) -> Attempt:
    outcome = "unparsable" if answer is None else "correct" if answer == "36" else "wrong"
    return Attempt(
        problem="k", seed=0, thinking="", answer_text=answer or "", answer=answer, outcome=outcome,
        finish_reason="eos", tokens=tokens, thinking_tokens=0, forced_tokens=0,
        closed_by_budget=False, mean_logprob=mean_logprob, seconds=0.0,
    )  # fmt: skip


def test_the_majority_wins_by_its_margin() -> None:
    result = vote(PROBLEM, [attempt(a) for a in ("36", "35", "36", None, "35", "36", "1")])
    assert result.ballots == (Ballot("36", 3), Ballot("35", 2), Ballot("1", 1))
    assert (result.winner, result.margin, result.tokens) == ("36", 1, 70)
    assert result.is_right("majority")


def test_of_equals_the_first_to_appear_wins_without_a_margin() -> None:
    result = vote(PROBLEM, [attempt(a) for a in ("1", "36", "36", "1")])
    assert (result.winner, result.margin) == ("1", 0)
    assert not result.is_right("majority")


def test_a_lone_answer_wins_by_all_its_votes_and_none_wins_nothing() -> None:
    assert vote(PROBLEM, [attempt("36"), attempt("36")]).margin == 2
    nothing = vote(PROBLEM, [attempt(None)])
    assert (nothing.winner, nothing.margin, nothing.best, nothing.verified) == (None, 0, None, None)
    assert vote(PROBLEM, []).answer_by("single") is None
    assert [nothing.answer_by(rule) for rule in ("single", "majority", "best_of_n")] == [None] * 3


def test_best_of_n_is_the_surest_attempt_that_answered() -> None:
    result = vote(PROBLEM, [attempt("1", -0.9), attempt(None, -0.1), attempt("36", -0.5)])
    assert result.best == 2 and result.answer_by("best_of_n") == "36"
    assert result.answer_by("single") == "1"
    assert vote(PROBLEM, [attempt("1", -0.5), attempt("36", -0.5)]).best == 0


def test_a_verifier_overrules_the_majority_and_may_reject_all() -> None:
    attempts = [attempt("1"), attempt("1"), attempt("36"), attempt(None)]
    result = vote(PROBLEM, attempts, check_arithmetic)
    assert result.winner == "1" and result.scores == (0.0, 0.0, 1.0, 0.0)
    assert result.verified == 2 and result.is_right("verifier")
    assert vote(PROBLEM, attempts[:2], check_arithmetic).verified is None


def test_samples_are_the_runs_of_their_seeds() -> None:
    from core import collect

    even = {"a": 0.25, "b": 0.25, "c": 0.25, "</think>": 0.25}
    chain = {**THINKS, "a": even, "b": even, "c": even, "</think>": {"4": 0.6, "2": 0.4}, "2": "."}
    model = following(chain)
    model.encode = lambda text: [6] if text.endswith("\n") else type(model).encode(model, text)
    config = Reasoning(do_sample=True, seed=10, max_thinking_tokens=6)
    problem = Problem("k", "q", "4")
    heard: list[Attempt] = []
    result = sample_and_vote(model, problem, config, 9, on_attempt=heard.append)
    assert [a.seed for a in result.attempts] == list(range(10, 19))
    assert sorted(heard, key=lambda a: a.seed) == list(result.attempts)
    alone = [
        attempt_of(problem, collect(model, [6], seeded_config))
        for seeded_config in seeded(config, 9)
    ]
    assert [sample.answer_text for sample in result.attempts] == [
        sample.answer_text for sample in alone
    ]
    assert sum(ballot.votes for ballot in result.ballots) == 9
    assert {ballot.answer for ballot in result.ballots} == {"4", "2"}


def test_samples_that_would_all_be_equal_are_refused() -> None:
    with pytest.raises(ConfigError, match="do_sample"):
        seeded(Reasoning(), 2)
    with pytest.raises(ConfigError, match="temperature above 0"):
        seeded(Reasoning(do_sample=True, shaping=Shaping(temperature=0.0)), 2)
    with pytest.raises(ConfigError, match="no room for 2 seeds"):
        seeded(Reasoning(do_sample=True, seed=MAX_SEED), 2)
    with pytest.raises(ConfigError, match=r"\[1, 256\]"):
        seeded(Reasoning(do_sample=True), 0)
    assert seeded(Reasoning(), 1) == [Reasoning()]


def test_an_attempt_gets_no_more_tokens_than_the_window_holds_beside_the_longest_question() -> None:
    model = thinker(b="a")
    model.encode = lambda text: (
        [ID["q"]] * len(text.strip()) if text.startswith("q") else type(model).encode(model, text)
    )
    model.context_window = 64
    problems = ProblemSet("two", (Problem("one", "q", "4"), Problem("two", "qqqq", "4")))
    config = Reasoning(do_sample=True, max_answer_tokens=4)
    rivalry = compare_rivals(model, problems, config, total_tokens=90, samples=3)
    assert [rival.budget for rival in rivalry.rivals] == [60, 60, 30, 30]
    # It never stops thinking by itself: an answer shows that the close had room.
    assert [rival.correct.hits for rival in rivalry.rivals] == [2, 2, 2, 2]
    with pytest.raises(ConfigError, match="samples must lie in"):
        compare_rivals(model, problems, config, total_tokens=90, samples=0)
    model.context_window = 20
    with pytest.raises(ConfigError, match="16 tokens an attempt leave no room"):
        compare_rivals(model, problems, config, total_tokens=90, samples=3)
