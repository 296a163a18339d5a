"""Forged traces fail: whatever number or token of a round is changed, some check says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from benchmarks.broken_drafts import BrokenDraft
from core import DraftRound, DraftToken, Shaping, Speculative, Trace, check, collect
from core.decoding.speculative import engine
from core.decoding.speculative.distributions import Drawn, Rows, residual
from core.decoding.speculative.types import CacheSizes
from core.decoding.speculative.verification import EmittedByTarget
from tests.decoding.speculative.speculations import near_draft, other_draft, target
from tests.depth import mostly_slow

CONFIGS = {
    "speculative": Speculative(max_new_tokens=24, seed=5),
    "greedy": Speculative(max_new_tokens=24, shaping=Shaping(temperature=0.0)),
    "exact": Speculative(
        max_new_tokens=24, seed=1, acceptance="exact", shaping=Shaping(temperature=0.2)
    ),
    "typical": Speculative(max_new_tokens=24, seed=5, acceptance="typical", draft_length=3),
    "filtered": Speculative(
        max_new_tokens=24, seed=5, shaping=Shaping(temperature=1.3, top_p=0.8), draft_threshold=0.02
    ),
}
PROMPT = [5, 9, 2, 77]


@cache
def run(name: str) -> Trace:
    model = target("llama")
    model.eos_ids = frozenset()
    return collect(model, PROMPT, CONFIGS[name], draft=near_draft("llama"))


def _failed(trace: Trace) -> list[str]:
    return [outcome.name for outcome in check(trace) if not outcome.passed]


def _failed_by_the_models(trace: Trace) -> list[str]:
    model, draft = target("llama"), near_draft("llama")
    model.eos_ids = frozenset()
    return [outcome.name for outcome in check(trace, model, draft) if not outcome.passed]


@pytest.mark.parametrize("name", CONFIGS)
def test_an_honest_run_passes(name: str) -> None:
    assert _failed_by_the_models(run(name)) == []
    assert any(step.recovered for step in run(name).rounds)
    assert any(step.accepted for step in run(name).rounds)


@pytest.mark.parametrize("drafter", ["model", "prompt_lookup"])
def test_a_recovered_token_that_its_number_does_not_draw_is_found(
    drafter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run takes the residual's likeliest other token, and the rest of the text follows it."""

    def recovered(_: Any, __: Any, target: Rows, draft: Rows, row: int, noise: Any):
        uniform = noise(1)[0]
        remainder = residual(target, draft, row)
        drawn = remainder.draw(0, uniform).token_id
        token_id = int(remainder.probs[0].index_fill(0, torch.tensor([drawn]), 0).argmax())
        prob = float(remainder.probs[0, token_id])
        low = min(uniform, 1 - prob)
        return EmittedByTarget(Drawn(token_id, prob, (low, low + prob)), uniform)

    config = Speculative(max_new_tokens=9, seed=5, drafter=drafter, lookup_ngram=1)
    model, draft = target("llama"), near_draft("llama") if drafter == "model" else None
    model.eos_ids = frozenset()
    monkeypatch.setattr(engine, "recovered", recovered)
    forged = collect(model, [5, 9, 2, 77, 5, 9], config, draft=draft)
    assert any(step.recovered for step in forged.rounds) and not _failed(forged)
    assert [outcome.detail for outcome in check(forged, model, draft) if not outcome.passed] == [
        "round 1: the settings give another recovered.interval"
    ]


def test_a_token_that_exact_match_draws_can_not_fail_unreached() -> None:
    trace = run("exact")
    at, place = next(
        (at, place)
        for at, step in enumerate(trace.steps)
        for place, token in enumerate(getattr(step, "drafted", ()))
        if token.outcome == "not_reached" and token.passed
    )
    forged = _with_token(trace, at, place, passed=False, interval=None)
    assert not _failed(forged)
    assert _failed_by_the_models(forged) == ["target_and_draft_probs_again"]


def _round_with(trace: Trace, fits: Callable[[DraftRound], bool]) -> int:
    return next(at for at, step in enumerate(trace.steps) if at and fits(step))  # type: ignore[arg-type]


