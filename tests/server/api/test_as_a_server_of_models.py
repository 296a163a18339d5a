"""The app's own endpoint, taken as a server with models."""

from __future__ import annotations

from typing import Any

import pytest

from core import Greedy, Sampling, Shaping, Speculative, collect, load_model
from core.decoding.by_engine.config import ByEngine
from tests.server.api.served import Served

PROMPT = "Once upon a time"


@pytest.mark.parametrize("kind", ["vllm", "openai"])
def test_it_gives_the_tokens_of_the_engine_itself(
    endpoint: Served, models: dict[str, Any], kind: str
) -> None:
    model = load_model(f"{kind}:{endpoint.url}?tokenizer=embedded:target#embedded:target")
    for config in (
        Greedy(max_new_tokens=4),
        Sampling(max_new_tokens=4, seed=2, shaping=Shaping(top_p=0.9)),
    ):
        local = collect(models["embedded:target"], PROMPT, config)
        assert collect(model, PROMPT, config).token_ids == local.token_ids
    by_engine = ByEngine(max_new_tokens=4, shaping=Shaping(temperature=0.0))
    greedy = collect(models["embedded:target"], PROMPT, Greedy(max_new_tokens=4))
    assert collect(model, PROMPT, by_engine).token_ids == greedy.token_ids


def test_its_own_tokenizer_lets_a_local_draft_speculate(
    endpoint: Served, models: dict[str, Any]
) -> None:
    model, draft = load_model(f"vllm:{endpoint.url}#embedded:target"), models["embedded:draft"]
    config = Speculative(max_new_tokens=6, shaping=Shaping(temperature=0.0))
    local = collect(models["embedded:target"], PROMPT, config, draft=draft)
    assert collect(model, PROMPT, config, draft=draft).token_ids == local.token_ids
