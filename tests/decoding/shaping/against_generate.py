"""Runs by transformers' `generate`, for tests of settings that act in every method."""

from __future__ import annotations

import random
from typing import Any

from core import BeamSearch, Greedy, Sampling, check, collect
from core.decoding.beam.model_checks import SAME_HYPOTHESES
from core.models.transformers_model import TransformersModel

SAME_TOKENS = "generate_tokens"


def assert_equal_to_generate(
    model: TransformersModel, dice: random.Random, seed: int, **shared: Any
) -> None:
    """Greedy decoding, sampling and beam search of a random prompt give what `generate` gives.

    Args:
        seed: of the draws; every third search draws too.
        shared: settings of all three.
    """
    prompt = [dice.randrange(1, 300) for _ in range(5)]
    drawn = Sampling(seed=seed, draw="multinomial", **shared)
    beam = BeamSearch(num_beams=3, do_sample=seed % 3 == 0, seed=seed, **shared)
    for config, name in ((Greedy(**shared), SAME_TOKENS), (drawn, SAME_TOKENS),
                         (beam, SAME_HYPOTHESES)):  # fmt: skip
        outcomes = check(collect(model, prompt, config), model)
        assert name in {outcome.name for outcome in outcomes}
        assert [outcome for outcome in outcomes if not outcome.passed] == []
