"""Frequency and presence penalty against OpenAI's formula; transformers has neither."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from core import Greedy, Sampling, Shaping, check, collect
from core.decoding.shaping.functions import penalties
from core.decoding.shaping.stage import StepContext
from core.models.scripted import ScriptedModel
from tests.models.builders import random_language_model

LOGITS = torch.tensor([3.0, 2.5, 2.0, 1.5])
PROMPT, GENERATED = [3, 3, 5, 0], [7, 3, 7, 7, 900]


def by_hand(logits: list[float], frequency: float, presence: float) -> list[float]:
    """Return mu - c * frequency - (c > 0) * presence, with c counted in the generated text."""
    counts = Counter(GENERATED)
    return [
        logit - counts[token] * frequency - (counts[token] > 0) * presence
        for token, logit in enumerate(logits)
    ]


@pytest.mark.parametrize("frequency", [-2.0, 0.25, 1.5])
@pytest.mark.parametrize("presence", [-0.5, 0.25, 2.0])
def test_they_equal_the_formula_and_leave_the_prompt_alone(
    frequency: float, presence: float
) -> None:
    logits = torch.randn(40, generator=torch.Generator().manual_seed(2))
    logits[9] = -torch.inf
    context = StepContext(ids=[*PROMPT, *GENERATED], prompt_length=len(PROMPT))
    before = logits.clone()
    shaped = penalties.frequency_penalty(logits, frequency, context)
    shaped = penalties.presence_penalty(shaped, presence, context)
    torch.testing.assert_close(shaped, torch.tensor(by_hand(logits.tolist(), frequency, presence)))
    assert torch.equal(logits, before)
    start = StepContext(ids=PROMPT, prompt_length=len(PROMPT))
    assert torch.equal(penalties.frequency_penalty(logits, frequency, start), logits)


def test_a_presence_penalty_makes_greedy_take_each_token_once() -> None:
    model = ScriptedModel({(): LOGITS}, tokens=("a", "b", "c", "d"), given="logits", eos=None)
    config = Greedy(max_new_tokens=4, shaping=Shaping(presence_penalty=2.0))
    assert collect(model, [0], config).token_ids == (0, 1, 2, 3)
    again = Greedy(max_new_tokens=4, shaping=Shaping(frequency_penalty=0.3))
    assert collect(model, [0], again).token_ids == (0, 0, 1, 0)


@pytest.mark.parametrize("config", [Greedy, Sampling])
def test_a_run_with_both_is_proved_by_the_model(config: type[Greedy]) -> None:
    model = random_language_model("qwen2")
    shaping = Shaping(frequency_penalty=0.6, presence_penalty=-0.4)
    trace = collect(model, "the fox had", config(max_new_tokens=12, shaping=shaping))
    assert all(row.passed for row in check(trace, model))
    assert [stage.name for stage in trace.token_steps[5].stages][:3] == [
        "raw",
        "frequency_penalty",
        "presence_penalty",
    ]