def _with_step(trace: Trace, at: int, **changes: Any) -> Trace:
    steps = list(trace.steps)
    steps[at] = replace(steps[at], **changes)
    return replace(trace, steps=tuple(steps))


def _with_token(trace: Trace, at: int, place: int, **changes: Any) -> Trace:
    drafted = list(trace.steps[at].drafted)
    drafted[place] = drafted[place]._replace(**changes)
    return _with_step(trace, at, drafted=tuple(drafted))


def _rejected(step: DraftRound) -> DraftToken:
    return step.drafted[len(step.accepted)]


FORGERIES_OF_A_TOKEN: dict[str, dict[str, Callable[[DraftToken], Any]]] = {
    "accept_prob_speculative": {"accept_prob": lambda t: t.accept_prob * 0.9 + 0.05},
    "token_probabilities": {"draft_prob": lambda t: t.draft_prob * 0.9},
    "dice_of_seed": {"uniform": lambda t: t.uniform * 0.999},
    "outcomes_of_uniforms": {"passed": lambda t: not t.passed},
    "target_and_draft_probs_again": {"residual_mass": lambda t: t.residual_mass * 0.5},
    "tokens_of_draws": {"draft_interval": lambda _: (0.0, 0.001)},
}


@pytest.mark.parametrize("expected", FORGERIES_OF_A_TOKEN)
def test_a_changed_number_of_a_token_is_found(expected: str) -> None:
    trace = run("speculative")
    at = _round_with(trace, lambda step: step.recovered is not None)
    step = trace.steps[at]
    place, token = len(step.accepted), _rejected(step)
    changes = {name: act(token) for name, act in FORGERIES_OF_A_TOKEN[expected].items()}
    forged = _with_token(trace, at, place, **changes)
    assert expected in _failed_by_the_models(forged)


def test_a_rejected_token_that_claims_to_be_accepted_is_found() -> None:
    trace = run("speculative")
    at = _round_with(trace, lambda step: step.recovered is not None and step.finish_reason is None)
    step = trace.steps[at]
    forged = _with_token(trace, at, len(step.accepted), outcome="accepted", passed=True)
    forged = _with_step(forged, at, recovered=None)
    assert _failed(forged)


@pytest.mark.parametrize("kind", ["recovered", "bonus"])
def test_another_token_of_the_targets_is_found(kind: str) -> None:
    trace = run("speculative")
    at = _round_with(trace, lambda step: getattr(step, kind) is not None)
    step = trace.steps[at]
    extra = step.extra
    candidates = extra.candidates or _rejected(step).candidates
    candidate = next(c for c in candidates if c.token_id != extra.token_id)
    forged = extra._replace(
        token_id=candidate.token_id,
        text=candidate.text,
        target_prob=candidate.target_prob,
        draft_prob=candidate.draft_prob,
    )
    ids = list(trace.token_ids)
    ids[step.start + len(step.accepted)] = candidate.token_id
    changed = replace(_with_step(trace, at, **{kind: forged}), token_ids=tuple(ids))
    failed = _failed_by_the_models(changed)
    assert {"tokens_of_draws", "target_and_draft_probs_again"} & {*failed}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda step: {"target_cache": step.target_cache._replace(after=99)}, "cache_sizes"),
        (lambda _: {"draft_cache": None}, "cache_sizes"),
        (lambda _: {"draft_cache": CacheSizes(0, 0, 0)}, "cache_sizes"),
        (lambda _: {"draft_length": 9}, "draft_lengths"),
        (lambda step: {"texts": ("x", *step.texts[1:])}, "rounds_make_text"),
        (lambda _: {"start": 1}, "rounds_whole"),
        (lambda _: {"finish_reason": "stop"}, "finish_reason"),
    ],
)
def test_a_part_of_a_round_that_is_made_up_is_found(change, found) -> None:
    trace = run("greedy")
    forged = _with_step(trace, 1, **change(trace.rounds[0]))
    assert found in _failed(forged)


