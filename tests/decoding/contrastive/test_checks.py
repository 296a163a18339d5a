"""A trace of contrastive search that was forged in one place fails the check of that place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import pytest

from core import ContrastiveSearch, Greedy, Shaping, Trace, check, collect
from core.decoding.record.compared import Compared
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import forge as _forge
from tests.models.builders import random_language_model

SCORES = "scores_of_cosines"
HIGHEST = "highest_scores"
COMPARED = "most_probable_compared"
COSINES = "cosines_again"
PROBABLE = "most_probable_again"
TEXTS = "compared_again"


@pytest.fixture(scope="module")
def model():
    return random_language_model("qwen2")


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    shaping = Shaping(repetition_penalty=1.1)
    config = ContrastiveSearch(max_new_tokens=8, min_new_tokens=2, shaping=shaping)
    return collect(model, "the fox had", config)


def _with(trace: Trace, at: int, place: int, *, again: bool = False, **changes) -> Trace:
    """One compared token changed; `again` works its score out anew."""
    contrast = list(trace.token_steps[at].compared or ())
    changed = contrast[place]._replace(**changes)
    if again:
        alpha = trace.config.penalty_alpha
        changed = changed._replace(score=(1 - alpha) * changed.prob - alpha * changed.penalty)
    contrast[place] = changed
    return _forge(trace, at, compared=tuple(contrast))


def _loser(trace: Trace, at: int) -> int:
    """The place of the compared token with the lowest score."""
    contrast = trace.token_steps[at].compared or ()
    return min(range(len(contrast)), key=lambda place: contrast[place].score)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_an_honest_trace_passes_every_check(kind, alpha) -> None:
    model = random_language_model(kind)
    trace = collect(model, "the fox had", ContrastiveSearch(max_new_tokens=6, penalty_alpha=alpha))
    assert _failed(trace, model) == set()
    assert {SCORES, HIGHEST, COMPARED, COSINES, PROBABLE, TEXTS} <= {
        outcome.name for outcome in check(trace, model)
    }


def _worst(trace: Trace, move: Callable[[Compared], dict[str, float]], *, again: bool) -> Trace:
    """The compared token with the lowest score of a step, changed."""
    compared = (trace.token_steps[2].compared or ())[_loser(trace, 2)]
    return _with(trace, 2, _loser(trace, 2), again=again, **move(compared))


@pytest.mark.parametrize(
    ("move", "again", "found"),
    [
        (lambda own: {"score": own.score - 0.001}, False, {SCORES}),
        (lambda _: {"penalty": -1.0}, True, {HIGHEST, COSINES}),
        (lambda own: {"penalty": own.penalty + 1e-3}, True, {COSINES}),
    ],
)
def test_a_forged_number_is_found(trace, model, move, again, found) -> None:
    assert _failed(_worst(trace, move, again=again), model) == found


def test_a_probability_of_other_stages_is_found(trace) -> None:
    assert COMPARED in _failed(_with(trace, 2, 0, prob=0.9, again=True))


def test_a_more_probable_token_that_was_left_out_is_found(trace, model) -> None:
    step = trace.token_steps[2]
    place = min(at for at, o in enumerate(step.compared or ()) if o.token_id != step.token_id)
    forged = _with(trace, 2, place, token_id=299, text=model.token_text(299))
    assert COMPARED in _failed(forged)
    assert PROBABLE in _failed(forged, model)


def test_too_few_compared_tokens_are_found(trace) -> None:
    step = trace.token_steps[1]
    remaining = tuple(token for token in step.compared or () if token.token_id == step.token_id)
    assert COMPARED in _failed(_forge(trace, 1, compared=remaining))


@pytest.mark.parametrize("contrast", [None, ()])
def test_a_step_without_scores_fails_and_raises_nothing(trace, model, contrast) -> None:
    assert {HIGHEST, COMPARED, TEXTS} <= _failed(_forge(trace, 1, compared=contrast), model)


@pytest.mark.parametrize("changes", [{"token_id": 10**6}, {"token_id": -1}, {"text": "x!"}])
def test_a_token_that_the_model_does_not_have_fails_and_raises_nothing(
    trace, model, changes
) -> None:
    assert TEXTS in _failed(_with(trace, 1, _loser(trace, 1), **changes), model)


def test_another_weight_of_the_penalty_is_found(trace) -> None:
    assert SCORES in _failed(replace(trace, config=replace(trace.config, penalty_alpha=0.5)))


def test_scores_do_not_excuse_a_greedy_run(trace) -> None:
    shared = {field.name: getattr(trace.config, field.name) for field in fields(Greedy)}
    assert "tokens_of_draws" in _failed(replace(trace, config=Greedy(**shared)))
