"""A drawn beam search proves filters and seed without transformers' `generate` beside it."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
import torch

from core import BeamSearch, Shaping, Trace, check, collect
from core.decoding.beam.model_checks import DRAWN
from core.decoding.shaping.config import PENALTIES, STATEFUL, WARPERS
from core.models.scripted import ScriptedModel
from core.models.transformers_model import TransformersModel
from tests.decoding.beam.beams import ARCHITECTURES, random_case
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import forge, with_shaping
from tests.decoding.shaping.shapings import random_settings
from tests.depth import cases
from tests.models.builders import random_language_model

RESCORED = "tree_rescored"
FILTERS = {"temperature": 0.9, "repetition_penalty": 1.2}


@pytest.fixture(autouse=True)
def _no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransformersModel, "reference_paths", lambda *_: None)


@cache
def _model() -> TransformersModel:
    return random_language_model("qwen2")


@cache
def _drawn(**settings: float) -> Trace:
    config = BeamSearch(
        num_beams=4, max_new_tokens=10, do_sample=True, shaping=Shaping(**FILTERS | settings)
    )
    return collect(_model(), "the fox had", config)


@pytest.mark.parametrize("case", range(cases(12, 1)))
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_an_honest_draw_passes(kind: str, case: int) -> None:
    model, prompt, config = random_case(kind, case)
    dice = random.Random(f"drawn {kind} {case}")
    names = (name for name in (*PENALTIES, *WARPERS) if name not in STATEFUL)
    shaping = Shaping(**random_settings(dice, names))
    config = replace(config, do_sample=True, shaping=shaping)
    checks = check(collect(model, prompt, config), model)
    assert [outcome for outcome in checks if not outcome.passed] == []
    assert DRAWN in {outcome.name for outcome in checks}


FORGED = {
    "top_n_sigma": (1.2, (0.3, 2.9, 0.0)),
    "top_k": (20, (3, 120, 0)),
    "top_p": (0.4, (0.05, 0.9, 1.0)),
    "min_p": (0.5, (0.95, 0.1, 0.0)),
    "typical_p": (0.4, (0.1, 0.9, 1.0)),
    "epsilon_cutoff": (0.004, (0.02, 0.0)),
    "eta_cutoff": (0.3, (0.9, 0.0)),
    "temperature": (0.9, (0.8, 1.0)),
    "repetition_penalty": (1.2, (1.0, 1.3)),
    "no_repeat_ngram_size": (0, (1,)),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_settings_are_refused(name: str) -> None:
    value, others = FORGED[name]
    honest = _drawn(**{name: value})
    assert _failed(honest, _model()) == set()
    for forged_value in others:
        assert _failed(with_shaping(honest, **{name: forged_value}), _model()), forged_value


def test_filters_alone_are_found_by_what_they_remove_or_leave() -> None:
    honest = _drawn(top_n_sigma=1.2)
    for sigma, name in ((0.3, RESCORED), (2.9, DRAWN)):
        assert name in _failed(with_shaping(honest, top_n_sigma=sigma), _model())


def test_another_seed_is_refused() -> None:
    honest = _drawn(top_n_sigma=1.2)
    assert _failed(replace(honest, config=replace(honest.config, seed=7)), _model()) == {DRAWN}


def test_a_rank_that_no_draw_gives_is_refused() -> None:
    honest = _drawn(top_k=20)
    *others, last = honest.beam_steps[2].candidates
    moved = (*others, last._replace(rank=last.rank + 1))
    assert _failed(forge(honest, 2, candidates=moved), _model()) == {DRAWN}


def _first_two_exchanged(trace: Trace) -> Trace:
    first, second, *others = trace.beam_steps[0].candidates
    exchanged = second._replace(rank=1), first._replace(rank=2)
    return forge(trace, 0, candidates=(*exchanged, *others))


@pytest.mark.parametrize("lead", [0.0, 1e-3])
def test_rounding_decides_the_order_of_a_tie_alone(lead: float) -> None:
    # Probabilities in proportion to the noise: all tokens tie, the first drawn one by its lead.
    beams, vocab = 2, 8
    noise = torch.empty(beams * vocab).exponential_(1, generator=torch.Generator().manual_seed(5))
    config = BeamSearch(num_beams=beams, max_new_tokens=1, do_sample=True, seed=5)
    logits = noise[:vocab].log()

    def search() -> tuple[ScriptedModel, Trace]:
        model = ScriptedModel({(): logits}, given="logits", eos=None)
        return model, collect(model, [1], config)

    _, trace = search()
    logits[trace.beam_steps[0].candidates[0].token_id] += lead
    model, trace = search()
    assert _failed(trace, model) == set()
    assert (DRAWN in _failed(_first_two_exchanged(trace), model)) == (lead > 0)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_forged_penalty_of_a_plain_search_is_refused(groups: int) -> None:
    config = BeamSearch(
        num_beams=4,
        max_new_tokens=8,
        num_beam_groups=groups,
        diversity_penalty=0.6 if groups > 1 else 0.0,
        shaping=Shaping(repetition_penalty=1.3),
    )
    honest = collect(_model(), "the fox had", config)
    assert _failed(honest, _model()) == set()
    for forged_config in [
        replace(config, shaping=Shaping(repetition_penalty=1.1)),
        replace(config, shaping=Shaping()),
        replace(config, shaping=replace(config.shaping, no_repeat_ngram_size=1)),
        *([replace(config, diversity_penalty=0.3)] if groups > 1 else []),
    ]:
        assert _failed(replace(honest, config=forged_config), _model()), forged_config
