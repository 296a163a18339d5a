"""Stages with noise of their own and stages with a state: in runs, in proofs, and step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from core import BeamSearch, Sampling, Shaping, Speculative, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.shaping.config import SETTINGS
from core.decoding.shaping.stage import StepContext, named_uniform
from core.decoding.shaping.stages import ACTS, READS_STEP
from core.decoding.shaping.step import StepShaper

# A setting whose stage the tests replace.
NAME = "epsilon_cutoff"
ON = Shaping(**{NAME: 0.5})
PROMPT = [3, 1, 4]


def noisy(logits: Tensor, share: float, context: StepContext) -> Tensor:
    """Remove the highest logit at a share of the steps."""
    if context.uniform(NAME) >= share:
        return logits
    return logits.index_fill(-1, logits.argmax(dim=-1), -math.inf)


class Once:
    """A token that was generated is removed for the rest of the run."""

    accepted = 0

    def __init__(self, _: float, used: Sequence[int] = ()) -> None:
        self.used = list(used)

    def __call__(self, logits: Tensor, context: StepContext) -> Tensor:
        assert self.used == list(context.ids[context.prompt_length :])
        return logits.index_fill(-1, torch.tensor(self.used, dtype=torch.long), -math.inf)

    def accept(self, token_id: int) -> None:
        Once.accepted += 1
        self.used.append(token_id)

    def rollback(self, count: int) -> None:
        del self.used[len(self.used) - count :]

    def fork(self) -> Once:
        return Once(0, self.used)


@pytest.fixture(params=[noisy, Once], ids=["noise", "state"])
def stage(request, monkeypatch):
    monkeypatch.setitem(ACTS, NAME, request.param)
    monkeypatch.setitem(SETTINGS, NAME, replace(SETTINGS[NAME], generate=None))
    READS_STEP.add(NAME)
    yield request.param
    READS_STEP.discard(NAME)


CONFIGS = (
    Sampling(shaping=ON, max_new_tokens=10, seed=3),
    Sampling(shaping=ON, max_new_tokens=6, seed=3, draw="gumbel"),
    BeamSearch(shaping=ON, max_new_tokens=5, num_beams=2, do_sample=True, seed=3),
    Speculative(shaping=ON, max_new_tokens=8, seed=3),
)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_a_run_is_proved_by_the_model(stage, config) -> None:
    model = load_model("embedded:target")
    draft = load_model("embedded:draft") if isinstance(config, Speculative) else None
    trace = collect(model, "Once upon a time", config, draft=draft)
    assert verdict(check(trace, model, draft)) == "proved"
    if stage is Once:
        paths = trace.hypotheses or [trace]
        assert all(len(set(path.token_ids)) == len(path.token_ids) for path in paths)


XTC = Shaping(xtc_probability=0.5, xtc_threshold=0.05)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_a_run_with_xtc_is_proved_by_the_model_and_made_again_by_its_seed(config) -> None:
    config = replace(config, shaping=XTC)
    model = load_model("embedded:target")
    draft = load_model("embedded:draft") if isinstance(config, Speculative) else None
    trace, again = (collect(model, "Once upon a time", config, draft=draft) for _ in range(2))
    assert verdict(check(trace, model, draft)) == "proved"
    assert trace.token_ids == again.token_ids
    noise = [
        [stage.noise for stage in step.stages if stage.name == "xtc_probability"]
        for step in trace.token_steps
    ]
    assert noise == [[named_uniform(3, "xtc_probability", at)] for at in range(len(noise))]


@pytest.mark.parametrize("stage", [noisy], indirect=True)
@pytest.mark.usefixtures("stage")
def test_a_forged_number_of_a_stage_is_found_however_near_it_is() -> None:
    model = load_model("embedded:target")
    trace = collect(model, "Once upon a time", CONFIGS[0])
    recorded = [stage for step in trace.token_steps for stage in step.stages if stage.name == NAME]
    assert [stage.noise for stage in recorded] == [named_uniform(3, NAME, at) for at in range(10)]
    for forged in (None, 0.5, recorded[2].noise + 1e-9):
        steps = list(trace.steps)
        step = trace.token_steps[2]
        stages = [
            stage._replace(noise=forged) if stage.name == NAME else stage for stage in step.stages
        ]
        steps[steps.index(step)] = replace(step, stages=tuple(stages))
        assert verdict(check(replace(trace, steps=tuple(steps)), model)) == "failed", forged


def _kept(shaper: StepShaper, text: list[int]) -> set[int]:
    """The tokens that a text leaves, out of eight."""
    stages = shaper.distributions(torch.arange(8.0), [*PROMPT, *text], len(text))
    return set(range(8)) if stages[-1].ids is None else set(stages[-1].ids.tolist())


@pytest.mark.parametrize("stage", [Once], indirect=True)
@pytest.mark.usefixtures("stage")
def test_a_state_follows_the_text_forth_and_back_and_to_other_branches() -> None:
    shaper = StepShaper(ON)
    for text in ([], [5], [5, 6], [5, 6, 7], [5], [5, 2], [5, 6, 0], [1], [1, 2, 3, 4]):
        assert _kept(shaper, text) == set(range(8)) - set(text)
    texts = [[5, 6], [1, 2], [5, 2], []]
    rows = shaper.rows(
        torch.zeros(4, 8), [[*PROMPT, *text] for text in texts], [len(text) for text in texts]
    )
    for row, text in zip(rows, texts, strict=True):
        assert set((row == -math.inf).nonzero().flatten().tolist()) == set(text)


@pytest.mark.parametrize("stage", [Once], indirect=True)
@pytest.mark.usefixtures("stage")
def test_a_state_takes_in_each_new_token_once(monkeypatch) -> None:
    monkeypatch.setattr(Once, "accepted", 0)
    shaper, text = StepShaper(ON), list[int]()
    for token in range(6):
        _kept(shaper, text)
        text.append(token)
    _kept(shaper, text)
    assert Once.accepted == 6
