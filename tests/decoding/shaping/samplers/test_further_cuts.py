"""Cuts without a library that runs here, against their formulas written out in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise

import pytest
import torch

from core.decoding.shaping.config import SETTINGS
from core.decoding.shaping.functions import filters
from core.decoding.shaping.orders import ORDERS, TRANSFORMERS
from core.decoding.shaping.stage import StepContext
from core.decoding.shaping.stages import ACTS

ROWS = [
    [2.0, 1.0, 0.0, -1.0, -2.0],
    [3.0, 3.0, 3.0, 3.0],
    [1.0, -1.0],
    [4.0],
    [0.0, -math.inf, 4.0, -math.inf, 2.0, 1.5],
    [-math.inf, -7.0, -math.inf],
    [9.0, 8.5, 8.25, 1.0, 0.5, 0.0, -0.25],
    [2.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0],
    (2 * torch.randn(500, generator=torch.Generator().manual_seed(3))).tolist(),
    (0.3 * torch.randn(17_000, generator=torch.Generator().manual_seed(4))).tolist(),
    (2 * torch.randn(700, generator=torch.Generator().manual_seed(5))).round().tolist(),
]


def ranked(logits: Sequence[float]) -> list[int]:
    """Return the tokens that are not removed by falling logit, ties by id."""
    alive = [token for token, logit in enumerate(logits) if logit > -math.inf]
    return sorted(alive, key=lambda token: (-logits[token], token))


def probabilities(logits: Sequence[float]) -> list[float]:
    return torch.tensor(logits).softmax(dim=-1).tolist()


def top_a(logits: Sequence[float], share: float, least: int) -> set[int]:
    """Return what text-generation-webui's `TopALogitsWarper` keeps."""
    probs, order = probabilities(logits), ranked(logits)
    kept = [token for token in order if probs[token] >= share * probs[order[0]] ** 2]
    return {*order[:least], *kept}


def tail_free(logits: Sequence[float], z: float, least: int) -> set[int]:
    """Return what llama.cpp's `llama_sample_tail_free_impl` keeps."""
    order = ranked(logits)
    if len(order) <= 2:
        return {*order}
    probs = torch.tensor(logits).double().softmax(dim=-1).tolist()
    sizes = [probs[token] for token in order]
    first = [a - b for a, b in pairwise(sizes)]
    second = [abs(a - b) for a, b in pairwise(first)]
    total, passed = math.fsum(second), 0.0
    for at, value in enumerate(second):
        passed += value / total if total > 1e-6 else 1 / len(second)
        if passed > z and at >= least:
            return {*order[:at]}
    return {*order}


def min_k(logits: Sequence[float], tau: float, least: int) -> set[int]:
    """Return what Algorithm 1 of Ding et al. 2026 keeps."""
    order = ranked(logits)
    values = [logits[token] for token in order]
    scale = values[0] - values[-1] + 1e-8
    cliff, steepest = 1, -1.0
    for rank in range(1, len(values)):
        decay = (values[rank - 1] - values[rank]) / (rank * scale)
        if decay > steepest:
            cliff, steepest = rank, decay
    count = min(max(cliff, int(tau / scale), least), len(values))
    return {token for token in order if logits[token] >= values[count - 1]}


def p_less(logits: Sequence[float], order: int, least: int) -> set[int]:
    """Return the tokens with at least the probability exp(-H) of Rényi's entropy."""
    probs = torch.tensor(logits).double().softmax(dim=-1).tolist()
    tokens = ranked(logits)
    if order == 1:
        floor = math.exp(sum(p * math.log(p) for p in probs if p > 0))
    else:
        # Floats would underflow; decimals don't.
        total = sum(Decimal(p) ** order for p in probs)
        floor = float(total ** (1 / Decimal(order - 1)))
    # The highest probability is never below the floor, but its rounded value may be.
    kept = [t for t in tokens if probs[t] >= floor or logits[t] == logits[tokens[0]]]
    return {*tokens[:least], *kept}


