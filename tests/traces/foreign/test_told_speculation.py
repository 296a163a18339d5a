"""Speculative decoding as servers tell it in their answers: vLLM's metrics, llama.cpp's timings."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pytest

from core import ByEngine, Trace, check, collect, from_answer, load_model
from core.cli.main import main
from core.decoding.by_engine.speculation import ServerRound
from core.decoding.by_engine.told import EngineRecord, ToldSpeculation, told_by, told_in, told_of
from core.decoding.comparison.words import differences
from core.decoding.errors import TraceError
from core.traces.foreign import read_foreign
from tests.models.remote.servers import Script, serving
from tests.models.remote.test_parity import FORMS

FOLDER = Path(__file__).parents[1] / "data/foreign"
ANSWERS = Path(__file__).parents[2] / "models/remote/answers"
# vLLM's documentation (features/speculative_decoding/acceptance_metrics), of a summary.
SUMMARY = {
    "mean_acceptance_length": 1.2325581395348837,
    "draft_acceptance_rate": 0.07751937984496124,
    "acceptance_histogram": [39, 1, 0, 3],
    "num_spec_steps": 43,
    "num_accepted_draft_tokens": 10,
    "num_draft_tokens": 129,
    "num_spec_tokens": 3,
}
DETAILED = {
    "mean_acceptance_length": 2.5,
    "draft_acceptance_rate": 0.5,
    "acceptance_histogram": [0, 1, 1, 0],
    "num_spec_steps": 2,
    "num_accepted_draft_tokens": 3,
    "num_draft_tokens": 6,
    "num_spec_tokens": 3,
    "per_step_accepted": [2, 1],
    "per_step_drafted": [3, 3],
}
# llama.cpp's pull request 12603, which added the two numbers.
TIMINGS = {
    "prompt_n": 1,
    "prompt_ms": 228.522,
    "prompt_per_token_ms": 228.522,
    "prompt_per_second": 4.375946298387026,
    "predicted_n": 200,
    "predicted_ms": 11082.606,
    "predicted_per_token_ms": 55.41303,
    "predicted_per_second": 18.0462970532382,
    "draft_n": 347,
    "draft_n_accepted": 65,
}


def _chat(**parts: Any) -> dict[str, Any]:
    entry = {"token": " a", "logprob": log(0.5), "bytes": [32, 97], "top_logprobs": []}
    entry["top_logprobs"] = [{k: v for k, v in entry.items() if k != "top_logprobs"}]
    message = {"role": "assistant", "content": " a"}
    choice = {"message": message, "logprobs": {"content": [entry]}, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": "m", "choices": [choice], **parts}


@pytest.mark.parametrize(
    ("answer", "told", "words"),
    [
        (
            _chat(metrics={"speculative_decoding": SUMMARY}),
            ToldSpeculation(129, 10, 43),
            "10 of 129 drafted tokens accepted (7.8 %) in 43 rounds, 1.23 tokens a round",
        ),
        (
            _chat(metrics={"speculative_decoding": DETAILED}),
            ToldSpeculation(6, 3, 2, (ServerRound(3, 2), ServerRound(3, 1))),
            "3 of 6 drafted tokens accepted (50.0 %) in 2 rounds, 2.50 tokens a round",
        ),
        (
            _chat(timings=TIMINGS),
            ToldSpeculation(347, 65),
            "65 of 347 drafted tokens accepted (18.7 %)",
        ),
    ],
)
def test_an_answers_speculation_is_in_its_trace(
    answer: Any, told: ToldSpeculation, words: str, tmp_path: Path
) -> None:
    trace = from_answer(answer)
    assert told_of(trace.method_record) == told and told.words == words
    assert [outcome for outcome in check(trace) if not outcome.passed] == []
    trace.save(tmp_path / "answer.json")
    assert Trace.load(tmp_path / "answer.json") == trace


def test_vllms_own_output_and_the_last_event_of_a_stream_tell_it_too() -> None:
    output = json.loads((FOLDER / "vllm.json").read_text("utf-8"))
    assert told_of(from_answer(output).method_record) is None
    output["outputs"][0]["spec_decode_metrics"] = DETAILED
    assert told_of(from_answer(output).method_record) == told_by(DETAILED)
    events = (FOLDER / "llamacpp-stream.txt").read_text("utf-8").strip()
    last = json.dumps({"content": "", "stop": True, "timings": TIMINGS})
    trace = from_answer(f"{events}\n\ndata: {last}\n")
    assert told_of(trace.method_record) == ToldSpeculation(347, 65)


def _drafted_by_llama_cpp() -> tuple[str, list[Any], dict[str, Any]]:
    """Return a stored stream, its numbered tokens, and the whole answer to the same request.

    The whole answer gives a drafted token the log-probability 0 and names no other token.
    """
    stream = (ANSWERS / "llamacpp-draft.txt").read_text("utf-8")
    events = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line]
    entries, numbered = [], []
    for event in events:
        given = event.get("completion_probabilities", [])
        numbered += given
        entries += given or [
            {"id": token_id, "token": event["content"], "logprob": 0.0, "top_logprobs": []}
            for token_id in event["tokens"]
        ]
    text = "".join(event["content"] for event in events)
    return stream, numbered, {**events[-1], "content": text, "completion_probabilities": entries}


def test_drafted_tokens_of_llama_cpp_have_no_log_probability_in_stream_and_whole_answer() -> None:
    stream, numbered, whole = _drafted_by_llama_cpp()
    given = [entry["logprob"] for entry in numbered]
    chat = _chat(timings=whole["timings"])
    chat["choices"][0]["logprobs"] = {"content": whole["completion_probabilities"]}
    for answer in (stream, json.dumps(whole), json.dumps(chat)):
        tokens = read_foreign(answer).tokens
        assert [token.logprob for token in tokens if token.logprob is not None] == given
        assert len(tokens) == 21 and "".join(t.added for t in tokens) == whole["content"]
        assert [token.token_id for token in tokens][:3] == [5, 26, 32]
        with pytest.raises(TraceError, match="Token 2 of this answer has no log-probability"):
            from_answer(answer)


def test_without_drafts_a_log_probability_of_0_is_a_number() -> None:
    *_, whole = _drafted_by_llama_cpp()
    del whole["timings"]["draft_n"], whole["timings"]["draft_n_accepted"]
    assert read_foreign(json.dumps(whole)).tokens[1].logprob == 0.0


@pytest.mark.parametrize(
    "report",
    [
        None,
        [],
        {"draft_n": 3},
        {"draft_n": 3, "draft_n_accepted": 4},
        {"draft_n": -1, "draft_n_accepted": -1},
        {"draft_n": 3.0, "draft_n_accepted": 1},
        {"draft_n": True, "draft_n_accepted": False},
        {"num_draft_tokens": 10**12, "num_accepted_draft_tokens": 0},
        {"per_step_drafted": [1], "per_step_accepted": [2]},
    ],
)
def test_numbers_that_can_not_be_are_not_told(report: Any) -> None:
    assert told_by(report) is None and told_in({"timings": report}) is None


def test_forged_numbers_are_found() -> None:
    trace = from_answer(_chat(metrics={"speculative_decoding": DETAILED}))
    told = told_of(trace.method_record)
    assert told is not None
    for forged in (told._replace(drafted=7), told._replace(rounds=3), told._replace(accepted=9)):
        changed = replace(trace, method_record=EngineRecord(forged))
        failed = [outcome.name for outcome in check(changed) if not outcome.passed]
        assert failed == ["speculation_told"]


def test_a_run_by_the_engine_holds_what_its_server_told(tmp_path: Path, capsys) -> None:
    """The second run is told nothing: the first one's numbers don't stay."""
    script = Script(speculation=DETAILED)
    with serving(script) as (url, _):
        model = load_model(FORMS["vllm"].format(url=url))
        first = collect(model, "Once upon a time", ByEngine(max_new_tokens=4))
        script.speculation = None
        second = collect(model, "Once upon a time", ByEngine(max_new_tokens=4))
    assert told_of(first.method_record) == told_by(DETAILED)
    assert told_of(second.method_record) is None
    named = {difference.name: difference[1:] for difference in differences(first, second)}
    assert named["the server's speculation"] == (told_by(DETAILED).words, "none told")
    for name, trace in (("a", first), ("b", second)):
        trace.save(tmp_path / f"{name}.json")
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    assert "the server's speculation: 3 of 6 drafted tokens" in capsys.readouterr().out
