"""A bias on single tokens: its value, its place in a run, and who finds a wrong one."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from functools import cache

import pytest
import torch

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    collect,
    read_trace,
)
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.shaping.functions.penalties import logit_bias
from core.decoding.shaping.stage import StepContext
from core.figures.base.labels import settings_caption
from tests.decoding.beam.beams import ARCHITECTURES
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import with_shaping
from tests.decoding.shaping.against_generate import assert_equal_to_generate
from tests.depth import cases, mostly_slow
from tests.models.builders import random_language_model

RESCORED = "tree_rescored"
STAGES = "stages_again"
FITS = "fits_model"
PROMPT = "the fox had"


@cache
def _model(kind: str = "llama"):
    return random_language_model(kind)


def test_a_mapping_becomes_pairs_by_rising_id_without_zeros() -> None:
    expected = ((2, 1.5), (7, -3.0))
    assert Shaping(logit_bias={7: -3, 5: 0, 2: 1.5}).logit_bias == expected
    assert Shaping(logit_bias=[[7, -3], [2, 1.5]]).logit_bias == expected
    assert hash(Shaping(logit_bias={7: -3})) == hash(Shaping(logit_bias=((7, -3.0),)))
    assert Shaping(logit_bias={5: 0}) == Shaping()


@pytest.mark.parametrize(
    "wrong",
    [5, "5=1", {5: 101}, {5: float("nan")}, {5: True}, {-1: 2}, {2.5: 2}, {"5": 2}, [5], ["ab"],
     [[5, 1], [5, 2]], [[5, 1, 2]], {True: 1}, dict.fromkeys(range(1001), 1)],
)  # fmt: skip
def test_what_is_no_bias_gets_one_sentence(wrong) -> None:
    with pytest.raises(ConfigError, match=r"^Shaping\.logit_bias[^\n]*\.$"):
        Shaping(logit_bias=wrong)


def test_a_file_holds_pairs_and_the_caption_says_some_of_them(tmp_path) -> None:
    config = Greedy(max_new_tokens=3, shaping=Shaping(logit_bias={9: 1, 4: -2.5, 70: 8}))
    assert json.loads(json.dumps(config_to_dict(config)))["shaping"]["logit_bias"] == [
        [4, -2.5],
        [9, 1.0],
        [70, 8.0],
    ]
    assert config_from_dict(json.loads(json.dumps(config_to_dict(config)))) == config
    trace = collect(_model(), PROMPT, config)
    trace.save(tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").config == config
    assert "logit bias #4 -2.5, #9 +1 and 1 more" in settings_caption(trace)


def test_a_bias_of_a_token_beyond_the_row_adds_nothing() -> None:
    row = torch.zeros(3)
    assert logit_bias(row, ((1, 2.0), (9, 1.0)), StepContext()).tolist() == [0.0, 2.0, 0.0]


def _random_biases(dice: random.Random) -> dict[int, float]:
    return {
        dice.randrange(300): dice.choice([-100.0, 100.0, round(dice.uniform(-6, 6), 2)])
        for _ in range(dice.randint(1, 20))
    }


@pytest.mark.parametrize("case", range(cases(10, 3)))
@pytest.mark.parametrize("kind", mostly_slow(ARCHITECTURES, ("llama", "gpt2")))
def test_runs_equal_those_of_generate(kind: str, case: int) -> None:
    """`generate` adds it first too, before the repetition penalty that its sign decides on."""
    dice = random.Random(f"bias {kind} {case}")
    shaping = Shaping(
        logit_bias=_random_biases(dice), repetition_penalty=dice.choice([1.0, 1.3]), temperature=0.9
    )
    assert_equal_to_generate(_model(kind), dice, case, max_new_tokens=10, shaping=shaping)


CONFIGS = (
    Greedy(max_new_tokens=8),
    Sampling(max_new_tokens=8, seed=3),
    BeamSearch(num_beams=3, max_new_tokens=8),
    Speculative(max_new_tokens=8),
    Speculative(max_new_tokens=8, shaping=Shaping(temperature=0)),
    Reasoning(max_new_tokens=8, think_start="<", think_end=">"),
)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_it_acts_and_is_proved_in_every_method(config) -> None:
    draft = _model() if isinstance(config, Speculative) else None
    token = 65
    for bias in (100.0, -100.0):
        shaping = replace(config.shaping, logit_bias={token: bias})
        trace = collect(_model(), PROMPT, replace(config, shaping=shaping), draft=draft)
        assert _failed(trace, _model(), draft) == set()
        assert (token in trace.token_ids) == (bias > 0)
        assert bias < 0 or set(trace.token_ids[1:-2]) <= {token, *trace.token_ids[-2:]}


@pytest.mark.parametrize("config", CONFIGS[:2], ids=lambda config: config.method)
def test_another_bias_of_a_shown_token_is_found(config) -> None:
    honest = collect(_model(), PROMPT, replace(config, shaping=Shaping(logit_bias={65: 3.0})))
    shown = honest.token_steps[0].candidates[1].token_id
    for wrong in ({65: 2.99}, {65: 3.0, shown: 0.01}, {}):
        failed = _failed(with_shaping(honest, logit_bias=wrong), _model())
        assert failed & {STAGES, "stages_of_settings"}


def _search(**biases) -> Trace:
    shaping = Shaping(**biases)
    return collect(_model(), PROMPT, BeamSearch(num_beams=3, max_new_tokens=6, shaping=shaping))


@pytest.mark.parametrize("wrong", [-100.0, -0.01, 0.01, 100.0])
def test_another_bias_of_a_candidate_of_a_search_is_found(wrong) -> None:
    plain = _search()
    candidate = plain.beam_steps[2].candidates[-1].token_id
    assert RESCORED in _failed(with_shaping(plain, logit_bias={candidate: wrong}), _model())
    biased = _search(logit_bias={candidate: wrong})
    assert _failed(biased, _model()) == set()
    assert RESCORED in _failed(with_shaping(biased, logit_bias={}), _model())


def test_a_bias_of_a_token_that_no_candidate_holds_takes_the_model_to_find() -> None:
    plain = _search()
    listed = {c.token_id for step in plain.beam_steps for c in step.candidates}
    hidden = next(token for token in range(1, 300) if token not in listed)
    assert _failed(with_shaping(plain, logit_bias={hidden: 100.0})) == set()
    assert RESCORED in _failed(with_shaping(plain, logit_bias={hidden: 100.0}), _model())
    # It would have kept out what is out anyhow: no number of the search, or of any other that it
    # could be compared with, differs.
    assert _failed(with_shaping(plain, logit_bias={hidden: -100.0}), _model()) == set()


def test_a_bias_of_an_unknown_token_is_refused_before_the_run_and_in_a_file() -> None:
    size = _model().vocab_size
    for config in CONFIGS:
        wrong = replace(config, shaping=Shaping(logit_bias={size: 1.0}))
        draft = _model() if isinstance(config, Speculative) else None
        with pytest.raises(ConfigError, match=f"token #{size}, and this model's tokens go from"):
            collect(_model(), PROMPT, wrong, draft=draft)
    for trace in (_search(), collect(_model(), PROMPT, Greedy(max_new_tokens=3))):
        assert _failed(with_shaping(trace, logit_bias={size: 1.0}), _model()) >= {FITS}
