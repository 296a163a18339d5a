"""The context window of scaled rotary embeddings is lengthened once."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import AutoConfig

from core.models.running.window import context_window

_LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
_FACTORS = {"short_factor": [1.0] * 32, "long_factor": [2.0] * 32}


# Numbers of tiny models, then of the configurations that models are published with.
@pytest.mark.parametrize(
    ("kind", "listed", "rope", "window"),
    [
        ("llama", 32, None, 32),
        ("llama", 32, {"rope_type": "default"}, 32),
        ("llama", 32, {"rope_type": "linear", "factor": 4.0}, 128),
        ("llama", 32, {"type": "linear", "factor": 4}, 128),
        ("llama", 32, {"type": "dynamic", "factor": 4.0}, 128),
        ("llama", 32, {"rope_type": "yarn", "factor": 4.0}, 128),
        ("llama", 32, {"rope_type": "llama3", "factor": 4.0, **_LLAMA3}, 128),
        ("llama", 32, {"rope_type": "longrope", "factor": 4.0, **_FACTORS}, 128),
        ("llama", 32, {"rope_type": "linear", "factor": 1.5}, 48),
        ("llama", 128, {"rope_type": "yarn", "factor": 4.0, "original": 32}, 128),
        ("llama", 131_072, {"rope_type": "llama3", "factor": 8.0, "original": 8_192, **_LLAMA3},
         131_072),  # Llama 3.1
        ("llama", 131_072, {"rope_type": "llama3", "factor": 32.0, "original": 8_192, **_LLAMA3},
         131_072),  # Llama 3.2
        ("phi3", 131_072, {"type": "longrope", "original": 4_096, **_FACTORS}, 131_072),
        ("phi3", 4_096, None, 4_096),
        ("qwen2", 32_768, {"type": "yarn", "factor": 4.0, "original": 32_768}, 131_072),
        ("qwen3", 40_960, {"rope_type": "yarn", "factor": 4.0, "original": 32_768}, 131_072),
        ("deepseek_v3", 163_840, {"type": "yarn", "factor": 40, "original": 4_096}, 163_840),
        ("gpt_oss", 131_072, {"rope_type": "yarn", "factor": 32.0, "original": 4_096}, 131_072),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["rope_parameters", "rope_scaling"])
def test_the_window_is_what_the_scaling_makes_of_the_positions(
    name: str, kind: str, listed: int, rope: dict[str, Any] | None, window: int
) -> None:
    fields: dict[str, Any] = {"max_position_embeddings": listed}
    if rope is not None:
        rope = {"rope_theta": 10_000.0, **rope}
        if original := rope.pop("original", None):
            rope["original_max_position_embeddings"] = original
            if kind == "phi3":
                fields["original_max_position_embeddings"] = original
        if rope.get("type") == "longrope" or rope.get("rope_type") == "longrope":
            fields |= {"hidden_size": 256, "num_attention_heads": 4}
        fields[name] = rope
    assert context_window(AutoConfig.for_model(kind, **fields)) == window


def test_gemma_3_lists_the_window_that_its_global_layers_are_scaled_to() -> None:
    rope = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    fields = {"max_position_embeddings": 131_072, "rope_parameters": rope}
    assert context_window(AutoConfig.for_model("gemma3_text", **fields)) == 131_072


@pytest.mark.parametrize("factor", [None, "4", True, 0.5, -4, float("inf"), float("nan")])
def test_a_factor_that_is_no_number_above_1_lengthens_nothing(factor: object) -> None:
    class Foreign:
        max_position_embeddings = 32
        rope_parameters = {"rope_type": "linear", "factor": factor}  # noqa: RUF012

    assert context_window(Foreign()) == 32


def test_without_positions_there_is_no_bound() -> None:
    assert context_window(AutoConfig.for_model("mamba")) is None
    assert context_window(AutoConfig.for_model("gpt2", n_positions=64)) == 64
