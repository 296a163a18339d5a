"""Shaping with the likeliest tokens alone: what it gives is what all tokens give, or it refuses."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import torch

from core.decoding.errors import DecodingError, UnknownTokensError
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.known import known_distribution, require_drawable
from core.decoding.shaping.step import StepShaper

SIZE, NAMED = 60, 12
SETTINGS = (
    Shaping(),
    Shaping(temperature=0.7, top_k=5),
    Shaping(temperature=1.6, top_k=11),
    Shaping(temperature=1.3, top_p=0.7),
    Shaping(top_p=0.9),
    Shaping(min_p=0.1, temperature=0.8),
    Shaping(epsilon_cutoff=0.03),
    Shaping(eta_cutoff=0.05),
    Shaping(top_k=8, typical_p=0.8, top_p=0.9),
    Shaping(no_repeat_ngram_size=1, top_k=4),
    Shaping(logit_bias={3: -2.0}, top_p=0.6),
)


def _rows(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All tokens' log-probabilities, and those of the likeliest alone."""
    generator = torch.Generator().manual_seed(seed)
    spread = 0.5 + 3 * float(torch.rand((), generator=generator))
    row = (spread * torch.randn(SIZE, generator=generator)).log_softmax(-1)
    known = torch.full_like(row, math.nan)
    top = row.topk(NAMED).indices
    known[top] = row[top]
    return row, known


@pytest.mark.parametrize("shaping", SETTINGS, ids=str)
def test_what_is_given_is_what_all_tokens_give(shaping: Shaping) -> None:
    exact_cases = 0
    for seed in range(40):
        row, known = _rows(seed)
        written = list(range(seed % 7))
        expected = StepShaper(shaping).distributions(row, written, 0)[-1]
        stages = list[Any]()
        with suppress(UnknownTokensError):
            stages = StepShaper(shaping, known=True).distributions(known, written, 0)
        if not stages or not stages[-1].exact:
            continue
        exact_cases += 1
        last = stages[-1]
        ids = (last.logits > -math.inf).nonzero().flatten()
        tokens = ids if last.ids is None else last.ids[ids]
        torch.testing.assert_close(
            torch.tensor(last.log_probs_of(tokens)), torch.tensor(expected.log_probs_of(tokens))
        )
        assert float(last.probs.sum()) + last.tail == pytest.approx(1, abs=1e-5)
        assert last.kept == expected.kept
    assert exact_cases > 5 or bool(shaping.active(["typical_p"]))


def test_typical_p_reads_all_tokens() -> None:
    _, known = _rows(0)
    shaping = Shaping(typical_p=0.8)
    with pytest.raises(UnknownTokensError, match=r"effect of typical-p .*: switch typical-p off"):
        StepShaper(shaping, known=True).distributions(known, [], 0)


def test_a_penalty_that_lets_unknown_tokens_pass_is_refused() -> None:
    _, known = _rows(0)
    named = (~known.isnan()).nonzero().flatten().tolist()
    unnamed = next(token for token in range(SIZE) if token not in named)
    for biases in (dict.fromkeys(named, -9.0), {unnamed: 1.0}):
        shaping = Shaping(logit_bias=biases)
        with pytest.raises(UnknownTokensError, match=r"the logit bias .* switch logit bias off"):
            StepShaper(shaping, known=True).distributions(known, [], 0)
    lowered = replace(shaping, logit_bias={unnamed: -1.0})
    stages = StepShaper(lowered, known=True).distributions(known, [], 0)
    assert not stages[-1].exact and int(stages[-1].logits.argmax()) == int(
        known.nan_to_num(-99).argmax()
    )


def test_a_draw_falls_on_a_named_token_or_is_refused() -> None:
    _, known = _rows(3)
    raw = known_distribution(known)
    inside, outside = torch.tensor(1 - raw.tail - 1e-3), torch.tensor(1 - raw.tail + 1e-3)
    require_drawable(raw, "inverse_cdf", inside)
    for exact, method, noise in (
        (True, "inverse_cdf", outside),
        (False, "inverse_cdf", inside),
        (True, "gumbel", inside),
    ):
        with pytest.raises(UnknownTokensError, match="set top-k to 11 or less"):
            require_drawable(replace(raw, exact=exact), method, noise)


def test_a_tail_heavier_than_its_tokens_can_be_is_no_distribution() -> None:
    _, known = _rows(1)
    with pytest.raises(DecodingError, match="no distribution"):
        known_distribution(known - 3)
