"""Cached contexts, rolled back, branched or neither, give what a fresh uncached forward gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.decoding.errors import PromptError
from core.decoding.protocol import HiddenContext, offers
from core.models.transformers_model import TransformersModel
from tests.depth import cases, mostly_slow
from tests.models.builders import KINDS, OFTEN, SLIDING_WINDOW, random_language_model

IDS = [(7 * place + 3) % 299 + 1 for place in range(3 * SLIDING_WINDOW)]


@pytest.fixture(scope="module", params=mostly_slow(KINDS, OFTEN))
def model(request: pytest.FixtureRequest) -> TransformersModel:
    return random_language_model(request.param)


@pytest.fixture(scope="module")
def llama() -> TransformersModel:
    return random_language_model("llama")


def all_logits(model: TransformersModel, ids: Sequence[int]) -> torch.Tensor:
    """`[n, vocab]`, straight from transformers, without any cache or context."""
    with torch.inference_mode():
        logits: torch.Tensor = model.hf_model(input_ids=torch.tensor([ids])).logits
    return logits[0]


def assert_close(logits: torch.Tensor, expected: torch.Tensor) -> None:
    scale = expected.abs().max().item()
    torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5 * scale)


def test_token_by_token_equals_one_forward_past_the_sliding_window(
    model: TransformersModel,
) -> None:
    context = model.start(IDS[:3])
    assert model.supports_cache
    rows = [context.logits[0]] + [context.extend([token])[0, 0] for token in IDS[3:]]
    assert_close(torch.stack(rows), all_logits(model, IDS)[2:])


def test_a_context_without_cache_equals_one_forward(model: TransformersModel) -> None:
    context = model.start(IDS[:10], use_cache=False)
    logits = context.extend(IDS[10:])
    assert_close(logits[0], all_logits(model, IDS)[10:])
    assert_close(context.logits[0], all_logits(model, IDS)[-1])


def test_rollback_then_extend_equals_a_fresh_context(model: TransformersModel) -> None:
    context = model.start(IDS[:12])
    context.extend([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
    context.rollback(11)
    assert context.length == 12
    assert_close(context.extend(IDS[12:])[0], all_logits(model, IDS)[12:])


def test_a_rollback_of_one_token_is_bitwise_without_trace(model: TransformersModel) -> None:
    context, fresh = model.start(IDS[:12]), model.start(IDS[:12])
    context.extend([250])
    context.rollback(1)
    assert torch.equal(context.extend([IDS[12]]), fresh.extend([IDS[12]]))


def test_a_branch_equals_separate_contexts_and_leaves_its_origin(model: TransformersModel) -> None:
    origin = model.start(IDS[:12])
    context = origin.branch([0, 0, 0])
    context.extend([[1], [2], [3]])
    context = context.branch([2, 0, 2])
    logits = context.extend([[4, 5], [4, 5], [6, 7]])
    for row, ids in enumerate(([3, 4, 5], [1, 4, 5], [3, 6, 7])):
        assert_close(logits[row], all_logits(model, IDS[:12] + ids)[-2:])
        assert_close(context.logits[row], logits[row, -1])
    assert (origin.rows, origin.length) == (1, 12)
    assert_close(origin.extend(IDS[12:])[0], all_logits(model, IDS)[12:])


def test_reordered_rows_equal_separate_contexts(model: TransformersModel) -> None:
    context = model.start(IDS[:12]).branch([0, 0, 0])
    context.extend([[1], [2], [3]])
    context.extend([[7], [8], [9]])
    context.reorder([0, 1, 2])
    context.reorder([1, 0, 0])
    context.extend([[10], [11], [12]])
    context.rollback(1)
    context.reorder([2, 0])
    assert (context.rows, context.length) == (2, 14)
    logits = context.extend([[4], [5]])
    for row, ids in enumerate(([1, 7, 4], [2, 8, 5])):
        assert_close(logits[row], all_logits(model, IDS[:12] + ids)[-1:])


@pytest.mark.parametrize("kind", mostly_slow(KINDS, OFTEN))
def test_extend_equals_generates_own_cache_bit_for_bit_unless_fused(kind: str) -> None:
    from transformers import DynamicCache

    model = random_language_model(kind, fuse_single_tokens=False)
    context, cache, ids = model.start(IDS[:4]), DynamicCache(), IDS[:4]
    for token in [*IDS[4:], None]:
        with torch.inference_mode():
            output = model.hf_model(
                input_ids=torch.tensor([ids]),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        assert torch.equal(context.logits, output.logits[:, -1])
        if token is not None:
            context.extend([token])
            ids = [token]


@settings(max_examples=cases(30, 15), deadline=None)
@given(data=st.data())
def test_any_sequence_of_verbs_equals_one_forward(
    llama: TransformersModel, data: st.DataObject
) -> None:
    token = st.integers(0, llama.vocab_size - 1)
    use_cache = data.draw(st.booleans())
    rows = [data.draw(st.lists(token, min_size=1, max_size=4))]
    context = llama.start(rows[0], use_cache=use_cache)
    for _ in range(data.draw(st.integers(1, 5))):
        verb = data.draw(st.sampled_from(["extend", "rollback", "branch", "reorder"]))
        if verb == "extend":
            n = data.draw(st.integers(1, 3))
            new = [data.draw(st.lists(token, min_size=n, max_size=n)) for _ in rows]
            context.extend(new)
            rows = [row + more for row, more in zip(rows, new, strict=True)]
        elif verb == "rollback":
            n = data.draw(st.integers(0, len(rows[0])))
            context.rollback(n)
            rows = [row[: len(row) - n] for row in rows]
        else:
            chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=3))
            if verb == "branch":
                context = context.branch(chosen)
            else:
                context.reorder(chosen)
            rows = [rows[row] for row in chosen]
        assert (context.rows, context.length) == (len(rows), len(rows[0]))
    logits = context.extend([[3]] * len(rows))
    for row, ids in enumerate(rows):
        assert_close(logits[row, -1], all_logits(llama, [*ids, 3])[-1])


@pytest.mark.parametrize("use_cache", [True, False])
def test_logits_are_gone_after_a_rollback_or_a_reorder_until_the_next_extend(
    llama: TransformersModel, use_cache: bool
) -> None:
    context = llama.start([1, 2, 3], use_cache=use_cache)
    before = context.logits
    context.rollback(0)
    assert context.logits is before
    context.rollback(2)
    with pytest.raises(RuntimeError, match="rolled back"):
        _ = context.logits
    context.extend([2, 3])
    assert_close(context.logits, before)
    context.reorder([0, 0])
    with pytest.raises(RuntimeError, match="extend it to have logits again"):
        _ = context.logits
    with pytest.raises(ValueError, match="can't branch into rows"):
        context.reorder([2])


@pytest.mark.parametrize("use_cache", [True, False])
def test_wrong_ids_are_refused_and_leave_the_context_as_it_was(
    llama: TransformersModel, use_cache: bool
) -> None:
    context = llama.start([1, 2, 3], use_cache=use_cache)
    with pytest.raises(PromptError, match=r"lie in \[0, 299\], got 300"):
        context.extend([5, 300])
    with pytest.raises(PromptError, match="got -1"):
        context.extend([-1])
    with pytest.raises(PromptError, match="at least one token"):
        context.extend([])
    with pytest.raises(ValueError, match="1 rows"):
        context.extend([[1], [2]])
    with pytest.raises(ValueError, match="holds 3 tokens"):
        context.rollback(4)
    with pytest.raises(ValueError, match="can't branch"):
        context.branch([1])
    with pytest.raises(ValueError, match="can't branch"):
        context.branch([])
    assert_close(context.extend([4])[0], all_logits(llama, [1, 2, 3, 4])[-1:])


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_failed_forward_leaves_the_cache_as_it_was(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = random_language_model(kind)
    context = model.start([1, 2, 3])

    def fail(*_: object, **__: object) -> None:
        raise TypeError("out of memory")

    with monkeypatch.context() as patch:
        # Both ways fail at their last product, when the cache has grown.
        patch.setattr(model.hf_model.lm_head, "forward", fail)
        if model._fused is not None:
            patch.setattr(model._fused.body, "logits", fail)
        with pytest.raises(TypeError):
            context.extend([9, 9])
    assert context.length == 3
    assert_close(context.extend([4])[0], all_logits(model, [1, 2, 3, 4])[-1:])


@pytest.mark.parametrize("use_cache", [True, False])
def test_a_full_window_is_a_prompt_error(use_cache: bool) -> None:
    model = random_language_model("gpt2", max_position_embeddings=8)
    assert model.context_window == 8
    context = model.start([1] * 6, use_cache=use_cache)
    context.extend([2, 3])
    with pytest.raises(PromptError, match="window holds 8 tokens, 9 were asked for"):
        context.extend([4])
    with pytest.raises(PromptError, match="shorten the prompt"):
        model.start([1] * 9)
    context.rollback(1)
    context.extend([4])


@pytest.mark.parametrize("use_cache", [True, False])
def test_hidden_states_are_those_of_one_forward_over_everything(
    model: TransformersModel, use_cache: bool
) -> None:
    with torch.inference_mode():
        output = model.hf_model(input_ids=torch.tensor([IDS[:12]]), output_hidden_states=True)
    context = model.start(IDS[:5], use_cache=use_cache)
    assert offers(context, HiddenContext)
    several = context.extend_hidden(IDS[5:10])
    single = [context.extend_hidden([token]) for token in IDS[10:12]]
    assert_close(torch.cat([several, *single], dim=1)[0], output.hidden_states[-1][0, 5:])
    assert_close(context.logits[0], output.logits[0, -1])
    assert context.length == 12
