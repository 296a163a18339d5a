"""The trace file: round trip, and every way a stranger's file can be wrong."""

from __future__ import annotations

import json
import math

import pytest

from core import Check, Greedy, Sampling, Shaping, Trace, check, collect, read_trace
from core.decoding.errors import TraceError
from core.traces import file
from tests.models.builders import random_language_model
from tests.traces.reading import assert_comes_back, changed, refusal


@pytest.fixture(scope="module")
def trace() -> Trace:
    model = random_language_model("llama")
    shaping = Shaping(temperature=0.7, top_k=20, top_p=0.9)
    run = collect(model, "the fox", Sampling(max_new_tokens=6, seed=3, shaping=shaping))
    return run.with_checks(tuple(check(run, model)))


@pytest.fixture(scope="module")
def data(trace: Trace) -> dict:
    return trace.to_dict()


def _bytes(data: object) -> bytes:
    return json.dumps(data).encode()


@pytest.mark.parametrize("draw", ["inverse_cdf", "gumbel", "multinomial", None])
def test_a_trace_survives_the_round_trip(draw: str | None, tmp_path) -> None:
    model = random_language_model("gpt2")
    config = Sampling(max_new_tokens=5, draw=draw) if draw else Greedy(max_new_tokens=5)
    assert_comes_back(collect(model, "ha ha", config), tmp_path)


def test_a_valid_file_passes_with_its_checks(data: dict, trace: Trace) -> None:
    assert read_trace(_bytes(data)) == trace
    assert trace.checks
    # A byte order mark is no fault.
    assert read_trace(b"\xef\xbb\xbf" + _bytes(data)) == trace


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("text", 5),
        ("prompt_ids", ["a"]),
        ("prompt_ids", [-1]),
        ("finish_reason", "bored"),
        ("timings.total", -1),
        ("steps.1.candidates.text", []),
        ("steps.1.candidates.raw_prob.0", "0.5"),
        ("steps.1.candidates.raw_prob.0", float("nan")),
        ("steps.1.token_id", 10**7),
        ("steps.1.stages.0.probs", [1.0]),
        ("steps.1.stages", []),
        ("steps.1.draw.uniform", 1.5),
        ("steps.1.draw.method", "dice"),
        ("steps.1.kind", "magic"),
        ("steps.0.positions.0.token_id", None),
        ("config.method", "guess"),
        ("config.shaping.top_p", 7),
        ("config.max_new_tokens", "many"),
        ("config.surprise", 1),
        ("surprise", 1),
        ("steps.1.text", "x" * 3000),
    ],
)
def test_a_wrong_field_gets_one_sentence(data: dict, path: str, value: object) -> None:
    assert refusal(changed(data, path, value)).startswith("The trace file")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no trace file"),
        (b'{"schema": "other"}', "no trace file"),
        (b'{"schema": "decoding-explorer/trace", "version": 99}', "version 99"),
        (b'{"schema": "decoding-explorer/trace", "version": 1}', "invalid at"),
    ],
)
def test_what_is_no_trace_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        read_trace(content)


def test_a_missing_and_a_too_large_file_are_refused(tmp_path) -> None:
    for read in (read_trace, Trace.load):
        with pytest.raises(TraceError, match="can't be opened"):
            read(tmp_path / "none.json")
    with pytest.raises(TraceError, match=r"larger than the 0\.001 MB"):
        read_trace(b" " * 2000, max_bytes=1000)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "."])
def test_what_is_no_file_is_a_trace_error(name: str) -> None:
    with pytest.raises(TraceError, match="can't be opened") as error:
        read_trace(name)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 300


def test_a_file_of_ones_own_may_be_larger_than_a_strangers_bytes(
    trace: Trace, tmp_path, monkeypatch
) -> None:
    content = _bytes(trace.to_dict())
    path = tmp_path / "run.json"
    path.write_bytes(content)
    monkeypatch.setattr(file, "MAX_BYTES", len(content) - 1)
    assert read_trace(path) == trace
    with pytest.raises(TraceError, match="larger than"):
        read_trace(content)
    monkeypatch.setattr(file, "MAX_FILE_BYTES", len(content) - 1)
    with pytest.raises(TraceError, match="larger than"):
        read_trace(path)
    assert read_trace(path, max_bytes=len(content)) == trace


def test_the_longest_step_leaves_room_for_a_long_run_below_the_limit() -> None:
    shaping = Shaping(
        temperature=0.9,
        top_n_sigma=50,
        top_k=250,
        top_p=0.99,
        min_p=0.001,
        typical_p=0.99,
        epsilon_cutoff=1e-6,
        eta_cutoff=1e-6,
        repetition_penalty=1.1,
        no_repeat_ngram_size=2,
        logit_bias={1: 0.5},
    )
    model = random_language_model("llama")
    config = Sampling(max_new_tokens=4, min_new_tokens=4, top_candidates=200, shaping=shaping)
    step = collect(model, "the fox", config).to_dict()["steps"][-1]
    assert len(step["stages"]) == 14
    assert 2000 * len(_bytes(step)) < file.MAX_FILE_BYTES


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_know_is_never_written(
    trace: Trace, number: float, tmp_path
) -> None:
    outcome = Check("a check", False, number, 0.0)
    with pytest.raises(ValueError, match=r"(?i)json|number|float"):
        trace.with_checks((outcome,)).save(tmp_path / "run.json")
    assert not (tmp_path / "run.json").exists()


def test_a_trace_of_500_tokens_stays_small_whatever_the_vocabulary() -> None:
    sizes = []
    for vocab in (300, 5_000):
        model = random_language_model("llama", vocab=vocab, max_position_embeddings=600)
        model.eos_ids = frozenset()
        run = collect(model, [5, 6], Sampling(max_new_tokens=500, shaping=Shaping(top_k=50)))
        assert len(run.token_ids) == 500
        sizes.append(len(json.dumps(run.to_dict(), separators=(",", ":"))))
    assert max(sizes) < 5_000_000
    assert sizes[1] < 1.2 * sizes[0]
