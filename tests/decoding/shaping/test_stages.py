"""Shaping as a whole: stages, masses, removed tokens, and properties that always hold."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decoding.errors import ConfigError, DecodingError
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.stages import only, raw_distribution
from core.decoding.shaping.step import StepShaper
from tests.depth import cases

LOGITS = st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=60).map(torch.tensor)
SHAPINGS = st.builds(
    Shaping,
    temperature=st.floats(0.05, 5),
    top_n_sigma=st.floats(0, 5),
    top_k=st.integers(0, 70),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
    typical_p=st.floats(0.01, 1),
    epsilon_cutoff=st.floats(0, 0.99),
    eta_cutoff=st.floats(0, 0.99),
)


def _shape(logits: torch.Tensor, shaping: Shaping):
    return StepShaper(shaping).distributions(logits, [], 0)


def _kept(logits: torch.Tensor, shaping: Shaping) -> set[int]:
    last = _shape(logits, shaping)[-1]
    return set(range(len(logits))) if last.ids is None else set(last.ids.tolist())


@given(LOGITS, SHAPINGS)
@settings(deadline=None, max_examples=cases(200, 50))
def test_never_empties_the_distribution_and_sums_to_one(logits, shaping) -> None:
    before = len(logits)
    for stage in _shape(logits, shaping):
        assert stage.kept >= 1
        assert float(stage.probs.sum()) == pytest.approx(1, abs=1e-5)
        assert 0 <= stage.removed_mass < 1
        assert stage.kept < before or stage.removed_mass == 0
        before = stage.kept


@given(LOGITS, SHAPINGS)
@settings(deadline=None, max_examples=cases(100, 25))
def test_a_most_probable_token_survives_all_filters_but_typical(logits, shaping) -> None:
    survivors = _kept(logits, replace(shaping, typical_p=1.0))
    # The smallest floats are equal once they are divided.
    tempered = logits / (shaping.temperature or 1.0)
    assert any(tempered[token] == tempered.max() for token in survivors)


def test_each_stage_tells_the_mass_that_it_removed() -> None:
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    raw, top_k, top_p = _shape(logits, Shaping(top_k=3, top_p=0.8))
    assert (raw.kept, top_k.kept, top_p.kept) == (4, 3, 2)
    assert top_k.removed_mass == pytest.approx(0.05, abs=1e-6)
    assert top_p.removed_mass == pytest.approx(0.15 / 0.95, abs=1e-6)
    assert top_p.probs.tolist() == pytest.approx([0.625, 0.375], abs=1e-6)


def test_removed_tokens_have_log_probability_minus_infinity() -> None:
    logits = torch.tensor([0.1, 0.6, 0.3]).log()
    values = _shape(logits, Shaping(top_k=2))[-1].log_probs_of(torch.tensor([0, 1, 2]))
    assert values[0] == -math.inf
    assert [math.exp(v) for v in values[1:]] == pytest.approx([2 / 3, 1 / 3], abs=1e-6)


def test_penalties_come_first_and_bans_leave_no_mass() -> None:
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    shaping = Shaping(repetition_penalty=2.0, no_repeat_ngram_size=2)
    stages = StepShaper(shaping, min_new_tokens=1, eos_ids=[3]).distributions(logits, [0, 1, 0], 0)
    assert [s.name for s in stages] == [
        "raw",
        "repetition_penalty",
        "no_repeat_ngram_size",
        "min_new_tokens",
    ]
    assert stages[1].logits.tolist() == [1.0, 0.5, 0.0, -1.0]
    assert stages[-1].logits.tolist() == [1.0, -math.inf, 0.0, -math.inf]
    assert stages[-1].kept == 2


def test_greedy_is_the_one_hot_distribution() -> None:
    raw = raw_distribution(torch.tensor([0.2, 0.7, 0.1]).log())
    stage = only(raw, 1)
    assert stage.token_id(0) == 1
    assert stage.probs.tolist() == [1.0]
    assert stage.removed_mass == pytest.approx(0.3, abs=1e-6)


def test_banning_every_token_is_one_clear_error() -> None:
    shaper = StepShaper(Shaping(), min_new_tokens=1, eos_ids=[0, 1])
    with pytest.raises(DecodingError, match=r"No token is left after min_new_tokens"):
        shaper.distributions(torch.zeros(2), [0], 0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_that_are_no_distribution_are_refused(bad: float) -> None:
    with pytest.raises(DecodingError, match="no distribution"):
        raw_distribution(torch.tensor([0.0, bad]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("top_k", -1),
        ("top_k", 2.5),
        ("top_p", 1.01),
        ("min_p", -0.2),
        ("typical_p", 0),
        ("epsilon_cutoff", 1),
        ("repetition_penalty", 0),
        ("no_repeat_ngram_size", True),
    ],
)
def test_a_bad_value_names_the_field_and_the_value(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name) as error:
        Shaping(**{name: value})
    assert repr(value) in str(error.value)
