"""Traces of runs of transformers' own `generate` equal the engine's traces of the same runs."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
import torch
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from core import (
    BeamSearch,
    Greedy,
    RecordGenerate,
    Sampling,
    Shaping,
    Trace,
    check,
    collect,
    from_generate,
    from_transformers,
    read_trace,
)
from core.decoding.checks.same_record import difference
from core.decoding.errors import TraceError
from core.decoding.record.notes import DRAWS_UNKNOWN, FROM_GENERATE
from core.decoding.shaping.config import SETTINGS
from core.decoding.unchecked import unchecked
from core.models.generated.settings import config_of
from core.models.running.reference import _arguments
from core.models.transformers_model import TransformersModel
from tests.decoding.shaping.shapings import random_shaping
from tests.models.builders import random_model, tiny_tokenizer

LOGITS = {"return_dict_in_generate": True, "output_logits": True, "output_scores": True}
PROMPT = "Once upon a time"


@cache
def _model(kind: str = "llama") -> TransformersModel:
    return from_transformers(random_model(kind), tiny_tokenizer(), model_id=kind)


def _inputs(text: str = PROMPT) -> Any:
    ids = torch.tensor([_model().encode(text)])
    return {"inputs": ids, "attention_mask": torch.ones_like(ids)}


def _recorded(kind: str, seed: int | None = None, **settings: Any) -> Trace:
    recorder = RecordGenerate(tiny_tokenizer(), model_id=kind)
    if seed is not None:
        torch.manual_seed(seed)
    _model(kind).hf_model.generate(**_inputs(), custom_generate=recorder, **settings)
    return recorder.trace


def _assert_same(trace: Trace, own: Trace, model: TransformersModel) -> None:
    """Tokens, settings and texts are equal, and every number up to the forwards' rounding."""
    assert FROM_GENERATE in trace.notes
    for name in ("model_id", "prompt", "rendered_prompt", "prompt_ids", "token_ids", "text",
                 "finish_reason", "dtype", "config"):  # fmt: skip
        assert getattr(trace, name) == getattr(own, name), name
    assert [(h.token_ids, h.parents) for h in trace.hypotheses] == [
        (h.token_ids, h.parents) for h in own.hypotheses
    ]
    for step, other in zip(trace.steps, own.steps, strict=True):
        assert difference(step, [other], 1e-4) == ""
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


@pytest.mark.parametrize("kind", ["llama", "gpt2", "mistral", "gemma"])
def test_greedy_sampling_and_searches_equal_the_engine_s_traces(kind: str) -> None:
    model, shared = _model(kind), {"max_new_tokens": 12}
    shaping = Shaping(temperature=0.8, top_k=40, top_p=0.9, repetition_penalty=1.2)
    knobs = {"temperature": 0.8, "top_k": 40, "top_p": 0.9, "repetition_penalty": 1.2}
    greedy = _recorded(kind, do_sample=False, repetition_penalty=1.2, **shared)
    own = Greedy(shaping=Shaping(repetition_penalty=1.2), **shared)
    _assert_same(greedy, collect(model, PROMPT, own), model)
    drawn = _recorded(kind, 5, do_sample=True, **knobs, **shared)
    config: Any = Sampling(seed=5, draw="multinomial", shaping=shaping, **shared)
    _assert_same(drawn, collect(model, PROMPT, config), model)
    search = _recorded(kind, do_sample=False, num_beams=4, num_return_sequences=2, **shared)
    config = BeamSearch(num_beams=4, num_return_sequences=2, **shared)
    _assert_same(search, collect(model, PROMPT, config), model)
    drawn = _recorded(kind, 5, do_sample=True, num_beams=3, **knobs, **shared)
    config = BeamSearch(num_beams=3, do_sample=True, seed=5, shaping=shaping, **shared)
    _assert_same(drawn, collect(model, PROMPT, config), model)


