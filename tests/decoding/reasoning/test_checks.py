"""Every rule of a budget can be broken by a forgery, and the check of that name finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import Reasoning, Trace, check, collect
from core.decoding.record.steps import Draw
from tests.decoding.checks.forging import failed, forge
from tests.evaluation.thinkers import ID, THINKS, following, thinker

PROMPT = [ID["q"]]
BUDGET = "budget_kept"
FORCED = "forced_texts"
ORDER = "thinking_first"
CALLS = "calls_answered"
AGAIN = "decided_again"


@pytest.fixture(scope="module")
def model():
    return thinker()


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    """[<think>] a b c [Wait] [,] b [</think>] 4 . <end>"""
    settings = Reasoning(ignore_end=1, wait_text="Wait,", max_thinking_tokens=6)
    made = collect(model, PROMPT, settings)
    assert [step.forced_as for step in made.token_steps if step.forced_as] == [
        "think_start", "wait", "wait", "think_end",
    ]  # fmt: skip
    return made


def with_config(trace: Trace, **changes) -> Trace:
    return replace(trace, config=replace(trace.config, **changes))


def test_an_honest_trace_passes(trace, model) -> None:
    assert failed(trace, model) == set()
    names = [outcome.name for outcome in check(trace, model)]
    assert {BUDGET, FORCED, ORDER, CALLS, AGAIN} <= set(names)


@pytest.mark.parametrize("budget", [0, 4, 5, 7, 100])
def test_another_budget_is_found(trace, model, budget) -> None:
    forged = with_config(trace, max_thinking_tokens=budget)
    assert BUDGET in failed(forged) and AGAIN in failed(forged, model)


def test_a_smaller_answer_bound_and_fewer_ignored_ends_are_found(trace, model) -> None:
    assert BUDGET in failed(with_config(trace, max_answer_tokens=2))
    assert BUDGET in failed(with_config(trace, ignore_end=0))
    # More of them would have changed nothing: the bound came first.
    assert failed(with_config(trace, ignore_end=2), model) == set()


def test_an_attempt_to_stop_that_was_let_through_is_found(model) -> None:
    trace = collect(model, PROMPT, Reasoning())
    forged = with_config(trace, ignore_end=1, wait_text="Wait,")
    assert BUDGET in failed(forged) and AGAIN in failed(forged, model)


def test_other_texts_than_the_settings_are_found(trace, model) -> None:
    for change in ({"wait_text": "Wait."}, {"think_end": "b"}, {"think_start": "a"}):
        assert FORCED in failed(with_config(trace, **change)), change
    assert AGAIN in failed(with_config(trace, wait_text="Wait."), model)


def test_a_chosen_token_that_poses_as_forced_is_found(trace) -> None:
    own = trace.token_steps[1]
    forged = forge(trace, 1, origin="forced", forced_as="wait", draw=Draw("forced"))
    assert "stages_of_settings" in failed(forged)
    assert FORCED in failed(forged) and own.forced_as is None


def test_a_forced_token_that_poses_as_chosen_is_found(trace, model) -> None:
    forged = forge(trace, 4, origin="argmax", forced_as=None, instead_of=None, draw=Draw("argmax"))
    found = failed(forged, model)
    assert "stages_of_settings" in found and AGAIN in found


def test_another_replaced_token_is_found(trace, model) -> None:
    place = 4
    assert trace.token_steps[place].instead_of == ID["</think>"]
    forged = forge(trace, place, instead_of=ID["a"])
    assert "tokens_of_draws" in failed(forged)
    assert AGAIN in failed(forged, model)
    assert FORCED in failed(forge(trace, place, instead_of=None, draw=Draw("forced")))


def test_phases_that_swap_are_found(trace, model) -> None:
    forged = forge(trace, 9, phase="thinking")
    assert ORDER in failed(forged) and AGAIN in failed(forged, model)
    assert ORDER in failed(with_config(trace, think_start="", think_end=""))


def test_a_mass_that_forcing_did_not_take_is_found(trace) -> None:
    step = trace.token_steps[4]
    stages = tuple(
        stage._replace(removed_mass=0.25) if stage.name == "forced" else stage
        for stage in step.stages
    )
    assert "filters_renormalise" in failed(forge(trace, 4, stages=stages))


@pytest.fixture(scope="module")
def called():
    chain = {"q": "<call>", "<call>": "8", "8": "*", "*": "1", "1": "<result>", "<result>": "0"}
    model = following({**THINKS, **chain, "0": ".", "</result>": "4"})
    config = Reasoning(think_start="", think_end="", calculator=True, top_candidates=1)
    trace = collect(model, PROMPT, config)
    assert failed(trace, model) == set()
    return model, trace


def test_another_result_is_found(called) -> None:
    _, trace = called
    at = next(step.index for step in trace.token_steps if step.forced_as == "result")
    other, step = ID["2"], trace.token_steps[at]
    candidates = tuple(
        c._replace(token_id=other, text="2") if c.token_id == step.token_id else c
        for c in step.candidates
    )
    forged = forge(trace, at, token_id=other, text="2", candidates=candidates)
    assert FORCED in failed(forged)


def test_a_missing_result_and_one_without_a_calculator_are_found(called) -> None:
    model, trace = called
    assert FORCED in failed(with_config(trace, calculator=False))
    plain = collect(model, PROMPT, replace(trace.config, calculator=False))
    forged = with_config(plain, calculator=True)
    assert CALLS in failed(forged) and AGAIN in failed(forged, model)


def test_a_stranger_s_nonsense_makes_checks_fail_and_not_raise(trace, model) -> None:
    for change in ({"wait_text": "日本"}, {"think_end": "日本"}, {"think_start": "日本"}):
        assert failed(with_config(trace, **change), model)
    assert failed(replace(trace, steps=trace.steps[:1] + trace.steps[5:]), model)
    assert failed(replace(trace, prompt_ids=(ID["</think>"],)), model)
