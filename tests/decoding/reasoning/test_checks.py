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
STAGES = "stages_of_settings"


@pytest.fixture(scope="module")
def model():
    return thinker()


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    """[<think>] a b c [Wait] [,] b [</think>] 4 . <end>"""
    made = collect(model, PROMPT, Reasoning(ignore_end=1, wait_text="Wait,", max_thinking_tokens=6))
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


# Settings that the run didn't have, and checks that find it; the model finds what they would force.
SETTINGS = [
    *(({"max_thinking_tokens": budget}, {BUDGET, AGAIN}) for budget in (0, 4, 5, 7, 100)),
    ({"max_answer_tokens": 2}, {BUDGET}),
    ({"ignore_end": 0}, {BUDGET}),
    # More of them would have changed nothing: the bound came first.
    ({"ignore_end": 2}, set()),
    ({"wait_text": "Wait."}, {FORCED, AGAIN}),
    ({"think_end": "b"}, {FORCED}),
    ({"think_start": "a"}, {FORCED}),
    ({"think_start": "", "think_end": ""}, {ORDER}),
]


def in_order(value: object) -> str:
    """The same name of a case in every process: a set's order is chance."""
    return str(sorted(value) if isinstance(value, set) else value)


@pytest.mark.parametrize(("changes", "found"), SETTINGS, ids=in_order)
def test_other_settings_are_found(trace, model, changes, found) -> None:
    names = failed(with_config(trace, **changes), model)
    assert found <= names and bool(names) is bool(found)


def test_an_attempt_to_stop_that_was_let_through_is_found(model) -> None:
    trace = collect(model, PROMPT, Reasoning())
    assert {BUDGET, AGAIN} <= failed(with_config(trace, ignore_end=1, wait_text="Wait,"), model)


# What a step of the run was not, by its index: the fourth is forced, the others were chosen.
STEPS = [
    (1, {"origin": "forced", "forced_as": "wait", "draw": Draw("forced")}, {STAGES, FORCED}),
    (
        4,
        {"origin": "argmax", "forced_as": None, "instead_of": None, "draw": Draw("argmax")},
        {STAGES, AGAIN},
    ),
    (4, {"instead_of": ID["a"]}, {"tokens_of_draws", AGAIN}),
    (4, {"instead_of": None, "draw": Draw("forced")}, {FORCED}),
    (9, {"phase": "thinking"}, {ORDER, AGAIN}),
]


@pytest.mark.parametrize(("at", "changes", "found"), STEPS, ids=in_order)
def test_a_forged_step_is_found(trace, model, at, changes, found) -> None:
    assert found <= failed(forge(trace, at, **changes), model)


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
    digit, step = ID["2"], trace.token_steps[at]
    candidates = tuple(
        c._replace(token_id=digit, text="2") if c.token_id == step.token_id else c
        for c in step.candidates
    )
    forged = forge(trace, at, token_id=digit, text="2", candidates=candidates)
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