@pytest.mark.parametrize("case", range(12))
def test_the_output_and_the_arguments_of_the_call_give_the_same_trace(case: int) -> None:
    dice, model = random.Random(case), _model()
    shaping = random_shaping(dice)
    settings: Any = {
        **(_arguments(shaping, SETTINGS) or {}),
        "max_new_tokens": 10,
        "min_new_tokens": dice.choice([None, 3]),
        "stop_strings": dice.choice([None, ["a"]]),
        "do_sample": True,
    }
    config = GenerationConfig(**settings)
    torch.manual_seed(case)
    output = model.hf_model.generate(**_inputs(), **settings, **LOGITS, tokenizer=model.tokenizer)
    trace = from_generate(model, model.tokenizer, output, config, seed=case)
    assert trace.config.shaping == shaping
    same = from_generate(model, model.tokenizer, output, settings, seed=case)
    assert (same.steps, same.config) == (trace.steps, trace.config)
    own = Sampling(
        seed=case,
        draw="multinomial",
        shaping=shaping,
        max_new_tokens=10,
        min_new_tokens=settings["min_new_tokens"] or 0,
        stop_strings=tuple(settings["stop_strings"] or ()),
    )
    _assert_same(trace, collect(model, PROMPT, own), model)
    assert trace.timings.total == 0 and trace.tokens_per_second == 0


def test_every_setting_of_generate_is_read_back() -> None:
    shaping = Shaping(
        suppress_tokens=(3, 4),
        begin_suppress_tokens=(5,),
        bad_words=((7, 8), (9,)),
        logit_bias=((11, 2.0), (12, -3.0)),
        length_decay=1.2,
        length_decay_start=3,
        watermark_bias=2.0,
        watermark_key=77,
        no_repeat_ngram_size=3,
        guidance_scale=1.5,
        temperature=0.5,
        top_h=0.4,
        min_p=0.1,
        typical_p=0.9,
        epsilon_cutoff=0.01,
        eta_cutoff=0.02,
    )
    for each in (
        shaping,
        Shaping(synthid_depth=2, synthid_keys=(654, 400)),
        Shaping(top_k=5, top_p=0.5),
    ):
        arguments = _arguments(each, SETTINGS)
        config = config_of(GenerationConfig(do_sample=True, max_length=9, **arguments), 4, 3)
        assert config == Sampling(max_new_tokens=5, seed=3, draw="multinomial", shaping=each)


def test_without_the_seed_the_draws_are_not_known_and_everything_else_is() -> None:
    model = _model()
    torch.manual_seed(3)
    torch.rand(1)
    trace = _recorded("llama", do_sample=True, top_k=20, max_new_tokens=8)
    assert DRAWS_UNKNOWN in trace.notes
    assert {step.draw.scores for step in trace.token_steps} == {None}
    outcomes = check(trace, model)
    assert [outcome for outcome in outcomes if not outcome.passed] == []
    assert "generate_tokens" not in {outcome.name for outcome in outcomes}
    assert any("seed" in one.fields for one in unchecked(trace, outcomes))
    assert read_trace(trace.to_json().encode()) == trace
    # The note is what excuses the missing numbers.
    data = trace.to_dict()
    data["notes"] = []
    with pytest.raises(TraceError, match="scores"):
        read_trace(json.dumps(data).encode())
    assert "tokens_of_draws" in {c.name for c in check(Trace.from_dict(data)) if not c.passed}


def test_rows_of_a_padded_batch_have_traces_of_their_own() -> None:
    model, texts = _model(), ("Once upon a time", "The fox")
    ids = [model.encode(text) for text in texts]
    longest = max(map(len, ids))
    padded = torch.tensor([[0] * (longest - len(row)) + row for row in ids])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in ids])
    shared = {"max_new_tokens": 9, "do_sample": False}
    for beams, own in (
        (1, Greedy(max_new_tokens=9)),
        (3, BeamSearch(num_beams=3, max_new_tokens=9)),
    ):
        recorder = RecordGenerate(model.tokenizer, model_id="llama")
        given = {"inputs": padded, "attention_mask": mask, "num_beams": beams, **shared}
        plain = model.hf_model.generate(**given)
        assert torch.equal(model.hf_model.generate(**given, custom_generate=recorder), plain)
        assert len(recorder.traces) == 2
        for text, trace in zip(texts, recorder.traces, strict=True):
            _assert_same(trace, collect(model, text, own), model)
    drawn = RecordGenerate(model.tokenizer)
    torch.manual_seed(1)
    model.hf_model.generate(
        inputs=padded, attention_mask=mask, do_sample=True, max_new_tokens=4, custom_generate=drawn
    )
    assert all(DRAWS_UNKNOWN in trace.notes for trace in drawn.traces)


