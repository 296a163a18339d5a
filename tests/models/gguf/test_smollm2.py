"""SmolLM2-135M-Instruct as its users meet it; run where `make smollm2` has installed it."""

from __future__ import annotations

from typing import Any

import pytest

from core import BeamSearch, Greedy, Sampling, Shaping, check, collect
from core.models.packaged import is_installed
from core.models.registry import load_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not is_installed("smollm2"), reason="not installed: make smollm2"),
]
CHAT = [{"role": "user", "content": "What is the capital of France?"}]


@pytest.fixture(scope="module")
def model() -> Any:
    return load_model("smollm2")


@pytest.fixture
def cache() -> None:
    """The user's own, where `make smollm2` has put the conversion."""


def test_it_answers_in_its_chat_template(model: Any) -> None:
    trace = collect(model, model.encode_chat(CHAT), Greedy(max_new_tokens=12))
    assert trace.text == "The capital of France is Paris."
    assert trace.finish_reason == "eos"
    assert trace.model_revision.startswith("SmolLM2-135M-Instruct.Q4_1.gguf Q4_1 ")
    assert all(outcome.passed for outcome in check(trace, model))


def test_it_runs_fused_over_its_whole_vocabulary(model: Any) -> None:
    assert model.vocab_size == 49_152 and model._fused is not None
    assert model.context_window == 8_192


@pytest.mark.parametrize(
    "config",
    [
        Sampling(max_new_tokens=6, seed=3, draw="multinomial", shaping=Shaping(top_p=0.9)),
        BeamSearch(max_new_tokens=4, num_beams=3),
    ],
    ids=["sampling", "beam"],
)
def test_a_run_equals_generate(model: Any, config: Any) -> None:
    trace = collect(model, "Once upon a time", config)
    checks = check(trace, model)
    assert checks and all(outcome.passed for outcome in checks)
