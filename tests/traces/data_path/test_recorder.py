"""Every function of a run is there: how often it ran is arithmetic."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

import pytest
import torch

from core import BeamSearch, Candidate, Greedy, Sampling, Shaping, Speculative, collect, load_model
from core.decoding.config import MethodConfig
from core.decoding.shaping.long_rows import Ranking
from core.installation import ROOT
from core.models.remote.address import read_address
from core.models.remote.keys import key_for
from core.models.scripted import ScriptedModel
from core.models.transformers_model import TransformersModel
from core.server.settings import settings
from core.traces.data_path.phases import BEGINS
from core.traces.data_path.recorder import record
from core.traces.data_path.short import LONGEST, short
from core.traces.data_path.text import as_lines
from core.traces.data_path.types import PHASES, DataPath, FunctionCall
from tests.models.builders import random_model, tiny_tokenizer

SCRIPT = {(): [0.1, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}
TOKENS = 7


@pytest.fixture(scope="module")
def model() -> ScriptedModel:
    return ScriptedModel(SCRIPT)


def path_of(model: ScriptedModel | TransformersModel, config: MethodConfig) -> DataPath:
    with record() as recorder:
        collect(model, "the" if isinstance(model, ScriptedModel) else "the fox", config)
    return recorder.path


@pytest.fixture(scope="module")
def path(model: ScriptedModel) -> DataPath:
    return path_of(model, Greedy(max_new_tokens=TOKENS))


def named(path: DataPath, function: str) -> list[FunctionCall]:
    return [call for call in path.walk() if call.function == function]


def argument(call: FunctionCall, name: str) -> str:
    return next(text for key, text in call.arguments if key == name)


def test_n_tokens_are_one_forward_of_the_prompt_and_n_less_one_of_a_token(path: DataPath) -> None:
    counts = Counter(call.function for call in path.walk())
    assert counts["ScriptedModel.start"] == 1
    assert counts["Picker.pick"] == counts["Picker.record"] == counts["Ending.after"] == TOKENS
    (start,) = named(path, "ScriptedModel.start")
    inside = [call for call in start.walk() if call.function.endswith(".extend")]
    forwards = [call for call in path.walk() if call.function.endswith(".extend")]
    assert len(forwards) - len(inside) == TOKENS - 1
    assert all(call.result == "float32 [1, 1, 8]" for call in forwards[len(inside) :])


def test_no_recording_holds_a_key_or_a_setting_of_the_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DECODING_EXPLORER_API_KEYS", "first-secret-key,second-secret-key")
    monkeypatch.setenv("DECODING_EXPLORER_MODEL_KEYS", "http://127.0.0.1:9=third-secret-key")
    with record() as recorder:
        read_address("vllm:http://127.0.0.1:9#m")
        assert len(settings().api_keys) == 2
        assert key_for("http://127.0.0.1:9") == "third-secret-key"
    assert "secret" not in "".join(as_lines(recorder.path))
    assert named(recorder.path, "read_address")


def test_what_goes_in_comes_out_again(path: DataPath) -> None:
    encoded = named(path, "encode_prompt")[0]
    (started,) = named(path, "ScriptedModel.start")
    assert encoded.result == argument(started, "prompt_ids") == "list of 1: 1"
    assert [argument(call, "token_id") for call in named(path, "Ending.after")] == ["1"] * TOKENS
    assert argument(encoded, "prompt") == "'the'"


def test_calls_stand_in_their_callers_and_in_order(path: DataPath) -> None:
    (whole,) = path.calls
    assert whole.function == "collect"
    for call in path.walk():
        ends = [inner.start + inner.seconds for inner in call.calls]
        assert ends == sorted(ends)
        assert all(call.start <= inner.start for inner in call.calls)
        assert sum(inner.seconds for inner in call.calls) <= call.seconds + 1e-6
        assert Path(ROOT, call.file).is_file()
    assert whole.seconds <= path.seconds
    phases = list(dict.fromkeys(call.phase for call in path.walk()))
    assert phases == ["loop", "ids", "answer", "finish"] and set(phases) < set(PHASES)


def test_a_generator_goes_on_once_a_token(path: DataPath) -> None:
    parts = named(path, "continue_from")
    # The last resumption finds that the run has ended.
    assert [call.resumed for call in parts] == [False] + [True] * TOKENS
    assert [call.result.partition("(")[0] for call in parts] == ["TokenStep"] * TOKENS + ["None"]
    assert argument(parts[0], "prompt_ids") == "list of 1: 1"
    assert parts[1].arguments == ()


@pytest.mark.parametrize("place", BEGINS, ids=lambda place: place[1])
def test_every_part_begins_with_a_function_that_is_there(place: tuple[str, str]) -> None:
    file, name = place
    assert f"def {name.rpartition('.')[2]}(" in (ROOT / file).read_text()


@pytest.mark.parametrize(
    "config", [Sampling(shaping=Shaping(temperature=0.8, top_p=0.9)), BeamSearch(num_beams=2)]
)
def test_every_method_is_recorded(model: ScriptedModel, config: MethodConfig) -> None:
    with record() as recorder:
        recorded = collect(model, "the", config)
    path = recorder.path
    assert "finish" in {call.phase for call in path.walk()} and path.left_out == 0
    assert recorded.token_ids == collect(model, "the", config).token_ids


def test_nothing_is_left_behind_and_nothing_is_recorded_afterwards(model: ScriptedModel) -> None:
    before = sys.getprofile()
    with record() as recorder:
        pass
    collect(model, "the", Greedy(max_new_tokens=1))
    assert sys.getprofile() is before
    assert recorder.path.calls == ()


def test_an_error_closes_what_it_leaves(model: ScriptedModel) -> None:
    with pytest.raises(Exception, match="empty"), record() as recorder:
        collect(model, "", Greedy())
    whole = recorder.path.calls[-1]
    assert whole.function == "collect" and whole.calls[-1].function == "encode_prompt"


def test_a_recording_is_bounded(model: ScriptedModel) -> None:
    with record(10) as recorder:
        collect(model, "the", Greedy(max_new_tokens=TOKENS))
    path = recorder.path
    assert sum(1 for _ in path.walk()) <= 10
    assert path.left_out > 50


def test_speculation_on_the_embedded_pair_runs_both_models() -> None:
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    with record() as recorder:
        collect(target, "Once", Speculative(max_new_tokens=6, draft_length=2), draft=draft)
    forwards = named(recorder.path, "TransformersModel._forward")
    assert {argument(call, "ids") for call in forwards} >= {"int64 [1, 1]", "int64 [1, 3]"}


def test_a_pause_is_neither_recorded_nor_timed(model: ScriptedModel) -> None:
    waited = 0.0

    def rest(_: object) -> None:
        nonlocal waited
        with recorder.paused():
            began = perf_counter()
            collect(model, "the", Greedy(max_new_tokens=30))
            waited += perf_counter() - began

    began = perf_counter()
    with record() as recorder:
        collect(model, "the", Greedy(max_new_tokens=2), on_step=rest)
    whole = perf_counter() - began
    assert Counter(call.function for call in recorder.path.walk())["collect"] == 1
    assert recorder.path.seconds <= whole - waited


def test_a_class_statement_is_no_call() -> None:
    source = (ROOT / "core/decoding/record/bounds.py").read_text(encoding="utf-8")
    code = compile(source, str(ROOT / "core/decoding/record/bounds.py"), "exec")
    with record() as recorder:
        exec(code, {"__name__": "again"})
    assert "class Bounds" in source
    assert not {call.function for call in recorder.path.walk()} & {"Bounds", "<module>"}


@pytest.fixture(scope="module")
def tiny() -> TransformersModel:
    return TransformersModel(random_model("llama"), tiny_tokenizer(), model_id="tiny")


def test_the_modules_of_a_forward_stand_in_it_with_their_shapes(tiny: TransformersModel) -> None:
    ids = tiny.encode("the fox")
    assert tiny.supports_cache  # Asked now: finding out takes forwards of its own.
    with record() as recorder:
        recorder.watch(tiny)
        collect(tiny, ids, Greedy(max_new_tokens=3))
    path = recorder.path
    layers = tiny.hf_model.config.num_hidden_layers
    width = tiny.hf_model.config.hidden_size
    inner = [call for call in path.walk() if call.function.startswith("LlamaDecoderLayer ")]
    # The prompt, and one token twice.
    assert len(inner) == 3 * layers
    shapes = [call.arguments[0].text for call in inner]
    assert shapes[:layers] == [f"float32 [1, {len(ids)}, {width}]"] * layers
    assert shapes[layers:] == [f"float32 [1, 1, {width}]"] * 2 * layers
    assert inner[0].file.startswith("transformers/models/llama/")
    assert [call.function.partition(" ")[0] for call in inner[0].calls] == [
        "LlamaRMSNorm", "LlamaAttention", "LlamaRMSNorm", "LlamaMLP"
    ]  # fmt: skip
    assert tiny._fused is not None
    assert not tiny.hf_model._forward_hooks


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, "3"),
        (True, "True"),
        (None, "None"),
        (0.123456789, "0.123457"),
        ("a\nb", "'a\\nb'"),
        ("x" * 200, repr("x" * (LONGEST - 1) + "…")),
        (b"abc", "3 bytes"),
        (torch.zeros(1, 4096), "float32 [1, 4096]"),
        (torch.tensor(7), "int64 7"),
        ((torch.zeros(2, 3), 1), "tuple of 2: float32 [2, 3], 1"),
        (Ranking([3], [0.5], torch.zeros(5)), "Ranking(places=float32 [5])"),
        ([1, 2, 3], "list of 3: 1, 2, 3"),
        (list(range(99)), "list of 99: 0, 1, 2, 3, 4, …"),
        ([[1]], "list of 1 list"),
        ((), "tuple of 0"),
        ({"a": 1}, "dict of 1"),
        (Sampling(), "Sampling()"),
        (Sampling(seed=3, shaping=Shaping(temperature=0)),
         "Sampling(shaping=Shaping(temperature=0), seed=3)"),
        (int, "int"),
        (Candidate(3, "a", 1, 0.5, 0.25, 0.25),
         "Candidate(token_id=3, text='a', rank=1, logit=0.5, raw_prob=0.25)"),
    ],
)  # fmt: skip
def test_values_in_short(value: object, expected: str) -> None:
    assert short(value) == expected