@pytest.mark.parametrize("name", mostly_slow(CONFIGS, ("speculative", "greedy")))
def test_other_settings_than_the_runs_are_found(name: str) -> None:
    trace, config = run(name), CONFIGS[name]
    others = [replace(config, draft_length=6), replace(config, seed=6)]
    others.append(replace(config, acceptance="exact" if name != "exact" else "speculative"))
    for forged_config in others:
        assert _failed(replace(trace, config=forged_config)), forged_config
    warmer = replace(config, shaping=Shaping(temperature=0.7))
    assert _failed_by_the_models(replace(trace, config=warmer))
    hidden = replace(config, shaping=replace(config.shaping, top_k=3))
    if name != "greedy":
        assert _failed_by_the_models(replace(trace, config=hidden))


def test_a_step_that_is_not_whole_is_the_only_check() -> None:
    trace = run("speculative")
    for changes in ({"draft_prob": 0.0}, {"candidates": ()}, {"threshold": 0.1}):
        (outcome,) = check(_with_token(trace, 1, 0, **changes))
        assert not outcome.passed
    assert [outcome.passed for outcome in check(_with_step(trace, 1, texts=()))] == [False]
    forged = replace(trace, config=replace(CONFIGS["typical"]))
    assert [outcome.passed for outcome in check(forged)] == [False]


def test_the_wrong_models_are_refused_by_one_check() -> None:
    trace, model = run("speculative"), target("llama")
    model.eos_ids = frozenset()
    for pair in ((model, other_draft("llama")), (near_draft("llama"), model)):
        outcomes = check(trace, *pair)
        assert not outcomes[-1].passed
        assert outcomes[-1].name == "fits_models"
    assert all(outcome.passed for outcome in check(trace, model)), "the draft may be missing"


def test_a_greedy_run_that_took_another_way_fails_against_generate() -> None:
    """The reference can fail: typical settings say greedy, the tokens are another prompt's."""
    model, draft = target("llama"), near_draft("llama")
    model.eos_ids = frozenset()
    trace = replace(run("greedy"), prompt_ids=(5, 9, 2, 78))
    names = [outcome.name for outcome in check(trace, model, draft) if not outcome.passed]
    assert "generate_greedy_tokens" in names


def test_tokens_shown_as_what_they_are_not_are_found() -> None:
    trace, expected = run("speculative"), "token_texts"
    at = _round_with(trace, lambda step: bool(step.accepted))
    assert _failed(_with_token(trace, at, 0, text="<img src=x>")) == [expected]
    # The same in its candidates, too: the text that it added contradicts it.
    everywhere = replace(
        trace,
        steps=trace.steps[:1]
        + tuple(
            replace(
                step,
                drafted=tuple(
                    token._replace(
                        text="<img src=x>",
                        candidates=tuple(c._replace(text="<img src=x>") for c in token.candidates),
                    )
                    for token in step.drafted
                ),
            )
            for step in trace.rounds
        ),
    )
    assert _failed(everywhere) == [expected]


def test_a_draft_that_read_another_text_is_named_and_the_target_is_not() -> None:
    model, draft = target("llama"), near_draft("llama")
    model.eos_ids = frozenset()
    astray = BrokenDraft(draft, prompt=[3, 1, 4, 1])
    trace = collect(model, PROMPT, CONFIGS["speculative"], draft=astray)
    assert _failed(trace) == [], "its numbers agree with each other"
    failed = [outcome for outcome in check(trace, model, draft) if not outcome.passed]
    assert [outcome.name for outcome in failed] == [
        "forwards_again",
        "target_and_draft_probs_again",
    ]
    assert failed[0].detail.startswith(
        "the target's are the same, the draft's differ, first in round 1: "
    )
    assert all(outcome.passed for outcome in check(trace, model)), "the target isn't to blame"


def test_a_target_that_differs_is_not_said_to_be_the_draft() -> None:
    model, draft = target("llama"), near_draft("llama")
    model.eos_ids = frozenset()
    trace = run("speculative")
    first = trace.rounds[0]
    token = first.drafted[0]
    forged = token._replace(
        candidates=tuple(
            c._replace(target_raw_prob=c.target_raw_prob / 2) for c in token.candidates
        )
    )
    step = replace(first, drafted=(forged, *first.drafted[1:]))
    steps = tuple(step if each is first else each for each in trace.steps)
    outcomes = check(replace(trace, steps=steps), model, draft)
    again = next(outcome for outcome in outcomes if outcome.name == "forwards_again")
    assert not again.passed and "draft" not in again.detail
