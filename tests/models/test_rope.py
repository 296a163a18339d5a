"""Runs across the length at which rotary angles change are `generate`'s, and the proof agrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from core import BeamSearch, ContrastiveSearch, Greedy, Sampling, Speculative, collect
from core.decoding.autoregressive.reshape import logits_at
from core.decoding.lab.continuations import continue_in_batch, rows_of
from core.decoding.reasoning.batch import BatchRun, reason_in_batch
from core.decoding.reasoning.config import Reasoning
from core.decoding.record.notes import RECOMPUTED
from core.evaluation.scoring.reference import score_reference
from core.models import transformers_model
from core.models.inside import attention, logit_lens
from core.models.running.modules import watch_forward
from core.models.transformers_model import TransformersModel
from tests.decoding.checks.forging import failed
from tests.depth import mostly_slow, slow
from tests.models.builders import random_language_model

SWITCH = 32  # Up to so many tokens all lengths have the same angles.
_SETS = {"short_factor": [1.0] * 4, "long_factor": [3.0, 4.0, 5.0, 8.0]}
_LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "original_max_position_embeddings": SWITCH,
    **_SETS,
}
_DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 4.0}
# The cache is dropped at the switch; it keeps its keys there; each length has its angles; the
# layers of each kind have theirs.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "phi3": (
        "phi3",
        {
            "max_position_embeddings": 128,
            "original_max_position_embeddings": SWITCH,
            "rope_parameters": _LONGROPE,
        },
    ),
    "longrope": (
        "llama",
        {"max_position_embeddings": 128, "rope_parameters": {**_LONGROPE, "factor": 4.0}},
    ),
    "dynamic": ("llama", {"max_position_embeddings": SWITCH, "rope_parameters": _DYNAMIC}),
    "by kind": (
        "gemma3_text",
        {
            "max_position_embeddings": SWITCH,
            "rope_parameters": {"full_attention": _DYNAMIC, "sliding_attention": _DYNAMIC},
        },
    ),
}


def _model(name: str, seed: int = 0) -> TransformersModel:
    kind, fields = MODELS[name]
    return random_language_model(kind, seed=seed, **fields)


@pytest.fixture(scope="module", params=mostly_slow(MODELS, {"phi3", "dynamic"}))
def model(request: pytest.FixtureRequest) -> TransformersModel:
    return _model(request.param)


@pytest.fixture(scope="module")
def phi3() -> TransformersModel:
    return _model("phi3")


def _prompt(length: int) -> list[int]:
    return [(7 * place + 3) % 299 + 1 for place in range(length)]


def _generated(model: TransformersModel, prompt: Sequence[int], use_cache: bool) -> list[int]:
    config = GenerationConfig(
        max_new_tokens=40, do_sample=False, use_cache=use_cache, eos_token_id=0, pad_token_id=0
    )
    ids: torch.Tensor = model.hf_model.generate(torch.tensor([prompt]), generation_config=config)
    return ids[0, len(prompt) :].tolist()


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("length", [slow(20), slow(31), slow(32), 40])
def test_greedy_emits_what_a_fresh_generate_emits(
    request: pytest.FixtureRequest, model: TransformersModel, length: int, use_cache: bool
) -> None:
    name = request.node.callspec.params["model"]
    trace = collect(model, _prompt(length), Greedy(max_new_tokens=40, use_cache=use_cache))
    assert list(trace.token_ids) == _generated(_model(name), _prompt(length), use_cache)
    # On the model that ran, too: dynamic angles remember the longest sequence.
    assert list(trace.token_ids) == _generated(model, _prompt(length), use_cache)
    assert failed(trace, model) == set()


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize(
    "config",
    [
        Sampling(max_new_tokens=30, seed=3, draw="multinomial"),
        BeamSearch(max_new_tokens=20, num_beams=3, num_return_sequences=3),
        slow(ContrastiveSearch(max_new_tokens=16)),
    ],
    ids=lambda config: config.method,
)
def test_every_method_is_proved_across_the_switch(
    model: TransformersModel, config: Any, use_cache: bool
) -> None:
    trace = collect(model, _prompt(24), replace(config, use_cache=use_cache))
    assert len(trace.token_ids) > SWITCH - 24
    assert failed(trace, model) == set()


@pytest.mark.parametrize("use_cache", [True, False])
@pytest.mark.parametrize("scoring", ["multi_query", slow("batch_expansion")])
def test_speculation_that_rolls_back_across_the_switch_emits_what_greedy_emits(
    model: TransformersModel, scoring: str, use_cache: bool
) -> None:
    shared: dict[str, Any] = {"max_new_tokens": 24, "use_cache": use_cache}
    greedy = collect(model, _prompt(20), Greedy(**shared))
    config = Speculative(
        **shared,
        draft_length=5,
        scoring=scoring,
        shaping=replace(greedy.config.shaping, temperature=0),
    )
    draft = random_language_model("llama", seed=5)
    trace = collect(model, _prompt(20), config, draft=draft)
    assert trace.token_ids == greedy.token_ids
    assert failed(trace, model, draft) == set()


def test_a_prompt_read_in_pieces_gives_what_it_gives_at_once(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt, pieces = _prompt(40), list[torch.Tensor]()
    with torch.inference_mode():
        whole = model.hf_model(input_ids=torch.tensor([prompt])).logits[0]
    monkeypatch.setattr(transformers_model, "CHUNK_BYTES", 4 * 300 * 7)
    model.start(prompt, on_logits=lambda _, logits: pieces.append(logits))
    assert len(pieces) == 6
    torch.testing.assert_close(torch.cat(pieces), whole, rtol=0, atol=2e-5)


def test_a_short_run_is_the_same_after_a_long_one(model: TransformersModel) -> None:
    config = Greedy(max_new_tokens=12)
    first = collect(model, _prompt(30), config)
    collect(model, _prompt(60), config)
    assert collect(model, _prompt(30), config).token_ids == first.token_ids


@pytest.mark.parametrize("use_cache", [True, False])
def test_batches_are_runs_of_their_own(model: TransformersModel, use_cache: bool) -> None:
    sampling = Sampling(max_new_tokens=14, seed=4, use_cache=use_cache)
    steps = [*continue_in_batch(model, _prompt(26), sampling, [4, 9])]
    for row, seed in zip(rows_of(model, steps, [4, 9]), (4, 9), strict=False):
        alone = collect(model, _prompt(26), replace(sampling, seed=seed))
        assert [token.token_id for token in row.tokens] == list(alone.token_ids)
    config = Reasoning(
        think_start="", think_end="", max_answer_tokens=14, do_sample=False, use_cache=use_cache
    )
    prompts = [_prompt(length) for length in (24, 30, 36, 41)]
    finished = [
        run
        for runs in reason_in_batch(model, [BatchRun(ids, config) for ids in prompts])
        for run in runs
    ]
    assert len(finished) == len(prompts)
    for run in finished:
        assert run.token_ids == collect(model, prompts[run.at], config).token_ids


def test_a_reference_is_scored_as_if_it_were_written(model: TransformersModel) -> None:
    answer = "the fox had a hat, and the hat was blue"
    score = score_reference(model, _prompt(28), answer)
    context, ids = model.start(_prompt(28)), model.encode(answer)
    expected = 0.0
    for token in ids:
        expected += float(context.logits[0].log_softmax(-1)[token])
        context.extend([token])
    assert len(ids) > SWITCH - 28
    assert score.logprob == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_step_is_looked_into_with_the_numbers_of_the_run(
    model: TransformersModel, use_cache: bool
) -> None:
    prompt = _prompt(24)
    trace = collect(model, prompt, Greedy(max_new_tokens=16, use_cache=use_cache))
    index, ids = 12, [*prompt, *trace.token_ids[:12]]
    top = next(c for c in trace.token_steps[index].candidates if c.rank == 1)
    run: dict[str, Any] = {"prompt_length": len(prompt), "use_cache": use_cache}
    assert float(logits_at(model, trace, index).max()) == pytest.approx(top.logit, abs=1e-4)
    _, logits = watch_forward(model, ids[:-1], ids[-1:], **run)
    assert float(logits.max()) == pytest.approx(top.logit, abs=1e-4)
    lens = logit_lens(model, ids, **run)
    assert lens.positions[-1].cells[-1].prob == pytest.approx(top.raw_prob, abs=1e-5)
    assert len(attention(model, ids, len(ids) - 1, **run).weights) == 2


def test_a_run_says_at_which_token_its_cache_was_computed_anew(phi3: TransformersModel) -> None:
    def noted(length: int, tokens: int, **fields: Any) -> list[str]:
        trace = collect(phi3, _prompt(length), Greedy(max_new_tokens=tokens, **fields))
        return [note.words for note in trace.notes if note.key == RECOMPUTED]

    # 20 tokens and 13 generated ones are the first 33, and the next token is the 14th.
    assert ["before token 14:" in note for note in noted(20, 14)] == [True]
    assert noted(20, 13) == noted(20, 20, use_cache=False) == noted(SWITCH + 1, 5) == []
    assert len(noted(SWITCH, 5)) == 1


def test_a_failed_forward_at_the_switch_leaves_the_context_as_it_was(
    phi3: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, untouched = phi3.start(_prompt(32)), phi3.start(_prompt(32))
    with monkeypatch.context() as broken:
        broken.setattr(phi3.hf_model, "forward", _raise)
        with pytest.raises(MemoryError):
            context.extend([5])
    assert context.length == SWITCH
    torch.testing.assert_close(context.extend([7]), untouched.extend([7]))


def _raise(*_: Any, **__: Any) -> Iterator[None]:
    raise MemoryError


def test_a_run_goes_as_far_as_the_scaled_window() -> None:
    rope = {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0}
    model = random_language_model("llama", max_position_embeddings=SWITCH, rope_parameters=rope)
    trace = collect(model, _prompt(40), Greedy(max_new_tokens=100))
    assert len(trace.token_ids) == 128 - 40
    assert trace.finish_reason == "length"
    assert failed(trace, model) == set()
