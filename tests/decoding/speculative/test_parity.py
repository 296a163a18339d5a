"""Speculative greedy decoding equals greedy decoding, and every run of any settings is proved.

Scoring several tokens at once differs from one at a time by float32's rounding, so two greedy runs
may part only where two tokens are closer than that (`check` measures it there).
"""

from __future__ import annotations

import random

import pytest
import torch
from transformers import GenerationConfig

from core import Shaping, Speculative, check, collect
from core.decoding.speculative.checks.model_checks import SAME_GREEDY_TOKENS
from core.decoding.speculative.measurement.baseline import target_only
from tests.decoding.speculative.speculations import (
    ARCHITECTURES,
    near_draft,
    pair,
    random_config,
    random_prompt,
    target,
)
from tests.depth import cases

GREEDY_CASES = cases(200, 66)
PROVED_CASES_EACH = cases(10, 5)


def test_speculative_greedy_equals_greedy_for_random_settings() -> None:
    parted, reasons, accepted, rejected = [], set(), 0, 0
    for case in range(GREEDY_CASES):
        dice = random.Random(f"speculative greedy {case}")
        model, draft = pair(ARCHITECTURES[case % len(ARCHITECTURES)], dice)
        prompt, config = random_prompt(dice), random_config(dice, greedy=True)
        own_draft = draft if config.drafter == "model" else None
        trace = collect(model, prompt, config, draft=own_draft)
        alone = collect(model, prompt, target_only(config))
        if trace.token_ids != alone.token_ids or trace.finish_reason != alone.finish_reason:
            parted.append((case, [o for o in check(trace, model, own_draft) if not o.passed]))
        else:
            assert trace.text == alone.text
        reasons.add(trace.finish_reason)
        accepted += sum(len(step.accepted) for step in trace.rounds)
        rejected += sum(step.recovered is not None for step in trace.rounds)
    # What parted did so at a near tie, or its checks would have failed.
    assert [failed for _, failed in parted if failed] == []
    assert len(parted) <= 2
    assert reasons == {"eos", "stop", "length"}
    assert accepted > 1.5 * GREEDY_CASES < rejected


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_every_run_is_proved_whatever_the_settings(kind: str) -> None:
    for case in range(PROVED_CASES_EACH):
        dice = random.Random(f"speculative {kind} {case}")
        model, draft = pair(kind, dice)
        prompt, config = random_prompt(dice), random_config(dice, greedy=case % 5 == 0)
        own_draft = draft if config.drafter == "model" else None
        trace = collect(model, prompt, config, draft=own_draft)
        checks = check(trace, model, own_draft)
        assert [outcome for outcome in checks if not outcome.passed] == [], (case, config)
        names = {outcome.name for outcome in checks}
        assert (SAME_GREEDY_TOKENS in names) == (config.shaping.temperature == 0)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_assisted_generation_emits_the_same_greedy_tokens(kind: str) -> None:
    model, draft = target(kind), near_draft(kind)
    model.eos_ids = frozenset()
    equal = 0
    for case in range(6):
        prompt = random_prompt(random.Random(f"assisted {kind} {case}"))
        config = Speculative(max_new_tokens=16, shaping=Shaping(temperature=0.0))
        trace = collect(model, prompt, config, draft=draft)
        ids = torch.tensor([prompt])
        output = model.hf_model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            assistant_model=draft.hf_model,
            generation_config=GenerationConfig(
                max_new_tokens=16, do_sample=False, pad_token_id=299, eos_token_id=299
            ),
        )
        equal += output[0, len(prompt) :].tolist() == list(trace.token_ids)
    assert equal >= 5