def test_the_recorder_returns_what_generate_returns() -> None:
    hf = _model().hf_model
    for asked in ({}, {"return_dict_in_generate": True, "output_scores": True}):
        settings: Any = {"do_sample": True, "max_new_tokens": 6, **asked}
        torch.manual_seed(9)
        plain = hf.generate(**_inputs(), **settings)
        torch.manual_seed(9)
        recorder = RecordGenerate(tiny_tokenizer())
        again = hf.generate(**_inputs(), **settings, custom_generate=recorder)
        assert type(again) is type(plain)
        if asked:
            assert torch.equal(again.sequences, plain.sequences)
            assert again.logits is None and len(again.scores) == len(plain.scores)
        else:
            assert torch.equal(again, plain)
        assert recorder.trace.timings.total > 0


class _Ban(LogitsProcessor):  # type: ignore[misc]
    """A processor of one's own: it takes the most probable token away."""

    def __call__(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        return scores.scatter(1, scores.argmax(dim=-1, keepdim=True), -torch.inf)


class _Enough(StoppingCriteria):  # type: ignore[misc]
    """A stopping rule of one's own: three tokens."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        return torch.full((len(input_ids),), input_ids.shape[1] >= self._length)


def test_a_stop_that_no_setting_explains_cancels_the_run() -> None:
    model, length = _model(), len(_model().encode(PROMPT))
    stop = StoppingCriteriaList([_Enough(length + 3)])
    trace = _recorded("llama", do_sample=False, max_new_tokens=9, stopping_criteria=stop)
    assert (len(trace.token_ids), trace.finish_reason) == (3, "cancelled")
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


@pytest.mark.parametrize("do_sample", [False, True])
def test_a_processor_of_one_s_own_is_refused(do_sample: bool) -> None:
    processors = LogitsProcessorList([_Ban()])
    with pytest.raises(TraceError, match="logits processor of one's own"):
        _recorded("llama", 1, do_sample=do_sample, max_new_tokens=6, logits_processor=processors)
    with pytest.raises(TraceError, match="logits processor"):
        _recorded("llama", num_beams=3, max_new_tokens=6, logits_processor=processors)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"encoder_repetition_penalty": 1.5}, "encoder_repetition_penalty"),
        ({"renormalize_logits": True}, "renormalize_logits"),
        ({"forced_eos_token_id": 0}, "forced_eos_token_id"),
        ({"sequence_bias": [[[3, 4], 1.0]]}, "several tokens"),
        ({"eos_token_id": 7}, "end-of-sequence"),
        ({"num_beams": 2, "do_sample": True}, "seed isn't known"),
    ],
)
def test_what_a_trace_cannot_hold_is_refused_in_a_sentence(
    settings: dict[str, Any], words: str
) -> None:
    torch.rand(1)
    with pytest.raises(TraceError, match=words):
        _recorded("llama", max_new_tokens=5, **settings)


def test_wrong_arguments_are_refused_in_a_sentence() -> None:
    model, tokenizer = _model(), tiny_tokenizer()
    settings: Any = {"do_sample": True, "max_new_tokens": 8}
    torch.manual_seed(4)
    output = model.hf_model.generate(**_inputs(), **settings, **LOGITS)
    with pytest.raises(TraceError, match="they part at token"):
        from_generate(model, tokenizer, output, settings, seed=5)
    with pytest.raises(TraceError, match="they part at token"):
        from_generate(model, tokenizer, output, {**settings, "temperature": 0.7}, seed=4)
    with pytest.raises(TraceError, match="give the model"):
        from_generate(_model("mistral"), tokenizer, output, settings, seed=4)
    with pytest.raises(TraceError, match="row 1 is none"):
        from_generate(model, tokenizer, output, settings, row=1)
    with pytest.raises(TraceError, match="output_logits=True"):
        from_generate(model, tokenizer, output.sequences, settings)
    with pytest.raises(TraceError, match="Nothing is recorded"):
        _ = RecordGenerate(tokenizer).trace
    # Without the seed its temperature is still that of the scores.
    with pytest.raises(TraceError, match="they part at token 1"):
        from_generate(model, tokenizer, output, {**settings, "temperature": 0.7})
