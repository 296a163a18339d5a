"""Settings, cuts and texts that did not make the run are found out, and honest runs are not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from core import Greedy, Sampling, Shaping, Trace, check, collect, load_model, read_trace
from core.decoding.checks.token_replay import TokenReplay, record_picked
from core.decoding.record.trace import Check
from core.decoding.unchecked import unchecked_words
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import forge as _forge
from tests.decoding.checks.forging import forge_position, with_shaping
from tests.depth import cases, slow
from tests.models.builders import random_language_model

FEW, MANY = 5, 20
DYNAMIC = Shaping(dynatemp_high=1.8, dynatemp_low=0.6, dynatemp_exponent=1.2)
QUADRATIC = Shaping(smoothing_factor=0.2, smoothing_curve=1.5)
CUTS = {
    "dynatemp_high": (DYNAMIC, (0.9, 2.2)),
    "dynatemp_low": (DYNAMIC, (0.4, 1.0)),
    "dynatemp_exponent": (DYNAMIC, (0.5, 2.0)),
    "smoothing_factor": (QUADRATIC, (0.1, 0.5)),
    "smoothing_curve": (QUADRATIC, (1.0, 3.0)),
    "top_h": (Shaping(top_h=0.6), (0.3, 0.9)),
    "min_k": (Shaping(min_k=30.0), (3.0, 300.0)),
    "tail_free": (Shaping(tail_free=0.9), (0.5, 0.99)),
    "top_a": (Shaping(top_a=0.5), (0.05, 1.0)),
    "p_less": (Shaping(p_less=2), (1, 5)),
    "top_n_sigma": (Shaping(top_n_sigma=1.5), (0.8, 2.5)),
    "top_k": (Shaping(top_k=20), (3, 200)),
    "top_p": (Shaping(top_p=0.9), (0.8, 0.99)),
    "min_p": (Shaping(temperature=0.5, min_p=0.3), (0.05, 0.6)),
    "typical_p": (Shaping(typical_p=0.8), (0.6, 0.95)),
    "epsilon_cutoff": (Shaping(epsilon_cutoff=0.004), (0.002, 0.02)),
    "eta_cutoff": (Shaping(eta_cutoff=0.3), (0.02, 0.9)),
    "frequency_penalty": (Shaping(frequency_penalty=0.7), (0.0, 1.5)),
    "presence_penalty": (Shaping(presence_penalty=0.7), (-0.5, 1.5)),
    "length_decay": (Shaping(length_decay=4.0, length_decay_start=1), (1.0, 5.0)),
    "length_decay_start": (Shaping(length_decay=4.0, length_decay_start=1), (0, 2)),
    "xtc_probability": (Shaping(xtc_probability=0.5, xtc_threshold=0.01), (0.0, 1.0)),
    "watermark_bias": (Shaping(watermark_bias=2.0), (0.5, 4.0)),
    "watermark_ratio": (Shaping(watermark_bias=2.0), (0.1, 0.6)),
    "watermark_key": (Shaping(watermark_bias=2.0), (1, 15_485_864)),
    "watermark_scheme": (Shaping(watermark_bias=2.0), ("selfhash",)),
    "watermark_context": (
        Shaping(watermark_bias=2.0, watermark_scheme="selfhash", watermark_context=2),
        (1, 3),
    ),
    "synthid_depth": (Shaping(synthid_depth=8), (0, 9)),
    "synthid_keys": (Shaping(synthid_depth=8), ((7,), tuple(range(8)))),
    "synthid_ngram": (Shaping(synthid_depth=8), (2, 6)),
    "xtc_threshold": (Shaping(xtc_probability=0.5, xtc_threshold=0.01), (0.005, 0.05)),
}


@pytest.fixture(scope="module")
def model():
    return random_language_model("qwen2")


def _run(model, shaping: Shaping, top_candidates: int = FEW) -> Trace:
    config = Sampling(
        max_new_tokens=6, seed=3, shaping=shaping, top_candidates=top_candidates, min_new_tokens=6
    )
    return collect(model, "the fox had", config)


@pytest.mark.parametrize("top_candidates", [FEW, slow(MANY)])
@pytest.mark.parametrize("name", CUTS)
def test_another_value_of_a_filter_is_found_with_the_model(model, name, top_candidates) -> None:
    shaping, others = CUTS[name]
    trace = _run(model, shaping, top_candidates)
    assert _failed(trace, model) == set()
    for value in others:
        assert "stages_again" in _failed(with_shaping(trace, **{name: value}), model)


@pytest.mark.parametrize("name", ["min_p", "epsilon_cutoff", "eta_cutoff"])
def test_a_floor_far_from_the_run_s_is_found_with_the_model(model, name) -> None:
    trace = _run(model, CUTS[name][0], 200)
    low, high = {"min_p": (0.001, 0.99), "epsilon_cutoff": (1e-5, 0.5), "eta_cutoff": (1e-6, 0.5)}[
        name
    ]
    for value in (low, high):
        assert "stages_again" in _failed(with_shaping(trace, **{name: value}), model)


def test_where_a_filter_cut_is_said_to_be_open_without_the_model(model) -> None:
    trace = _run(model, Shaping(top_k=20))
    forged = with_shaping(trace, top_k=21)
    assert "the settings' effect" in unchecked_words(forged, check(forged))
    assert "the settings' effect" not in unchecked_words(forged, check(forged, model))


def test_other_settings_of_xtc_are_found_in_the_file_alone() -> None:
    model = load_model("embedded:target")
    shaping = Shaping(xtc_probability=0.5, xtc_threshold=0.1)
    config = Sampling(max_new_tokens=40, seed=3, shaping=shaping)
    trace = collect(model, "Once upon a time", config)
    assert _failed(trace) == _failed(trace, model) == set()
    stages = [stage for step in trace.token_steps for stage in step.stages]
    acted = [stage for stage in stages if stage.name == "xtc_probability" and stage.removed_mass]
    assert len(acted) > 3 and any((stage.noise or 0) > 0.5 for stage in stages)
    for name, values in (
        ("xtc_threshold", (0.01, 0.05, 0.3, 0.6)),
        ("xtc_probability", (0.01, 0.1, 0.9, 1.0)),
    ):
        for value in values:
            forged = with_shaping(trace, **{name: value})
            assert _failed(forged) == {"stages_of_settings"}, (name, value)
    step = next(step for step in trace.token_steps if acted[0] in step.stages)
    other = [s._replace(noise=0.01) if s is acted[0] else s for s in step.stages]
    assert _failed(_forge(trace, step.index, stages=tuple(other))) == {"dice_of_seed"}


@pytest.mark.parametrize("top_candidates", [1, 2, MANY])
def test_xtc_passes_wherever_its_tokens_are_recorded(model, top_candidates) -> None:
    for seed, (probability, threshold) in enumerate(
        [(1.0, 0.005), (0.5, 0.01), (0.5, 0.02), (1.0, 0.0001), (0.3, 0.1)]
    ):
        shaping = Shaping(
            temperature=(0.3, 1.0, 1.7)[seed % 3],
            repetition_penalty=1.3,
            frequency_penalty=0.4 * seed,
            xtc_probability=probability,
            xtc_threshold=threshold,
            top_p=(0.9, 1.0)[seed % 2],
        )
        config = Sampling(max_new_tokens=12, seed=seed, shaping=shaping, min_new_tokens=6)
        config = replace(config, top_candidates=top_candidates)
        for prompt in ("the fox had", "fox fox fox fox"):
            assert _failed(collect(model, prompt, config)) == set(), shaping


def _keep_everywhere(trace: Trace, kept: int, since: int) -> Trace:
    for at, step in enumerate(trace.token_steps):
        stages = [s._replace(kept=kept) if i >= since else s for i, s in enumerate(step.stages)]
        trace = _forge(trace, at, stages=tuple(stages))
    return trace


def _rank_beyond(trace: Trace) -> Trace:
    step = next(s for s in trace.token_steps if s.chosen.rank > FEW)
    candidates = (*step.candidates[:-1], step.candidates[-1]._replace(rank=250))
    return _forge(trace, step.index, candidates=candidates)


def _move_text(trace: Trace) -> Trace:
    first, second = trace.token_steps[1:3]
    return _forge(_forge(trace, 1, text=""), 2, text=first.text + second.text)


STAGES = "stages_again"
NUMBERS = "forward_again"
TEXTS = "tokenizer_text"
FORGERIES = {
    "seven kept everywhere": (lambda t: _keep_everywhere(t, 7, 2), STAGES),
    "a hundred million kept everywhere": (lambda t: _keep_everywhere(t, 10**8, 0), STAGES),
    "a certain next token": (lambda t: forge_position(t, 1, next_prob=0.97), NUMBERS),
    "a next token of the first rank": (lambda t: forge_position(t, 1, next_rank=1), NUMBERS),
    "a prompt position without doubt": (lambda t: forge_position(t, 1, entropy=0.0), NUMBERS),
    "another text in the prompt": (lambda t: forge_position(t, 1, text="lie"), TEXTS),
    "a rank beyond the candidates": (_rank_beyond, STAGES),
    "another prompt": (lambda t: replace(t, prompt="no", rendered_prompt="no"), TEXTS),
    "a text moved to the next step": (_move_text, TEXTS),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_is_found_with_the_model(model, forgery) -> None:
    forge, name = FORGERIES[forgery]
    trace = _run(model, Shaping(temperature=1.2, top_k=60, top_p=0.97))
    assert _failed(trace, model) == set()
    assert name in _failed(forge(trace), model)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma"])
def test_honest_runs_with_many_settings_pass(family) -> None:
    model = random_language_model(family)
    generator = torch.Generator().manual_seed(5)

    def pick(*values: float) -> float:
        return values[int(torch.randint(len(values), (1,), generator=generator))]

    for seed in range(cases(25, 10)):
        shaping = Shaping(
            temperature=pick(0.3, 0.9, 1.0, 1.7),
            top_n_sigma=pick(0.0, 0.4, 2.0),
            top_k=int(pick(0, 1, 7, 40)),
            top_p=pick(0.3, 0.9, 0.999, 1.0),
            min_p=pick(0.0, 0.02, 0.5),
            typical_p=pick(0.2, 0.9, 1.0),
            epsilon_cutoff=pick(0.0, 1e-4, 0.01),
            eta_cutoff=pick(0.0, 1e-4, 0.05),
            repetition_penalty=pick(0.8, 1.0, 1.3),
            no_repeat_ngram_size=int(pick(0, 2)),
        )
        draw = ("inverse_cdf", "gumbel", "multinomial")[seed % 3]
        config = Sampling(
            max_new_tokens=8, seed=seed, shaping=shaping, draw=draw, min_new_tokens=seed % 4
        )
        assert _failed(collect(model, "the fox had", config), model) == set(), shaping


def test_what_failed_without_bound_can_be_saved_and_read(model, tmp_path) -> None:
    trace = _run(model, Shaping(top_k=20))
    outcomes = tuple(check(_keep_everywhere(trace, 10**8, 2)))
    assert any(not outcome.passed for outcome in outcomes)
    trace.with_checks(outcomes).save(tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").checks == outcomes


def test_a_file_whose_parts_contradict_each_other_fails_and_raises_nothing(model) -> None:
    drawn = _run(model, Shaping(top_k=20))
    greedy = replace(drawn, config=Greedy(max_new_tokens=6))
    empty = replace(drawn, steps=drawn.steps[:1], token_ids=(), text="", finish_reason="stop")
    for trace in (greedy, empty):
        outcomes = check(trace, model)
        assert not next(o for o in outcomes if o.name == "fits_model").passed


def test_a_check_that_measured_nothing_finite_holds_a_number() -> None:
    from core.decoding.checks.common import worst

    for value in (float("nan"), float("inf")):
        assert worst("a check", [0.0, value], 1.0, "") == Check("a check", False, 3e38, 1.0, "")


@pytest.mark.parametrize("temperature", [0.001, 0.004])
def test_probabilities_that_a_low_temperature_makes_zero_are_no_removals(temperature) -> None:
    model = load_model("embedded:target")
    for top_p in (1.0, 0.999):
        trace = _run(model, Shaping(temperature=temperature, top_p=top_p), MANY)
        assert any(c.prob == 0 for c in trace.token_steps[0].candidates)
        assert _failed(trace, model) == set()
    step = trace.token_steps[0]
    lie = tuple(c._replace(removed_by="top_k") if c.prob == 0 else c for c in step.candidates)
    assert "candidates_of_stages" in _failed(_forge(trace, 0, candidates=lie))


def test_generate_may_pick_another_token_where_rounding_decides_a_filter_s_threshold() -> None:
    """Two tokens are 9e-7 nats apart in their distance from the entropy, and one of them is kept.

    Their logits are far apart: typical-p removes the likely ones.
    """
    shaping = Shaping(
        typical_p=0.642,
        epsilon_cutoff=0.061,
        eta_cutoff=0.082,
        repetition_penalty=0.825,
        no_repeat_ngram_size=1,
    )
    llama, prompt = random_language_model("llama"), [12, 122, 190, 60, 162]
    trace = collect(
        llama,
        prompt,
        Sampling(max_new_tokens=3, seed=11, draw="multinomial", shaping=shaping),
    )
    assert trace.token_ids[1] in (164, 207)
    assert _failed(trace, llama) == set()
    replay = partial(TokenReplay, trace, llama, record_picked)
    logits = llama.start([*prompt, trace.token_ids[0]], use_cache=False).logits[-1]
    assert replay().may_emit(1, logits, 1e-5, (164, 207))
    assert not replay().may_emit(1, logits, 1e-5, (164, 161))
    assert not replay().may_emit(1, logits, 1e-9, (164, 207))
