"""A given text as a trace: transformers' own numbers, perplexity by arithmetic, hard texts."""

from __future__ import annotations

import math

import pytest
import torch

from core import ConfigError, PromptError, check, load_model, read_trace
from core.decoding.reading.measure import diverging, pinned, pins_in
from core.decoding.reading.read import read_text
from core.decoding.reading.types import (
    most_word_tokens,
    recorded_pins,
    text_tokens,
    totals_of,
)
from core.decoding.reading.word import follow_word
from core.decoding.record.characters import joined_parts
from core.figures.base.labels import settings_caption
from core.models.scripted import END, ScriptedModel
from tests.decoding.beam.beams import ARCHITECTURES
from tests.models.builders import random_language_model

TEXT = "Once upon a time there was a <b>dragon</b> who liked 日本 and 😀."
CHAIN = {(): [0.0, 0.5, 0.25, 0.125, 0.125], (1,): [0.0, 0.1, 0.6, 0.2, 0.1]}
TOKENS = (END, "a", "b", "c", "d")


@pytest.fixture(scope="module")
def model():
    return load_model("embedded:target")


def _chain(script=None, **more):
    return ScriptedModel(script or CHAIN, tokens=TOKENS, **more)


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_surprisals_are_those_of_transformers_forward(kind: str) -> None:
    model = random_language_model(kind)
    ids = [5, 7, 11, 250, 3, 90, 90, 17, 41]
    trace = read_text(model, ids)
    with torch.no_grad():
        logits = model.hf_model(torch.tensor([ids])).logits[0].float().log_softmax(-1)
    for token in text_tokens(trace)[1:]:
        row = logits[token.place - 1]
        assert token.surprisal == pytest.approx(-float(row[token.token_id]), abs=2e-5)
        assert token.expected[0].token_id == int(row.argmax())
        assert token.entropy == pytest.approx(float(torch.special.entr(row.exp()).sum()), abs=2e-5)


def test_a_reading_is_an_ordinary_trace_that_the_model_proves(model, tmp_path) -> None:
    trace = read_text(model, TEXT)
    assert trace.prompt + trace.text == TEXT
    assert [*trace.prompt_ids, *trace.token_ids] == model.encode(TEXT)
    checks = check(trace, model)
    assert all(c.passed for c in checks) and any(c.name == "generate_tokens" for c in checks)
    trace.save(tmp_path / "read.json")
    assert read_trace(tmp_path / "read.json") == trace


def test_perplexity_and_bits_per_byte_follow_from_the_probabilities() -> None:
    totals = totals_of(text_tokens(read_text(_chain(), "abca")))
    # a after nothing has no prediction; b after a: 0.6; c after b: 0.125; a after c: 0.5.
    nats = -math.log(0.6 * 0.125 * 0.5)
    assert (totals.tokens, totals.bytes, totals.first) == (3, 3, 2)
    assert totals.nats == pytest.approx(nats)
    assert totals.perplexity == pytest.approx(math.exp(nats / 3))
    assert totals.bits_per_byte == pytest.approx(nats / math.log(2) / 3)


def test_bytes_are_counted_where_a_token_is_a_part_of_a_character(model) -> None:
    for text in ("a日b", "😀 and so", " é<E2>"):
        trace = read_text(model, text)
        first = len(model.token_bytes(trace.prompt_ids[0]))
        assert totals_of(text_tokens(trace)).bytes == len(text.encode()) - first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "The text is empty"),
        ("a", "The text is a single token"),
        ("abcabcabc", "The text has 9 tokens; this model reads at most 8 at once"),
        ([1, 9], "A given token is #9"),
        ([9, 1], "Token id 9 is outside"),
    ],
)
def test_a_text_that_can_t_be_read_is_refused_in_one_sentence(text, words) -> None:
    with pytest.raises((PromptError, ConfigError)) as refused:
        read_text(_chain(context_window=8), text)
    assert words in str(refused.value)


def test_a_text_as_long_as_the_window_is_read() -> None:
    trace = read_text(_chain(context_window=8), "abcabcab")
    assert len(trace.token_ids) == 7 and trace.finish_reason == "length"


