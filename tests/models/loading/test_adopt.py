"""Models that transformers loaded, in Python: `from_transformers`, and what is refused."""

from __future__ import annotations

import pytest
import torch

from core import (
    Greedy,
    ModelError,
    PromptError,
    Sampling,
    TraceError,
    check,
    collect,
    from_transformers,
    load_model,
)
from tests.models.builders import random_model, tiny_tokenizer


def test_a_run_of_an_adopted_model_is_proved_by_generate() -> None:
    hf_model = random_model("llama").to(torch.bfloat16).train()
    head = hf_model.get_output_embeddings().weight
    strides = head.stride()
    model = from_transformers(hf_model, tiny_tokenizer(), model_id="mine")
    assert (model.dtype, model.model_id, hf_model.training) == ("float32", "mine", False)
    trace = collect(model, "the fox", Greedy(max_new_tokens=6))
    checks = check(trace, model)
    assert all(outcome.passed for outcome in checks)
    assert any(outcome.name == "generate_tokens" for outcome in checks)
    # It can be trained on and saved: layout and gradients are as they were.
    assert head.stride() == strides and head.requires_grad


def test_an_adopted_model_that_is_trained_on_gives_its_new_numbers() -> None:
    hf_model = random_model("llama")
    model = from_transformers(hf_model, tiny_tokenizer())
    before = model.start([1, 2]).extend([3])
    with torch.no_grad():
        for parameter in hf_model.parameters():
            parameter.mul_(1.5)
    assert not torch.equal(before, model.start([1, 2]).extend([3]))


def test_what_is_no_loaded_model_gets_one_sentence() -> None:
    hf_model, tokenizer = random_model("llama"), tiny_tokenizer()
    with pytest.raises(ModelError, match="'embedded:target' is a model's name"):
        collect("embedded:target", "x", Greedy())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"from_transformers\(model, tokenizer\)"):
        collect(hf_model, "x", Greedy())  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"from_transformers\(model, tokenizer\)"):
        load_model(hf_model)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="load_model"):
        collect(None, "x", Greedy())  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"Trace\.load"):
        check("run.json")  # type: ignore[arg-type]
    adopted = from_transformers(hf_model, tokenizer)
    with pytest.raises(PromptError, match="text or a list"):
        collect(adopted, b"ab", Greedy())
    with pytest.raises(ModelError, match="for the tokenizer"):
        from_transformers(hf_model, hf_model)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="for the model"):
        from_transformers(tokenizer, tokenizer)  # type: ignore[arg-type]


def test_the_repr_of_a_trace_and_its_steps_is_a_line() -> None:
    model = from_transformers(random_model("llama"), tiny_tokenizer(), model_id="mine")
    trace = collect(model, "the fox", Sampling(max_new_tokens=3, seed=7))
    assert repr(trace).startswith("Trace(sampling, model 'mine', prompt 'the fox', 3 tokens")
    assert "seed 7" in repr(trace)
    assert all(len(repr(step)) < 1_000 and "\n" not in repr(step) for step in trace)
