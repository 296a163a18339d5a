"""Random beam searches, for the tests that compare many of them."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from core import BeamSearch
from core.models.transformers_model import TransformersModel
from tests.decoding.shaping.shapings import random_penalties, random_shaping
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
        shaping=random_shaping(dice) if draws else random_penalties(dice),
    )
    return model, prompt, config


def answers_of(monkeypatch: pytest.MonkeyPatch, name: str) -> list[Any]:
    """Record the answers of a reference method of the model, one for each call from now on."""
    answers: list[Any] = []
    original = getattr(TransformersModel, name)

    def ask(*arguments: Any) -> Any:
        answers.append(original(*arguments))
        return answers[-1]

    monkeypatch.setattr(TransformersModel, name, ask)
    return answers