def test_an_end_of_sequence_inside_the_text_belongs_to_the_prompt(model) -> None:
    ids = [*model.encode("Once upon a time"), 0, *model.encode("A cat sat"), 4]
    trace = read_text(model, ids)
    assert trace.prompt_ids[-1] == 0 and trace.finish_reason == "eos"
    tokens = text_tokens(trace)
    assert [token.token_id for token in tokens] == ids
    assert all(token.surprisal is not None for token in tokens[1:])
    assert all(c.passed for c in check(trace, model))


def test_stop_ends_a_reading_at_its_next_token(model) -> None:
    seen = list[object]()
    trace = read_text(model, TEXT, on_step=seen.append, should_stop=lambda: len(seen) > 3)
    assert trace.finish_reason == "cancelled" and len(trace.token_ids) == 3


def test_pinned_tokens_have_the_numbers_of_the_model_at_every_step(model) -> None:
    trace = read_text(model, "Once upon a time, there was a dog.")
    ids = pins_in(model, ["#4", " was", " dog", ","])
    found = pinned(model, trace, ids)
    assert [pin.text for pin in found] == ["<|end|>", " was", " dog", ","]
    every = [*trace.prompt_ids, *trace.token_ids]
    with torch.no_grad():
        logits = model.hf_model(torch.tensor([every])).logits[0].log_softmax(-1)
    for pin in found:
        for at, (logprob, rank) in enumerate(zip(pin.logprobs, pin.ranks, strict=True)):
            row = logits[len(trace.prompt_ids) - 1 + at]
            assert logprob == pytest.approx(float(row[pin.token_id]), abs=5e-5)
            assert rank == 1 + int((row > row[pin.token_id]).sum())


def test_a_stop_ends_the_forward_of_pinned_tokens(model) -> None:
    trace = read_text(model, TEXT)
    asked = list[int]()
    assert pinned(model, trace, [4], should_stop=lambda: not asked.append(1)) == ()
    assert len(asked) == 1
    assert pinned(model, trace, [4], should_stop=lambda: False) == pinned(model, trace, [4])


def test_a_file_s_pins_are_known_at_its_candidates_and_bounded_elsewhere(model) -> None:
    trace = read_text(model, "Once upon a time, there was a dog.")
    exact = pinned(model, trace, [267, 4])
    for pin, full in zip(recorded_pins(trace, [267, 4]), exact, strict=True):
        for logprob, bound, own in zip(pin.logprobs, pin.bounds, full.logprobs, strict=True):
            assert own is not None and (logprob is None) != (bound is None)
            if logprob is not None:
                assert logprob == pytest.approx(own, abs=1e-4)
            assert bound is None or own <= bound + 1e-4


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a", "b", "c", "d", "#0", "ab"], "list of pinned tokens takes single tokens"),
        (["#0", "#1", "#2", "#3", "#4", "#5"], "At most 5 tokens"),
        (["#5"], "A pinned token is #5"),
        (["ab"], "'ab'"),
    ],
)
def test_pins_that_are_no_tokens_are_refused(texts, words) -> None:
    with pytest.raises(ConfigError, match=words):
        pins_in(_chain(), texts)


def test_a_word_has_the_product_of_its_tokens_summed_over_its_spellings() -> None:
    # "b d" follows as " b" + " d", or as "b" + " d"; a row is the same after any token but two.
    tokens = (END, "a", " b", "b", " d")
    script = {
        (): [0.0, 0.5, 0.2, 0.1, 0.2],
        (2,): [0.0, 0.2, 0.2, 0.2, 0.4],
        (3,): [0.0, 0.1, 0.1, 0.2, 0.6],
    }
    model = ScriptedModel(script, tokens=tokens)
    trace = read_text(model, "a b da")
    found = follow_word(model, trace, "b d")
    assert found is not None
    assert [spelling.token_ids for spelling in found.spellings] == [(2, 4), (3, 4)]
    assert [spelling.spaced for spelling in found.spellings] == [True, False]
    # Before " b" (after a), before " d" (after " b"), before "a" (after " d").
    expected = [0.2 * 0.4 + 0.1 * 0.6, 0.2 * 0.4 + 0.2 * 0.6, 0.2 * 0.4 + 0.1 * 0.6]
    assert found.probs == pytest.approx(expected)
    assert found.places_in(trace.token_ids) == (0,)


