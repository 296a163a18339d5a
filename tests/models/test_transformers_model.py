"""The adapter around contexts: prompts, properties, the reference, models without a cache."""

from __future__ import annotations

import pytest
import torch
from transformers import BertConfig, BertModel, T5Config, T5ForConditionalGeneration

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.errors import ModelError, PromptError
from core.decoding.shaping.config import Shaping
from core.models import transformers_model
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_language_model, random_model, tiny_tokenizer

PROMPT = [5, 17, 120, 33, 64]


def prompt_logits(model: TransformersModel, ids: list[int], use_cache: bool) -> list[torch.Tensor]:
    pieces: list[torch.Tensor] = []

    def collect(first: int, logits: torch.Tensor) -> None:
        assert first == sum(len(piece) for piece in pieces)
        pieces.append(logits)

    model.start(ids, use_cache=use_cache, on_logits=collect)
    return pieces


@pytest.mark.parametrize("kind", ["llama", "mistral"])
@pytest.mark.parametrize("use_cache", [True, False])
def test_a_long_prompt_comes_in_pieces_with_the_same_logits(
    kind: str, use_cache: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, ids = random_language_model(kind), list(range(1, 24))
    whole = prompt_logits(model, ids, use_cache)
    monkeypatch.setattr(transformers_model, "CHUNK_BYTES", (4 if use_cache else 1) * 4 * 300)
    pieces = prompt_logits(model, ids, use_cache)
    assert [len(piece) for piece in pieces] == ([4, 4, 4, 4, 4, 3] if use_cache else [8, 8, 7])
    torch.testing.assert_close(torch.cat(pieces), whole[0], rtol=0, atol=2e-5)


def test_bad_prompts_are_prompt_errors() -> None:
    model = random_language_model()
    with pytest.raises(PromptError, match="at least one token"):
        model.start([])
    with pytest.raises(PromptError, match="got 300; use ids of this model's own tokenizer"):
        model.start([1, 300])
    with pytest.raises(PromptError, match="valid Unicode"):
        model.encode("half a pair: \ud83d")
    assert model.encode("") == []


def test_logits_are_float32_whatever_the_weights_are() -> None:
    model = random_language_model()
    model = TransformersModel(model.hf_model.to(torch.bfloat16), model.tokenizer, model_id="bf16")
    context = model.start(PROMPT)
    assert context.logits.dtype is torch.float32
    assert context.extend([1, 2]).dtype is torch.float32
    assert model.dtype == "bfloat16"


def test_every_declared_end_of_sequence_counts() -> None:
    hf_model = random_model("llama", eos_token_id=7)
    hf_model.generation_config.eos_token_id = [8, 9, 100_000]
    assert TransformersModel(hf_model, tiny_tokenizer(), model_id="ends").eos_ids == {0, 7, 8, 9}


@pytest.mark.parametrize("kind", ["mamba", "openai-gpt"])
def test_models_without_a_usable_cache_run_uncached(kind: str) -> None:
    model = random_language_model(kind)
    assert not model.supports_cache
    context = model.start(PROMPT)
    context.extend([1, 2])
    context.rollback(2)
    logits = context.branch([0, 0]).extend([[3], [4]])
    fresh = model.start([*PROMPT, 4], use_cache=False)
    torch.testing.assert_close(logits[1, 0], fresh.logits[0], rtol=0, atol=1e-5)
    assert model.reference_token_ids(PROMPT, Greedy(max_new_tokens=3)) is not None


def test_encoders_are_refused() -> None:
    bert = BertConfig(
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    t5 = T5Config(vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
    for hf_model in (BertModel(bert), T5ForConditionalGeneration(t5)):
        with pytest.raises(ModelError, match="decoder-only"):
            TransformersModel(hf_model, tiny_tokenizer(), model_id="wrong")


def test_the_reference_ignores_the_models_own_generation_settings() -> None:
    model = random_language_model()
    config = Greedy(max_new_tokens=12)
    expected = model.reference_token_ids(PROMPT, config)
    shipped = model.hf_model.generation_config
    shipped.repetition_penalty, shipped.do_sample, shipped.suppress_tokens = 5.0, True, expected
    assert model.reference_token_ids(PROMPT, config) == expected
    assert model.hf_model.generation_config is shipped


def test_the_reference_of_sampling_follows_the_seed_alone() -> None:
    model = random_language_model()
    config = Sampling(max_new_tokens=12, seed=3, draw="multinomial")
    before = torch.get_rng_state()
    first = model.reference_token_ids(PROMPT, config)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert model.reference_token_ids(PROMPT, config) == first
    reseeded = Sampling(max_new_tokens=12, seed=4, draw="multinomial")
    assert model.reference_token_ids(PROMPT, reseeded) != first


def test_the_reference_samples_from_all_tokens_where_top_k_is_off() -> None:
    model = random_language_model(initializer_range=0.001)
    config = Sampling(max_new_tokens=60, min_new_tokens=60, draw="multinomial")
    ids = model.reference_token_ids(PROMPT, config)
    # Nearly uniform: transformers' implicit top_k of 50 would leave 50 of 300 tokens.
    assert len(set(ids)) > 50


def test_temperature_zero_has_the_reference_of_greedy() -> None:
    model = random_language_model()
    config = Sampling(max_new_tokens=8, shaping=Shaping(temperature=0, top_p=0.5))
    greedy = model.reference_token_ids(PROMPT, Greedy(max_new_tokens=8))
    assert model.reference_token_ids(PROMPT, config) == greedy


def test_there_is_no_reference_for_draws_that_transformers_does_not_have() -> None:
    model = random_language_model()
    for draw in ("inverse_cdf", "gumbel"):
        config = Sampling(max_new_tokens=3, draw=draw)  # type: ignore[arg-type]
        assert model.reference_token_ids(PROMPT, config) is None


def test_the_reference_stops_at_a_stop_string_of_the_new_text() -> None:
    model = random_language_model(initializer_range=0.001)
    settings = {"max_new_tokens": 40, "min_new_tokens": 40, "draw": "multinomial"}
    ids = model.reference_token_ids(PROMPT, Sampling(**settings))  # type: ignore[arg-type]
    spelled = [model.token_bytes(token) for token in ids]
    at = next(at for at, text in enumerate(spelled) if text and text.isascii())
    stop_strings = ("never seen", spelled[at].decode())
    stopped = Sampling(stop_strings=stop_strings, **settings)  # type: ignore[arg-type]
    assert model.reference_token_ids(PROMPT, stopped) == ids[: at + 1]


def test_the_reference_ends_where_the_window_does() -> None:
    model = random_language_model("gpt2", max_position_embeddings=12)
    model.eos_ids = frozenset()
    ids = model.reference_token_ids(PROMPT, Greedy(max_new_tokens=50))
    assert ids is not None and len(ids) == 12 - len(PROMPT)
    assert model.reference_token_ids([1] * 12, Greedy()) is None


def test_min_new_tokens_holds_the_end_back() -> None:
    model = random_language_model()
    model.eos_ids = frozenset(range(150))
    ids = model.reference_token_ids(PROMPT, Greedy(max_new_tokens=10, min_new_tokens=6))
    assert ids is not None and len(ids) >= 6
    assert all(token >= 150 for token in ids[:6])
