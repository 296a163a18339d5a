"""Every filter alone against transformers' own, on hand-made and random rows, ties included."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers.generation import logits_process as hf

from core.decoding.shaping.functions import filters as shaping
from core.decoding.shaping.functions import penalties, temperatures
from core.decoding.shaping.stage import StepContext

IDS = torch.tensor([[3, 1, 4, 1, 5, 1, 4]])


def _log(*probs: float) -> Tensor:
    return torch.tensor(probs).log()


HAND_MADE = [
    _log(0.9, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0),
    _log(0.25, 0.25, 0.25, 0.25, 0.0, 0.0, 0.0),
    _log(0.4, 0.2, 0.2, 0.1, 0.05, 0.05, 0.0),
    torch.zeros(9),
    torch.tensor([2.0, 2.0, 1.0, 1.0, 0.0, 0.0, -1.0, -1.0]),
    torch.tensor([-3.0, -3.0, -3.0, 5.0, 5.0, -40.0, 0.5]),
    _log(0.5, 0.125, 0.125, 0.125, 0.0625, 0.0625, 0.0),
]


def _rows() -> list[Tensor]:
    generator = torch.Generator().manual_seed(7)
    rows = list(HAND_MADE)
    long = [(4096, 1), (20_000, 0.5), (20_000, 2), (20_000, 6)]
    for size, scale in [(50, 1), (50, 4), (1000, 2), *long]:
        rows.append(scale * torch.randn(size, generator=generator))
        rows.append((2 * torch.randn(size, generator=generator)).round() * scale / 2)
    return rows


CASES = {
    "temperature": (
        [0.1, 0.7, 1.3, 5.0],
        hf.TemperatureLogitsWarper,
        temperatures.temperature,
    ),
    "top_k": ([1, 2, 3, 50, 10_000], hf.TopKLogitsWarper, shaping.top_k),
    "top_p": ([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.999], hf.TopPLogitsWarper, shaping.top_p),
    "min_p": ([0.01, 0.1, 0.25, 0.5, 1.0], hf.MinPLogitsWarper, shaping.min_p),
    "typical_p": ([0.1, 0.25, 0.5, 0.9, 0.99], hf.TypicalLogitsWarper, shaping.typical_p),
    "epsilon_cutoff": (
        [1e-4, 0.01, 0.125, 0.25, 0.9],
        hf.EpsilonLogitsWarper,
        shaping.epsilon_cutoff,
    ),
    "top_h": ([0.01, 0.3, 0.7, 0.99, 1.0], hf.TopHLogitsWarper, shaping.top_h),
    "eta_cutoff": ([1e-4, 0.01, 0.125, 0.25, 0.9], hf.EtaLogitsWarper, shaping.eta_cutoff),
}


@pytest.mark.parametrize("row", range(len(_rows())))
@pytest.mark.parametrize("name", CASES)
def test_a_filter_keeps_exactly_what_transformers_keeps(name: str, row: int) -> None:
    logits = _rows()[row]
    values, warper, ours = CASES[name]
    for value in values:
        expected = warper(value)(IDS, logits[None].clone())[0]
        assert torch.equal(ours(logits, value), expected), f"{name}={value}"


@pytest.mark.parametrize("row", range(len(_rows())))
def test_top_p_leaves_as_many_tokens_as_transformers(row: int) -> None:
    logits = _rows()[row]
    for keep in (2, 7):
        for p in (0.0, 0.25, 0.9):
            expected = hf.TopPLogitsWarper(p, min_tokens_to_keep=keep)(IDS, logits[None].clone())[0]
            assert torch.equal(
                shaping.top_p(logits, p, StepContext(min_tokens_to_keep=keep)), expected
            ), f"{keep} with {p}"


@pytest.mark.parametrize("biases", [((0, 1.5),), ((1, -100.0), (3, 0.1), (6, 100.0))])
@pytest.mark.parametrize("row", range(len(HAND_MADE)))
def test_logit_bias_equals_transformers(row: int, biases: tuple[tuple[int, float], ...]) -> None:
    logits = HAND_MADE[row]
    sequences = [[[token], bias] for token, bias in biases]
    expected = hf.SequenceBiasLogitsProcessor(sequences)(IDS, logits[None].clone())[0]
    assert torch.equal(penalties.logit_bias(logits, biases, StepContext(IDS[0].tolist())), expected)


@pytest.mark.parametrize("penalty", [0.5, 1.1, 2.0])
@pytest.mark.parametrize("row", range(len(HAND_MADE)))
def test_repetition_penalty_equals_transformers(row: int, penalty: float) -> None:
    logits = HAND_MADE[row]
    expected = hf.RepetitionPenaltyLogitsProcessor(penalty)(IDS, logits[None].clone())[0]
    history = StepContext(IDS[0].tolist())
    assert torch.equal(penalties.repetition_penalty(logits, penalty, history), expected)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("ids", [[3, 1, 4, 1, 5, 1], [1, 1, 1, 1], [2], [0, 1, 2, 0, 1]])
def test_no_repeat_ngram_equals_transformers(size: int, ids: list[int]) -> None:
    logits = torch.arange(7.0)
    expected = hf.NoRepeatNGramLogitsProcessor(size)(torch.tensor([ids]), logits[None].clone())[0]
    assert torch.equal(penalties.no_repeat_ngram_size(logits, size, StepContext(ids)), expected)
