"""Divergence and variation of two runs: by arithmetic, from candidates, and over the vocabulary."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    collect,
    load_model,
)
from core.decoding.autoregressive.reshape import logits_at
from core.decoding.comparison.measures import (
    divergence,
    recorded_divergence,
    recorded_measures,
)
from core.decoding.comparison.readings import (
    divergence_of,
    final_log_probs,
    logits_before,
    read_run,
    read_under,
)
from core.decoding.comparison.words import differences_words
from core.models.scripted import ScriptedModel
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_language_model

PROMPT = [5, 6, 7, 8]
WARM = Sampling(max_new_tokens=8, seed=4, shaping=Shaping(temperature=0.9), top_candidates=6)


@pytest.fixture(scope="module")
def models() -> tuple[TransformersModel, TransformersModel]:
    return random_language_model("llama"), random_language_model("qwen2")


@pytest.fixture(scope="module")
def runs(models) -> tuple[Trace, Trace]:
    return collect(models[0], PROMPT, WARM), collect(models[1], PROMPT, WARM)


def test_divergence_and_variation_by_arithmetic() -> None:
    found = divergence([0.5, 0.5, 0.0], [0.25, 0.25, 0.5])
    assert found.left == pytest.approx(math.log(2))
    assert found.variation == pytest.approx(0.5)
    p, q = (torch.tensor(probs).log() for probs in ([0.9, 0.1], [0.6, 0.4]))
    by_hand = 0.9 * math.log(1.5) + 0.1 * math.log(0.25)
    assert divergence_of(p, q)[0::2] == pytest.approx((by_hand, 0.3), rel=1e-6)


def test_a_token_that_only_one_distribution_has_makes_one_divergence_infinite() -> None:
    p, q = (torch.tensor(probs).log() for probs in ([0.5, 0.5], [1.0, 0.0]))
    found = divergence_of(p, q)
    assert found.left == math.inf
    assert found.right == pytest.approx(math.log(2)) and found.variation == pytest.approx(0.5)


def test_recorded_candidates_give_lower_bounds_of_what_the_models_give(models, runs) -> None:
    """Before the first difference both runs stand behind the same text."""
    exact = read_under(*models, *runs, "left")
    least = recorded_measures(*runs)
    assert exact.exact and not least.exact and least.parted_at == exact.parted_at is not None
    compared = 0
    for known, whole in zip(least.steps[: least.parted_at + 1], exact.steps, strict=False):
        for bound, full in zip(known.divergence, whole.divergence, strict=True):
            assert 0 <= bound <= full + 1e-6
            compared += full > 0
        assert known.entropy == pytest.approx(whole.entropy, abs=1e-4)
    assert compared >= 3


def test_more_candidates_give_a_higher_bound(models) -> None:
    found = []
    for count in (4, 50, 200):
        config = replace(WARM, top_candidates=count, max_new_tokens=1)
        left, right = (collect(model, PROMPT, config) for model in models)
        found.append(recorded_divergence(left.token_steps[0], right.token_steps[0]))
    exact = read_under(*models, left, right, "left").steps[0].divergence
    for bounds in zip(*found, exact, strict=True):
        assert 0 <= bounds[0] < bounds[1] < bounds[2] <= bounds[3]


def test_one_model_reads_both_runs_alike_and_its_settings_differ(models, runs) -> None:
    left, model = runs[0], models[0]
    right = collect(model, PROMPT, replace(WARM, shaping=Shaping(temperature=0.5)))
    own = read_under(model, model, left, right, "right")
    assert [step.divergence for step in own.steps] == [(0.0, 0.0, 0.0)] * len(right.token_ids)
    final = read_under(model, model, left, right, "right", "final").steps[0].divergence
    row = next(logits_before([model], [left.prompt_ids], right.token_ids))[0].double()
    warm, cool = (torch.log_softmax(row / heat, -1) for heat in (0.9, 0.5))
    assert final == pytest.approx(divergence_of(warm, cool), abs=1e-5)


def test_the_surprisal_under_the_own_text_is_that_of_the_run(models, runs) -> None:
    own = read_under(*models, *runs, "right")
    recorded = [step.surprisal for step in runs[1].token_steps]
    assert [step.surprisal[1] for step in own.steps] == pytest.approx(recorded, abs=1e-4)
    greedy = collect(models[0], PROMPT, Greedy(max_new_tokens=3))
    only = read_under(models[0], models[0], greedy, greedy, "left", "final")
    assert only.steps[0].divergence == (0.0, 0.0, 0.0)


def test_models_of_other_tokens_are_refused_and_padding_is_left_out(models, runs) -> None:
    """Both have as many tokens, and the third one is another."""
    first, other = (
        ScriptedModel({(): [0.5, 0.25, 0.25]}, tokens=("<end>", "a", last), model_id=last)
        for last in ("b", "c")
    )
    run = collect(first, [1], Greedy(max_new_tokens=2))
    with pytest.raises(ConfigError, match="token 2"):
        read_under(first, other, run, run, "left")
    padded = random_language_model("llama", vocab=320)
    step = read_under(models[0], padded, *runs, "left").steps[0]
    assert 0 < step.divergence.left < math.inf


def test_files_of_other_tokens_have_no_divergence(runs) -> None:
    left, right = runs
    steps = [
        replace(step, candidates=tuple(c._replace(text=c.text + "x") for c in step.candidates))
        for step in right.token_steps
    ]
    other = replace(right, steps=(right.steps[0], *steps))
    measures = recorded_measures(left, other)
    assert {step.divergence for step in measures.steps} == {None}
    assert measures.other_tokens.startswith("token ")
    assert not recorded_measures(left, right).other_tokens


def test_other_prompts_have_no_first_different_token(models, runs) -> None:
    other = collect(models[0], [*PROMPT, 9], WARM)
    assert recorded_measures(runs[0], other).parted_at is None
    assert recorded_measures(*runs).parted_at is not None


@pytest.mark.parametrize("heat", [0.0, 0.9])
def test_speculation_draws_from_the_distribution_of_sampling(models, heat) -> None:
    """Read token by token, it has the final distributions of the run without a draft."""
    shaping = Shaping(temperature=heat, top_k=5)
    model, config = (
        models[0],
        Speculative(max_new_tokens=8, drafter="prompt_lookup", shaping=shaping, top_candidates=6),
    )
    run = collect(model, PROMPT, config)
    read = read_run(model, run)
    assert read.token_ids == run.token_ids
    plain = collect(model, PROMPT, replace(WARM, shaping=shaping), given=run.token_ids)
    exact = read_under(model, model, run, plain, "left", "final")
    assert max(step.divergence.variation for step in exact.steps) < 1e-5
    for of in ("raw", "final"):
        for step in recorded_measures(read, plain, of).steps:
            assert step.divergence == pytest.approx((0, 0, 0), abs=1e-5)
    assert heat == 0 or any(0 < step.chosen.prob < 1 for step in read.token_steps)


def test_a_beam_draws_no_single_tokens(models) -> None:
    model = models[0]
    beam = collect(model, PROMPT, BeamSearch(num_beams=2, max_new_tokens=4))
    assert read_run(model, beam).token_ids == beam.token_ids
    assert len(read_under(model, model, beam, beam, "left").steps) == len(beam.token_ids)
    with pytest.raises(ConfigError, match="draws no single tokens"):
        read_under(model, model, beam, beam, "left", "final")


def test_a_removed_token_makes_the_recorded_divergence_infinite(models) -> None:
    few, most = (
        collect(models[0], PROMPT, replace(WARM, shaping=Shaping(top_k=count))).token_steps[0]
        for count in (2, 4)
    )
    found = recorded_divergence(most, few, "final")
    assert found.left == math.inf and 0 < found.right < math.inf
    # Greedy leaves one token, with the others outside its only candidate.
    greedy = collect(models[0], PROMPT, Greedy(max_new_tokens=1, top_candidates=1)).token_steps[0]
    assert recorded_divergence(few, greedy, "final").left == math.inf


def test_the_rest_is_no_smaller_than_its_record(models) -> None:
    """A forged step: one candidate of all the mass but a tail, which `1 - p` would round away."""
    step = collect(models[0], PROMPT, replace(WARM, top_candidates=1)).token_steps[0]
    pair = []
    for prob, tail in ((0.5, 0.5), (1.0, 1e-4)):
        probs = (prob,) + (0.0,) * (len(step.candidates) - 1)
        stages = tuple(s._replace(probs=probs, tail_mass=tail) for s in step.stages)
        candidates = tuple(
            c._replace(raw_prob=p) for c, p in zip(step.candidates, probs, strict=True)
        )
        pair.append(replace(step, stages=stages, candidates=candidates))
    by_hand = 0.5 * math.log(0.5 / 1.0) + 0.5 * math.log(0.5 / 1e-4)
    assert recorded_divergence(*pair).left == pytest.approx(by_hand, abs=1e-3)


def test_a_reading_stops_between_two_tokens(models, runs) -> None:
    asked = iter([False, False, True])
    measures = read_under(*models, *runs, "left", should_stop=lambda: next(asked))
    assert len(measures.steps) == 2


def test_a_long_text_is_read_to_its_end_in_pieces(models, runs, monkeypatch) -> None:
    whole = read_under(*models, *runs, "left")
    monkeypatch.setattr("core.decoding.comparison.readings._AT_ONCE", 900)
    pieces = read_under(*models, *runs, "left")
    assert len(pieces.steps) == len(runs[0].token_ids)
    for one, other in zip(whole.steps, pieces.steps, strict=True):
        assert one.divergence == pytest.approx(other.divergence, abs=1e-5)


def test_steps_behind_the_shorter_run_have_no_divergence(models, runs) -> None:
    short = collect(models[0], PROMPT, replace(WARM, max_new_tokens=2))
    last = recorded_measures(short, runs[0]).steps[-1]
    assert last.divergence is None and last.entropy[0] is None and last.entropy[1] is not None


def test_differences_are_told_in_words(runs) -> None:
    left = runs[0]
    right = replace(left, config=replace(WARM, seed=5, use_cache=False), model_id="other")
    said = differences_words(left, right)
    assert "seed (4 | 5)" in said and "use cache (on | off)" in said and "| other)" in said
    shaping = Shaping(temperature=0.9, logit_bias=((5, 1.0),))
    right = replace(left, config=replace(WARM, stop_strings=("x",), shaping=shaping))
    said = differences_words(left, right)
    assert "stop strings (none | “x”)" in said and "logit bias (none | #5 +1)" in said
    assert differences_words(left, left) == "Model, prompt and settings are the same."


def test_final_log_probabilities_follow_a_sampler_s_state() -> None:
    model = load_model("embedded:target")
    shaping = Shaping(mirostat=2, mirostat_tau=3.0, mirostat_eta=0.5)
    run = collect(model, "Once upon a time", Sampling(max_new_tokens=12, seed=3, shaping=shaping))
    for step in run.token_steps:
        before = run.token_ids[: step.index]
        row = final_log_probs(model, run, logits_at(model, run, step.index), before)
        assert int((row > -math.inf).sum()) == step.stages[-1].kept
