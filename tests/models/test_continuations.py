"""Texts that follow other texts, in tokenizers that begin every prompt with a space."""

from __future__ import annotations

import json

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from core.decoding.check import check
from core.decoding.decode import collect
from core.decoding.loop.text import encode_continuation, join_text
from core.decoding.reasoning.config import Reasoning
from core.evaluation.scoring.reference import score_reference
from core.models.transformers_model import TransformersModel
from tests.models.builders import TINY_TEXT, random_model

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
TEXTS = ("<think>", "</think>", " Wait,", "Wait,", "\nFinal answer:", "1817517</result>", "12", "é")


def trained(pieces: list[str], normalizer: object, before: object, after: object) -> Tokenizer:
    backend = Tokenizer(models.BPE(byte_fallback=True))
    backend.normalizer, backend.pre_tokenizer, backend.decoder = normalizer, before, after
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "</s>", *pieces], show_progress=False
    )
    backend.train_from_iterator([TINY_TEXT, "<think> so 12 </think> Wait, "], trainer)
    state = json.loads(backend.to_str())
    state["added_tokens"] = state["added_tokens"][:2]  # The pieces are no special tokens.
    return Tokenizer.from_str(json.dumps(state))


def backend_named(name: str) -> Tokenizer:
    spaces = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    if name == "sentencepiece":
        steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        after = decoders.Sequence([*spaces, decoders.Strip(" ", 1, 0)])
        return trained(BYTES, normalizers.Sequence(steps), None, after)
    if name == "byte level":
        before = pre_tokenizers.ByteLevel(add_prefix_space=True)
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        return trained(alphabet, None, before, decoders.ByteLevel())
    before = pre_tokenizers.Metaspace(prepend_scheme=name, split=name == "always")
    after = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=name)])
    return trained(BYTES, None, before, after)


@pytest.fixture(params=["sentencepiece", "first", "always", "byte level"])
def model(request: pytest.FixtureRequest) -> TransformersModel:
    backend = backend_named(request.param)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    made = random_model("llama", len(tokenizer), eos_token_id=1)
    return TransformersModel(made, tokenizer, model_id=request.param)


@pytest.mark.parametrize("text", TEXTS)
def test_a_continuation_is_spelled_as_it_is(model: TransformersModel, text: str) -> None:
    assert join_text(model, encode_continuation(model, text)) == text


def test_forced_marks_are_those_of_the_settings(model: TransformersModel) -> None:
    config = Reasoning(max_thinking_tokens=4, max_answer_tokens=4, ignore_end=1)
    trace = collect(model, "the fox had a hat", config)
    assert trace.text.startswith("<think>") and "</think>" in trace.text
    assert [outcome.name for outcome in check(trace, model) if not outcome.passed] == []


@pytest.mark.parametrize(("prompt", "moved"), [("the fox had", ""), ("the fox \n", " \n")])
def test_a_reference_is_scored_as_lm_eval_does(
    model: TransformersModel, prompt: str, moved: str
) -> None:
    answer = "12 hats"
    context, whole = model.encode(prompt.rstrip()), model.encode(prompt + answer)
    with torch.no_grad():
        logits = model.hf_model(torch.tensor([whole])).logits[0].double().log_softmax(-1)
    expected = sum(float(logits[at - 1, whole[at]]) for at in range(len(context), len(whole)))
    scored = score_reference(model, prompt, answer)
    assert scored is not None and scored.tokens == len(whole) - len(context)
    assert scored.logprob == pytest.approx(expected, abs=1e-4)
    assert join_text(model, whole[len(context) :]) == moved + answer
