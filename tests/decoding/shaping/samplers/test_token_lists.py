"""Bad words, suppressed tokens and the decay of length against transformers' classes and
`generate`.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
import torch
from transformers.generation import logits_process as hf

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    collect,
    read_trace,
)
from core.decoding.loop.text import tokens_of_text
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.shaping.functions import penalties
from core.decoding.shaping.settings.tokens import (
    MAX_TOKENS,
    breaker_lines,
    breakers_text,
    sequence_lines,
    sequences_in,
    sequences_text,
    token_lines,
    tokens_in,
    tokens_text,
)
from core.decoding.shaping.stage import StepContext
from core.figures.base.labels import settings_caption
from tests.decoding.beam.beams import ARCHITECTURES
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import with_shaping
from tests.decoding.shaping.against_generate import assert_equal_to_generate
from tests.depth import cases, mostly_slow
from tests.models.builders import random_language_model

ROW = torch.tensor([3.0, -2.0, 0.5, -torch.inf, 7.0, -7.0, 0.0])
IDS = [3, 1, 4, 1, 5]
LENGTHS = [1, 2, 3, 7, 60]


@cache
def _model(kind: str = "llama"):
    return random_language_model(kind)


def _context(ids: list[int], generated: int = 0) -> StepContext:
    return StepContext(ids=ids, prompt_length=len(ids) - generated, eos_ids=[0, 3])


@pytest.mark.parametrize(
    "sequences",
    [((4,),), ((0,), (1, 5, 2)), ((5, 2), (4, 2), (1, 5)), ((3, 1, 4, 1, 5, 6), (9, 3, 1, 2))],
)
@pytest.mark.parametrize("ids", [IDS, [1], [4, 1]])
def test_bad_words_equal_transformers(sequences, ids: list[int]) -> None:
    theirs = hf.NoBadWordsLogitsProcessor([list(s) for s in sequences if max(s) < 7], [0, 3])
    known = tuple(s for s in sequences if max(s) < 7)
    expected = theirs(torch.tensor([ids]), ROW[None].clone())[0]
    assert torch.equal(penalties.bad_words(ROW, known, _context(ids)), expected)


@pytest.mark.parametrize("factor", [0.5, 0.99, 1.01, 1.6])
@pytest.mark.parametrize("start", [0, 2, 50])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_decay_of_length_equals_transformers(length: int, start: int, factor: float) -> None:
    ids = [*IDS, *[2] * length]
    theirs = hf.ExponentialDecayLengthPenalty((start, factor), [0, 3], len(IDS))
    expected = theirs(torch.tensor([ids]), ROW[None].clone())[0]
    ours = penalties.length_decay(ROW, (factor, start), _context(ids, length))
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)


def test_a_decay_of_any_length_stays_a_number() -> None:
    ours = penalties.length_decay(ROW, (10.0, 0), _context([1] * 100_000, 99_999))
    assert ours[0] > 1e25 and torch.isfinite(ours).sum() == 6


def test_suppressed_tokens_equal_transformers() -> None:
    for tokens in ((1,), (0, 4), (2, 5, 6)):
        row = ROW[None].clone()
        expected = hf.SuppressTokensLogitsProcessor(tokens)(torch.tensor([IDS]), row)[0]
        assert torch.equal(penalties.suppress_tokens(ROW, tokens, _context(IDS)), expected)
        for generated in (0, 1):
            theirs = hf.SuppressTokensAtBeginLogitsProcessor(tokens, len(IDS) - generated)
            expected = theirs(torch.tensor([IDS]), row)[0]
            ours = penalties.begin_suppress_tokens(ROW, tokens, _context(IDS, generated))
            assert torch.equal(ours, expected)


def test_a_token_beyond_the_row_removes_nothing() -> None:
    assert torch.equal(penalties.suppress_tokens(ROW, (7, 10**6), _context(IDS)), ROW)
    assert torch.equal(penalties.bad_words(ROW, ((9,),), _context(IDS)), ROW)


def _random(dice: random.Random) -> Shaping:
    def tokens(most: int) -> list[int]:
        return [dice.randrange(300) for _ in range(dice.randint(0, most))]

    return Shaping(
        bad_words=[[dice.randrange(300) for _ in range(dice.randint(1, 3))] for _ in range(40)],
        suppress_tokens=tokens(60),
        begin_suppress_tokens=tokens(60),
        length_decay=dice.choice([1.0, 1.1, 1.4, 0.8]),
        length_decay_start=dice.randint(0, 6),
        no_repeat_ngram_size=dice.choice([0, 2]),
        temperature=0.9,
    )


@pytest.mark.parametrize("case", range(cases(10, 3)))
@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES, ("llama", "gpt2")))
def test_runs_equal_those_of_generate(kind: str, case: int) -> None:
    dice = random.Random(f"tokens {kind} {case}")
    shared = {"min_new_tokens": dice.choice([0, 3]), "shaping": _random(dice)}
    assert_equal_to_generate(_model(kind), dice, case, max_new_tokens=10, **shared)


CONFIGS = (
    Greedy(max_new_tokens=8),
    Sampling(max_new_tokens=8, seed=3),
    BeamSearch(num_beams=3, max_new_tokens=8),
    Speculative(max_new_tokens=8),
    Reasoning(max_new_tokens=8, think_start="<", think_end=">"),
)
OF_THE_LETTERS = Shaping(
    bad_words=[[101], [32, 116]], suppress_tokens=[97], begin_suppress_tokens=[104],
    length_decay=1.3, length_decay_start=2,
)  # fmt: skip


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_they_act_and_are_proved_in_every_method(config) -> None:
    draft = _model() if isinstance(config, Speculative) else None
    trace = collect(_model(), "the fox", replace(config, shaping=OF_THE_LETTERS), draft=draft)
    assert _failed(trace, _model(), draft) == set()
    assert not {97, 101} & {*trace.token_ids} and trace.token_ids[0] != 104


@pytest.mark.parametrize("config", CONFIGS[:2], ids=lambda config: config.method)
@pytest.mark.parametrize("name", ["bad_words", "suppress_tokens", "begin_suppress_tokens"])
def test_another_list_is_found(name: str, config) -> None:
    honest = collect(_model(), "the fox", replace(config, shaping=OF_THE_LETTERS))
    shown = honest.token_steps[0].candidates[0].token_id
    listed = [*getattr(OF_THE_LETTERS, name), [shown] if name == "bad_words" else shown]
    for wrong in (listed, ()):
        failed = _failed(with_shaping(honest, **{name: wrong}), _model())
        assert failed & {"stages_again", "stages_of_settings"}, wrong


def test_values_are_sorted_and_written_and_read_again(tmp_path) -> None:
    shaping = Shaping(bad_words=[[5, 1], [2], [5, 1]], suppress_tokens=[9, 2, 9])
    assert shaping.bad_words == ((2,), (5, 1)) and shaping.suppress_tokens == (2, 9)
    config = Greedy(max_new_tokens=3, shaping=shaping)
    assert config_from_dict(config_to_dict(config)) == config
    trace = collect(_model(), "the fox had", config)
    trace.save(tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").config == config
    caption = settings_caption(trace)
    assert "bad words #2, #5 #1" in caption and "suppress tokens #2, #9" in caption


@pytest.mark.parametrize(
    "wrong", [5, "5", [True], [-1], [2.5], ["5"], [[5]], range(MAX_TOKENS + 1), None]
)
@pytest.mark.parametrize("name", ["suppress_tokens", "begin_suppress_tokens"])
def test_what_is_no_list_of_tokens_gets_one_sentence(name: str, wrong) -> None:
    with pytest.raises(ConfigError, match=rf"^Shaping\.{name}[^\n]*\.$"):
        Shaping(**{name: wrong})


@pytest.mark.parametrize("wrong", [5, "5", [5], [[]], [[True]], [[-1]], [["5"]], [[1] * 51], None,
                                   [[at] for at in range(MAX_TOKENS + 1)]])  # fmt: skip
def test_what_is_no_list_of_sequences_gets_one_sentence(wrong) -> None:
    with pytest.raises(ConfigError, match=r"^Shaping\.bad_words[^\n]*\.$"):
        Shaping(bad_words=wrong)


def test_lines_and_options_are_read_and_written() -> None:
    assert token_lines(" the\n#5\n\n\\n", len) == [4, 5, 1]
    assert sequence_lines("#5 #7\nab\n# x\n\\n", lambda text: [*map(ord, text)]) == [
        (5, 7), (97, 98), (35, 32, 120), (10,)]  # fmt: skip
    assert breaker_lines("\\n\n:\n\\\\n\n \n", len) == ["\n", ":", "\\n", " "]
    texts = ("\n", "a\\n", "\t")
    assert breaker_lines(breakers_text(texts), len) == [*texts]
    assert token_lines(tokens_text([4, 7]), len) == [4, 7]
    assert sequence_lines(sequences_text([(4, 7), (1,)]), len) == [(4, 7), (1,)]
    assert tokens_in("5, 7") == [5, 7] and sequences_in("5.7, 2") == [[5, 7], [2]]
    for read, name in ((tokens_in, "suppress_tokens"), (sequences_in, "bad_words")):
        for text in ("", "x", "1,,2", "1..5", "-2", "1 2"):
            with pytest.raises(ConfigError):
                Shaping(**{name: read(text)})


def test_an_unknown_token_is_refused_before_the_run_and_in_a_file() -> None:
    size = _model().vocab_size
    for wrong in ({"bad_words": [[1, size]]}, {"suppress_tokens": [size]}):
        with pytest.raises(ConfigError, match=f"names token #{size}, and this model's tokens go"):
            collect(_model(), "a", Greedy(max_new_tokens=3, shaping=Shaping(**wrong)))
        trace = collect(_model(), "a", Greedy(max_new_tokens=3))
        assert "fits_model" in _failed(with_shaping(trace, **wrong), _model())


def test_a_text_is_its_tokens_or_is_refused() -> None:
    model = _model()
    ids = tokens_of_text(model, " fox", "bad words")
    assert b"".join(map(model.token_bytes, ids)) == b" fox"
    with pytest.raises(ConfigError, match="can't spell"):
        tokens_of_text(model, "", "bad words")
