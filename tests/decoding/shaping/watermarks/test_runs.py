"""Runs with a watermark: `generate` gives the same tokens, and its detectors the same numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers import SynthIDTextWatermarkLogitsProcessor, WatermarkDetector

from core import BeamSearch, Greedy, Sampling, Shaping, Speculative, check, collect, load_model
from core.decoding.check import verdict
from core.decoding.errors import ConfigError
from core.decoding.reading.read import opening_of, read_edited, read_marked, read_text
from core.decoding.reading.watermarks import detections
from core.decoding.shaping.functions.watermarks import g_score, is_green
from core.figures import watermark as watermark_figure
from core.models.running.reference import watermark
from tests.decoding.checks.forging import failed, forge, with_shaping
from tests.decoding.shaping.watermarks.test_processors import GREEN, SYNTHID
from tests.depth import mostly_slow

PROMPT = "Once upon a time"
ALL = {**GREEN, **SYNTHID}
OFTEN = ("lefthash", "wide", "nine keys")


@pytest.fixture(scope="module")
def model():
    return load_model("embedded:target")


def _sampling(**settings) -> Sampling:
    shaping = Shaping(temperature=0.9, top_k=60, top_p=0.98, **settings)
    return Sampling(max_new_tokens=40, seed=3, draw="multinomial", shaping=shaping)


@pytest.mark.parametrize("name", mostly_slow(ALL, OFTEN))
def test_generate_makes_the_same_run_and_the_model_proves_it(model, name) -> None:
    settings = ALL[name]
    for config in (_sampling(**settings), Greedy(max_new_tokens=30, shaping=Shaping(**settings))):
        trace = collect(model, PROMPT, config)
        assert model.reference_token_ids(trace.prompt_ids, config) == list(trace.token_ids)
        assert verdict(check(trace, model)) == "proved"
        assert type(trace).from_dict(trace.to_dict()) == trace


@pytest.mark.parametrize("name", mostly_slow(ALL, ("lefthash", "thirty layers")))
def test_beams_and_drafts_are_proved_too(model, name: str) -> None:
    settings = ALL[name]
    if "synthid_depth" in settings:
        with pytest.raises(ConfigError, match="a beam search has several"):
            BeamSearch(shaping=Shaping(**settings))
    else:
        beams = BeamSearch(max_new_tokens=8, num_beams=3, shaping=Shaping(**settings))
        assert verdict(check(collect(model, PROMPT, beams), model)) == "proved"
    draft = load_model("embedded:draft")
    for temperature in (0.0, 1.0):
        shaping = Shaping(temperature=temperature, **settings)
        config = Speculative(max_new_tokens=12, seed=3, shaping=shaping)
        trace = collect(model, PROMPT, config, draft=draft)
        assert verdict(check(trace, model, draft)) == "proved"


@pytest.mark.parametrize("settings", GREEN.values(), ids=GREEN)
def test_the_detector_equals_transformers_at_every_length(model, settings) -> None:
    trace = collect(model, PROMPT, _sampling(**settings))
    (found,) = detections(trace)
    reference = WatermarkDetector(
        model.hf_model.config, "cpu", watermark(trace.config.shaping).to_dict()
    )
    for length in range(6, len(trace.token_ids) + 1, 7):
        ids = torch.tensor([trace.token_ids[:length]])
        expected = reference(ids, return_dict=True)
        at = length - 1
        assert found.counts[at] == expected.num_tokens_scored[0]
        assert found.means[at] == pytest.approx(expected.green_fraction[0], abs=1e-12)
        assert found.z_scores[at] == pytest.approx(expected.z_score[0], abs=1e-9)
    assert found.p_value == pytest.approx(
        float(reference(torch.tensor([trace.token_ids]), return_dict=True).p_value[0]), abs=1e-9
    )


@pytest.mark.parametrize("settings", SYNTHID.values(), ids=SYNTHID)
def test_the_mean_g_value_is_that_of_transformers_functions(model, settings) -> None:
    trace = collect(model, PROMPT, _sampling(**settings))
    (found,) = detections(trace)
    shaping, ids = trace.config.shaping, torch.tensor([trace.token_ids])
    keys = list(shaping.synthid_keys[: shaping.synthid_depth])
    width = shaping.synthid_ngram - 1
    functions = SynthIDTextWatermarkLogitsProcessor(
        width + 1, keys, 2**16, 0, shaping.synthid_history, torch.device("cpu")
    )
    values = functions.compute_g_values(ids)[0].float()
    counted = functions.compute_context_repetition_mask(ids)[0]
    assert list(found.scored) == [False] * width + counted.tolist()
    assert found.means[-1] == pytest.approx(float(values[counted].mean()), abs=1e-6)
    spread = 0.5 / float(counted.sum() * len(keys)) ** 0.5
    z_score = (float(values[counted].double().mean()) - 0.5) / spread
    assert found.z_score == pytest.approx(z_score, abs=1e-4)


@pytest.mark.slow
def test_a_long_marked_text_is_found_and_another_key_finds_nothing(model) -> None:
    for settings, other in (
        ({"watermark_bias": 3.0}, {"watermark_key": 7}),
        ({"synthid_depth": 30}, {"synthid_keys": tuple(range(30))}),
    ):
        shaping = Shaping(**settings)
        config = Sampling(max_new_tokens=250, min_new_tokens=250, seed=1, shaping=shaping)
        trace = collect(model, PROMPT, config)
        assert detections(trace)[0].z_score > 3
        given = Greedy(max_new_tokens=250, shaping=Shaping(**settings, **other))
        read = collect(model, trace.prompt_ids, given, given=trace.token_ids)
        assert abs(detections(read)[0].z_score) < 3
        same = collect(
            model, trace.prompt_ids, replace(given, shaping=shaping), given=trace.token_ids
        )
        assert detections(same)[0].z_scores == detections(trace)[0].z_scores


def test_the_functions_of_one_token_agree_with_the_record(model) -> None:
    trace = collect(model, PROMPT, _sampling(watermark_bias=2.0))
    (green,) = detections(trace)
    value = (2.0, 0.25, trace.config.shaping.watermark_key, "lefthash", 1)
    for at in range(4, len(trace.token_ids)):
        text = trace.token_ids[: at + 1]
        assert green.marks[at].score == is_green(text, model.vocab_size, value)
    trace = collect(model, PROMPT, _sampling(synthid_depth=30))
    (synthid,) = detections(trace)
    layers = (30, trace.config.shaping.synthid_keys, 5, 1024)
    for at in range(4, len(trace.token_ids)):
        text = trace.token_ids[: at + 1]
        assert synthid.marks[at].score == pytest.approx(g_score(text, layers), abs=1e-6)


FORGERIES = {
    "watermark_bias": 2.1,
    "watermark_ratio": 0.26,
    "watermark_key": 15_485_864,
    "watermark_scheme": "selfhash",
    "synthid_depth": 29,
    "synthid_keys": (1, *range(2, 31)),
    "synthid_ngram": 4,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_another_value_is_found_with_the_model(model, name) -> None:
    on = {"watermark_bias": 2.0} if name.startswith("watermark") else {"synthid_depth": 30}
    trace = collect(model, PROMPT, Sampling(max_new_tokens=12, seed=3, shaping=Shaping(**on)))
    assert "stages_again" in failed(with_shaping(trace, **{name: FORGERIES[name]}), model)


@pytest.mark.parametrize("field", ["score", "before", "after", "none"])
@pytest.mark.parametrize("settings", [{"watermark_bias": 2.0}, {"synthid_depth": 30}])
def test_a_forged_mark_is_found(model, settings, field) -> None:
    trace = collect(model, PROMPT, Sampling(max_new_tokens=8, seed=3, shaping=Shaping(**settings)))
    step = trace.token_steps[4]
    mark = step.stages[1].mark
    forged = None if field == "none" else mark._replace(**{field: 1 - getattr(mark, field)})
    stages = (step.stages[0], step.stages[1]._replace(mark=forged), *step.stages[2:])
    assert "stages_again" in failed(forge(trace, 4, stages=stages), model)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"watermark_bias": -1.0}, "watermark_bias"),
        ({"watermark_ratio": 1.0}, "watermark_ratio"),
        ({"watermark_key": 2**60}, "watermark_key"),
        ({"watermark_key": 0}, "watermark_key"),
        ({"watermark_scheme": "righthash"}, "lefthash"),
        ({"watermark_context": 0}, "watermark_context"),
        ({"synthid_keys": ()}, "list of whole numbers"),
        ({"synthid_keys": "1,2"}, "list of whole numbers"),
        ({"synthid_keys": (1, -2)}, "a key"),
        ({"synthid_keys": (1, True)}, "a key"),
        ({"synthid_keys": (1,) * 101}, "at most 100"),
        ({"synthid_ngram": 1}, "synthid_ngram"),
        ({"synthid_history": 10**9}, "synthid_history"),
    ],
)
def test_a_hostile_value_is_refused_in_one_sentence(settings, words) -> None:
    with pytest.raises(ConfigError, match=words):
        Shaping(**settings)


def test_an_edited_token_changes_the_scores_of_the_tokens_that_hash_it(model) -> None:
    for settings, reach in (({"watermark_bias": 2.0}, 2), ({"synthid_depth": 30}, 5)):
        trace = collect(model, PROMPT, _sampling(**settings))
        edited = read_edited(model, trace, 20, "#7")
        assert edited.token_ids == (*trace.token_ids[:20], 7, *trace.token_ids[21:])
        marks = zip(detections(trace)[0].marks, detections(edited)[0].marks, strict=True)
        scores = [before.score != after.score for before, after in marks]
        assert not any(scores[:20]) and any(scores[20 : 20 + reach])
        assert not any(scores[20 + reach :])
    with pytest.raises(ConfigError, match="edited text"):
        read_edited(model, trace, 3, "no single token at all")


def test_a_text_is_looked_at_with_a_key(model) -> None:
    settings = {"watermark_bias": 4.0, "watermark_key": 99}
    run = collect(
        model, PROMPT, Sampling(max_new_tokens=120, min_new_tokens=120, shaping=Shaping(**settings))
    )
    text = read_text(model, [*run.prompt_ids, *run.token_ids])
    scores = {}
    for key in (99, 100):
        marks = Shaping(watermark_bias=1.0, watermark_key=key)
        read = read_marked(model, text, marks)
        (found,) = detections(read, opening_of(model, read))
        reference = WatermarkDetector(model.hf_model.config, "cpu", watermark(marks).to_dict())
        ids = torch.tensor([[*run.prompt_ids, *run.token_ids]])
        expected = reference(ids, return_dict=True)
        assert found.counts[-1] == expected.num_tokens_scored[0] == ids.shape[1] - 1
        assert found.z_score == pytest.approx(expected.z_score[0], abs=1e-9)
        scores[key] = found.z_score
    assert scores[99] > 3 > scores[100]


@pytest.mark.parametrize("name", mostly_slow(GREEN, ("wide",)))
@pytest.mark.parametrize("start", ["", "#0", "#0#0", "inner end", "parts of a character"])
def test_all_pairs_of_a_text_are_scored_as_transformers_does(model, name: str, start: str) -> None:
    """`#0` is the token that transformers leaves out where it stands first."""
    settings = GREEN[name]
    run = collect(model, PROMPT, _sampling(**settings))
    ids = [*run.prompt_ids, *run.token_ids]
    ids = [0] * start.count("#0") + ids
    if start == "inner end":
        ids[6:6] = [4]
    if start == "parts of a character":
        ids = [*model.encode("\N{PARTY POPPER}"), *ids]
    text = read_text(model, ids)
    read = read_marked(model, text, Shaping(**settings))
    (found,) = detections(read, opening_of(model, read))
    reference = WatermarkDetector(
        model.hf_model.config, "cpu", watermark(read.config.shaping).to_dict()
    )
    expected = reference(torch.tensor([ids]), return_dict=True)
    assert found.counts[-1] == expected.num_tokens_scored[0]
    assert found.means[-1] == pytest.approx(expected.green_fraction[0], abs=1e-12)
    assert found.z_score == pytest.approx(expected.z_score[0], abs=1e-9)
    assert found.p_value == pytest.approx(float(expected.p_value[0]), abs=1e-9)
    subtitle = watermark_figure(read, opening=opening_of(model, read)).layout.meta["subtitle"]
    assert f"of {found.counts[-1]} tokens" in subtitle


def test_the_figure_says_that_only_a_low_z_of_a_short_text_proves_nothing(model) -> None:
    for bias, low in ((0.01, True), (20.0, False)):
        shaping = Shaping(temperature=1.5, watermark_bias=bias)
        trace = collect(model, PROMPT, replace(_sampling(), shaping=shaping))
        subtitle = watermark_figure(trace).layout.meta["subtitle"]
        assert ("A low z of a text with fewer than 200 tokens proves nothing." in subtitle) == low
        assert ("1 in 1,000,000,000,000" in subtitle) != low and " green of " in subtitle