CASES: dict[str, tuple[list[float], Callable[[Sequence[float], float, int], set[int]]]] = {
    "top_a": ([0.01, 0.2, 0.5, 1.0], top_a),
    "tail_free": ([0.0, 0.3, 0.9, 0.95, 0.999], tail_free),
    "min_k": ([0.5, 3.0, 40.0, 1e4], min_k),
    "p_less": ([1, 2, 3, 7, 20, 50, 100], p_less),
}


@pytest.mark.parametrize("row", range(len(ROWS)))
@pytest.mark.parametrize("name", CASES)
def test_a_cut_keeps_what_its_formula_keeps(name: str, row: int) -> None:
    logits = torch.tensor(ROWS[row])
    values, by_hand = CASES[name]
    for value in values:
        for least in (1, 3):
            cut = ACTS[name](logits, value, StepContext(min_tokens_to_keep=least))
            kept = {*(cut > -math.inf).nonzero().flatten().tolist()}
            expected = by_hand(logits.tolist(), value, least)
            if least > 1 and name != "tail_free":  # More than the least where they are tied.
                assert expected <= kept
                tied = Counter(ROWS[row])
                expected |= {token for token in kept if tied[ROWS[row][token]] > 1}
            assert kept == expected, (value, least)
            assert torch.equal(cut[[*kept]], logits[[*kept]])


@pytest.mark.parametrize("name", [*CASES, "top_h"])
def test_rows_of_a_batch_are_cut_each_for_itself(name: str) -> None:
    rows = torch.randn(4, 150, generator=torch.Generator().manual_seed(5))
    rows *= torch.tensor([[0.1], [1.0], [3.0], [9.0]])
    rows[1, 20:], rows[2] = -math.inf, rows[2].round()
    value = CASES[name][0][1] if name in CASES else 0.4
    together = ACTS[name](rows, value, StepContext())
    for row, cut in zip(rows, together, strict=True):
        assert torch.equal(cut, ACTS[name](row, value, StepContext()))


@pytest.mark.parametrize("name", [*CASES, "top_h"])
def test_tokens_removed_before_change_no_cut(name: str) -> None:
    row = 3 * torch.randn(5_000, generator=torch.Generator().manual_seed(6))
    row[row < row.topk(60)[0][-1]] = -math.inf
    places = (row > -math.inf).nonzero().squeeze(-1)
    value = CASES[name][0][1] if name in CASES else 0.4
    whole = ACTS[name](row, value, StepContext())
    assert torch.equal(whole[places], ACTS[name](row[places], value, StepContext()))


def test_min_k_is_the_same_at_every_temperature_until_its_least_counts() -> None:
    logits = torch.tensor(ROWS[6])
    kept = [int((filters.min_k(logits / t, 0.5) > -math.inf).sum()) for t in (0.5, 1.0, 5.0)]
    assert kept == [3, 3, 3]
    assert int((filters.min_k(logits / 5.0, 10.0) > -math.inf).sum()) == 5


def test_p_less_of_order_2_is_the_probability_that_two_draws_agree() -> None:
    logits = torch.tensor([0.5, 0.39, 0.11]).log()  # 0.25 + 0.1521 + 0.0121 = 0.4142
    assert (filters.p_less(logits, 2) > -math.inf).tolist() == [True, False, False]
    assert (filters.p_less(logits, 1) > -math.inf).tolist() == [True, True, False]


def test_no_library_but_the_app_s_own_order_has_them() -> None:
    for name in CASES:
        assert [order.key for order in ORDERS.values() if not order.lacks(name)] == ["transformers"]
        assert SETTINGS[name].generate is None and SETTINGS[name].label in TRANSFORMERS.note
    assert SETTINGS["top_h"].generate == "top_h" and "Top-H" not in TRANSFORMERS.note
