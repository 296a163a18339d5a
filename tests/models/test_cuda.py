"""Computation on a GPU: loading, the cache, the fused step. Skipped without a GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from core import BeamSearch, Greedy, check, collect
from core.models.inside import attention, logit_lens
from core.models.registry import load_model, load_reward_model
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_model, tiny_tokenizer
from tests.models.every_method import RUNS, failed_checks

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no GPU here: device='cuda' is not tried"
)
IDS = list(range(1, 60))
PROMPT = "Once upon a time"


@pytest.fixture(scope="module")
def model() -> TransformersModel:
    return load_model("embedded:target", device="cuda")


@pytest.fixture(scope="module")
def on_cpu() -> TransformersModel:
    return load_model("embedded:target")


def test_logits_are_those_of_the_cpu_and_lie_there(model: Any, on_cpu: Any) -> None:
    assert model.device.type == "cuda" and model.dtype == "float32"
    logits, expected = model.start(IDS).logits, on_cpu.start(IDS).logits
    assert logits.device.type == "cpu"
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-3)


def test_the_fused_step_is_used_behind_a_branch_a_reorder_and_a_rollback(model: Any) -> None:
    assert model._fused is not None
    context = model.start(IDS[:20]).branch([0, 0, 0])
    context.extend([[5], [6], [7]])
    context.reorder([2, 0, 0])
    context.rollback(1)
    logits = context.extend([[8], [8], [9]])[:, 0]
    with torch.inference_mode():
        ids = torch.tensor([[*IDS[:20], token] for token in (8, 8, 9)], device="cuda")
        expected = model.hf_model(input_ids=ids).logits[:, -1].cpu()
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "config",
    [Greedy(max_new_tokens=20), BeamSearch(max_new_tokens=12, num_beams=4)],
    ids=["greedy", "beam"],
)
def test_a_run_is_the_cpus_and_generates(model: Any, on_cpu: Any, config: Any) -> None:
    trace = collect(model, PROMPT, config)
    assert trace.token_ids == collect(on_cpu, PROMPT, config).token_ids
    assert all(outcome.passed for outcome in check(trace, model))


def test_bfloat16_runs_through_transformers() -> None:
    weights = random_model("llama").to("cuda", torch.bfloat16)
    model = TransformersModel(weights, tiny_tokenizer(), model_id="random llama")
    assert model._fused is None and model.supports_cache
    trace = collect(model, IDS[:8], Greedy(max_new_tokens=8))
    assert trace.dtype == "bfloat16" and all(outcome.passed for outcome in check(trace))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", RUNS)
def test_every_method_runs_there_and_is_proved(name: str, dtype: str) -> None:
    assert failed_checks(RUNS[name], device="cuda", dtype=dtype) == []


def test_the_page_inside_reads_it_there(model: Any, on_cpu: Any) -> None:
    lens, expected = logit_lens(model, IDS[:12]), logit_lens(on_cpu, IDS[:12])
    assert [p.cells[-1].token_id for p in lens.positions] == [
        p.cells[-1].token_id for p in expected.positions
    ]
    weights, others = attention(model, IDS[:12], 11), attention(on_cpu, IDS[:12], 11)
    torch.testing.assert_close(
        torch.tensor(weights.weights), torch.tensor(others.weights), rtol=0, atol=1e-4
    )


def test_a_reward_model_scores_there() -> None:
    texts = [" 19", " 20"]
    scores = [
        load_reward_model("embedded:reward", device=device).score("What is 12 + 7?", texts)
        for device in ("cuda", "cpu")
    ]
    torch.testing.assert_close(*map(torch.tensor, scores), rtol=0, atol=1e-3)
