"""The sentence on drafts that hardly help."""

from __future__ import annotations

from typing import Any

from core import Speculative, Trace, collect, load_model
from core.figures.speculative.drafts.benefit import little_benefit_words
from tests.figures.specs import make_comparison, timed


def run(**settings: Any) -> Trace:
    config = Speculative(**{"seed": 16, "max_new_tokens": 40, **settings})
    draft = load_model("embedded:draft") if config.source.needs_draft else None
    return collect(load_model("embedded:target"), "Once upon a time", config, draft=draft)


def test_a_source_of_which_little_is_accepted_is_said_not_to_help() -> None:
    trace = timed(run(drafter="jacobi"), 0.0, 1.0, 0.0)
    words = little_benefit_words(trace)
    drafted = sum(len(step.drafted) for step in trace.rounds)
    accepted = sum(len(step.accepted) for step in trace.rounds)
    assert f"hardly help here: with {accepted} of {drafted} drafted tokens accepted" in words
    assert "forwards of the target" not in words
    assert "The target alone emits 1 in a shorter round" in words


def test_the_time_of_proposing_decides() -> None:
    trace = run()
    emitted = len(trace.token_ids) / len(trace.rounds)
    assert emitted > 1.5
    assert little_benefit_words(timed(trace, 0.0, 1.0, 0.0)) == ""
    assert little_benefit_words(timed(trace, (emitted / 1.1 - 1) * 0.99, 1.0, 0.0)) == ""
    words = little_benefit_words(timed(trace, emitted, 1.0, 0.0))
    assert f"proposing them takes as long as {emitted:.1f} forwards of the target" in words


def test_a_measurement_decides_over_the_estimate() -> None:
    trace = timed(run(drafter="jacobi"), 0.0, 1.0, 0.0)
    slow, fast = make_comparison(2.0, 1.0), make_comparison(0.5, 1.0)
    words = little_benefit_words(trace, slow)
    assert words.endswith("Slower here, 0.50 times as fast, as measured.")
    assert little_benefit_words(trace, fast) == ""


def test_without_times_or_rounds_enough_nothing_is_said() -> None:
    assert little_benefit_words(timed(run(), 0.0, 0.0, 0.0)) == ""
    assert little_benefit_words(timed(run(drafter="jacobi", max_new_tokens=5), 0.0, 1.0, 0.0)) == ""