@pytest.mark.parametrize("word", ["dog", "dragonfly", "日本"])
def test_a_word_s_probability_is_that_of_whole_forwards_of_the_text_with_it(model, word) -> None:
    trace = read_text(model, "Once upon a time, there was a dog.")
    found = follow_word(model, trace, word)
    ids = [*trace.prompt_ids, *trace.token_ids]
    assert found is not None and len(found.probs) == len(trace.token_ids)
    for at, prob in enumerate(found.probs):
        before, total = ids[: len(trace.prompt_ids) + at], 0.0
        for spelling in found.spellings:
            whole = torch.tensor([[*before, *spelling.token_ids]])
            with torch.no_grad():
                rows = model.hf_model(whole).logits[0, len(before) - 1 : -1].log_softmax(-1)
            picked = (float(r[i]) for r, i in zip(rows, spelling.token_ids, strict=True))
            total += math.exp(sum(picked))
        assert prob == pytest.approx(total, rel=1e-4, abs=1e-9)


def test_a_word_of_one_token_has_the_numbers_of_pins(model) -> None:
    trace = read_text(model, TEXT)
    found = follow_word(model, trace, "was")
    assert found is not None
    for spelling in found.spellings:
        if len(spelling.token_ids) == 1:
            (pin,) = pinned(model, trace, spelling.token_ids)
            assert spelling.logprobs == pytest.approx(pin.logprobs, abs=1e-12)
    assert any(len(spelling.token_ids) == 1 for spelling in found.spellings)


def test_a_word_without_room_in_the_window_has_no_probability_there() -> None:
    trace = read_text(_chain(context_window=8), "abcabcab")
    found = follow_word(_chain(context_window=8), trace, "abc")
    assert found is not None and found.spellings[0].spaced is False
    assert [prob is None for prob in found.probs] == [False] * 6 + [True]
    assert found.places_in(trace.token_ids) == (2,)
    assert most_word_tokens(trace, "abc") >= 7 * 2


def test_a_stop_ends_a_word_s_forwards(model) -> None:
    trace, asked = read_text(model, TEXT), list[int]()
    assert follow_word(model, trace, "no such", should_stop=lambda: not asked.append(1)) is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("word", "words"),
    [(" ", "The word is empty"), ("abcdabcda", "has 9 tokens; give one of at most 8")],
)
def test_a_word_that_can_t_be_followed_is_refused(word, words) -> None:
    with pytest.raises(ConfigError, match=words):
        follow_word(_chain(), read_text(_chain(), "abc"), word)


def test_divergence_is_the_sum_over_the_vocabulary() -> None:
    other = {(): [0.0, 0.25, 0.5, 0.125, 0.125], (1,): [0.0, 0.1, 0.5, 0.3, 0.1]}
    found = diverging(_chain(), _chain(other), "abc", names=("one", "other"))
    pairs = ((CHAIN[(1,)], other[(1,)]), (CHAIN[()], other[()]))
    for token, (p, q) in zip(found.tokens, pairs, strict=True):
        kl = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)
        assert token.kl == pytest.approx(kl, abs=1e-6)
        half = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
        assert token.total_variation == pytest.approx(half, abs=1e-6)
    assert [token.favourites for token in found.tokens] == [(2, 2), (1, 2)]
    assert found.flipped == 1 and found.names == ("one", "other")


def test_a_model_diverges_from_itself_by_nothing_and_from_bfloat16_by_little(model) -> None:
    same = diverging(model, model, TEXT)
    assert same.mean_kl == 0 and same.flipped == 0
    coarse = diverging(model, load_model("embedded:target", dtype="bfloat16"), TEXT)
    assert 0 < coarse.mean_kl < 0.05
    assert coarse.names == ("embedded:target (float32)", "embedded:target (bfloat16)")


def test_models_of_other_tokens_are_not_compared() -> None:
    other = ScriptedModel(CHAIN, tokens=(END, "a", "b", "c", "e"))
    with pytest.raises(ConfigError, match="token 4"):
        diverging(_chain(), other, "abc")


def test_a_text_that_begins_with_parts_of_a_character_is_captioned_as_a_reading(model) -> None:
    trace = read_text(model, "昔々、あるところに")
    assert len(trace.prompt_ids) > 1
    assert settings_caption(trace) == "embedded:target · reading"


def test_parts_of_a_whole_character_are_joined() -> None:
    texts = ["a", "<E6>", "<98><94>", " b", "<EC>"]
    assert joined_parts(texts) == ["a", "昔", " b", "<EC>"]
    assert joined_parts(["<E6>", "<98><94>", "<EC>", "<94>"]) == ["昔<EC><94>"]
