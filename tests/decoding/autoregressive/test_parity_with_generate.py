"""The engine's tokens equal transformers' `generate`: float32, one thread, random settings.

Two forwards of different shape differ by float32's rounding, so a run may differ from
`generate` only where the two tokens are closer than that (`check` allows at most twice the measured
rounding). The same check's independent rescoring then compares the tokens that follow.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
import torch

from core import Greedy, Sampling, Shaping, check, collect
from core.models.transformers_model import TransformersModel
from tests.decoding.beam.beams import ARCHITECTURES, answers_of
from tests.decoding.shaping.shapings import random_shaping
from tests.depth import cases
from tests.models.builders import random_language_model, random_model, tiny_tokenizer

CASES_EACH = cases(40, 10)
SAME_TOKENS = "generate_tokens"


@cache
def _model(kind: str) -> TransformersModel:
    return random_language_model(kind)


@cache
def _half_model(kind: str) -> TransformersModel:
    return TransformersModel(
        random_model(kind).to(torch.bfloat16), tiny_tokenizer(), model_id=f"half {kind}"
    )


def _random_config(dice: random.Random) -> Greedy | Sampling:
    longest = dice.randint(4, 24)
    shared = {
        "max_new_tokens": longest,
        "min_new_tokens": dice.choice([0, 0, 2, longest]),
        "shaping": random_shaping(dice),
        "top_candidates": 5,
        "use_cache": dice.random() < 0.8,
    }
    if dice.random() < 0.4:
        return Greedy(**shared)
    return Sampling(seed=dice.randrange(10_000), draw="multinomial", **shared)


def test_the_engine_emits_what_generate_emits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs differ only at near ties, and hardly any run differs."""
    answers, failed, parted = answers_of(monkeypatch, "reference_token_ids"), [], []
    for kind, case in product(ARCHITECTURES, range(CASES_EACH)):
        dice = random.Random(f"{kind} {case}")
        model = _model(kind)
        prompt = [dice.randrange(1, 300) for _ in range(dice.randint(1, 12))]
        trace = collect(model, prompt, _random_config(dice))
        checks = check(trace, model)
        assert SAME_TOKENS in {outcome.name for outcome in checks}
        failed += [(kind, case, outcome) for outcome in checks if not outcome.passed]
        if answers[-1] != list(trace.token_ids):
            parted.append((kind, case))
    assert failed == []
    assert len(parted) <= 1, parted


@pytest.mark.parametrize("case", range(cases(8, 4)))
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_bfloat16_with_its_many_ties_emits_what_generate_emits(kind: str, case: int) -> None:
    dice = random.Random(f"bfloat16 {kind} {case}")
    model = _half_model(kind)
    shaping = Shaping(temperature=0.9, top_k=dice.randint(10, 60), top_p=dice.uniform(0.5, 0.95))
    config = Sampling(max_new_tokens=12, seed=case, draw="multinomial", shaping=shaping)
    prompt = [dice.randrange(1, 300) for _ in range(5)]
    trace = collect(model, prompt, config)
    assert model.reference_token_ids(prompt, config) == list(trace.token_ids)


def test_the_cache_changes_nothing_but_the_time() -> None:
    for kind in ARCHITECTURES:
        runs = [
            collect(_model(kind), [5, 6, 7], Greedy(max_new_tokens=20, use_cache=use_cache))
            for use_cache in (True, False)
        ]
        assert runs[0].token_ids == runs[1].token_ids
        for with_cache, without in zip(runs[0].token_steps, runs[1].token_steps, strict=True):
            assert with_cache.surprisal == pytest.approx(without.surprisal, abs=1e-4)


def test_a_wrong_token_is_found_out() -> None:
    """The reference check can fail: another seed's tokens are not this seed's."""
    model = _model("llama")
    honest = collect(model, [5, 6, 7], Sampling(max_new_tokens=12, seed=2, draw="multinomial"))
    forged = replace(honest, config=Sampling(max_new_tokens=12, seed=1, draw="multinomial"))
    assert not next(o for o in check(forged, model) if o.name == SAME_TOKENS).passed
