"""Random beam searches, for the tests that compare many of them."""

from __future__ import annotations

import random
from functools import cache

import torch

from core import BeamSearch, Shaping
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_language_model

ARCHITECTURES = ("llama", "qwen2", "gpt2", "mistral", "gemma", "gpt_neox")
_ENDS: tuple[tuple[int, ...], ...] = ((0,), (0,), (0, 7, 30), tuple(range(5, 13)), ())


@cache
def _model(kind: str) -> TransformersModel:
    return random_language_model(kind)


def random_case(kind: str, case: int) -> tuple[TransformersModel, list[int], BeamSearch]:
    """A model with one, several or no end-of-sequence tokens, a prompt, and settings."""
    dice = random.Random(f"beam {kind} {case}")
    model = _model(kind)
    model.eos_ids = frozenset(dice.choice(_ENDS))
    prompt = [dice.randrange(1, 300) for _ in range(dice.randint(1, 12))]
    longest = dice.randint(2, 24)
    draws = dice.random() < 0.3
    config = BeamSearch(
        num_beams=dice.choice([1, 2, 2, 3, 4, 4, 5, 8, 16]),
        max_new_tokens=longest,
        min_new_tokens=dice.choice([0, 0, 1, longest // 2]),
        length_penalty=dice.choice([1.0, 0.0, -1.0, 2.0, round(dice.uniform(-2, 3), 2)]),
        early_stopping=dice.choice([True, False, "never"]),
        stop_strings=dice.choice([(), (), ("a", "e"), ("h",)]),
        use_cache=dice.random() < 0.85,
        do_sample=draws,
        seed=dice.randrange(10_000),
        shaping=_shaping(dice, draws),
    )
    return model, prompt, config


def _shaping(dice: random.Random, draws: bool) -> Shaping:
    def sometimes(value, neutral):
        return value if dice.random() < 0.4 else neutral

    penalties = {
        "repetition_penalty": sometimes(round(dice.uniform(0.8, 1.6), 2), 1.0),
        "no_repeat_ngram_size": sometimes(dice.randint(1, 4), 0),
    }
    if not draws:
        return Shaping(**penalties)
    return Shaping(
        **penalties,
        temperature=sometimes(round(dice.uniform(0.5, 2), 2), 1.0),
        top_k=sometimes(dice.randint(1, 80), 0),
        top_p=sometimes(round(dice.uniform(0.05, 0.99), 2), 1.0),
        min_p=sometimes(round(dice.uniform(0.01, 0.4), 2), 0.0),
        typical_p=sometimes(round(dice.uniform(0.1, 0.95), 2), 1.0),
        epsilon_cutoff=sometimes(round(dice.uniform(0.001, 0.1), 3), 0.0),
        eta_cutoff=sometimes(round(dice.uniform(0.001, 0.1), 3), 0.0),
    )


def one_thread():
    """A fixture's body: one torch thread, so that sums are added in one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
