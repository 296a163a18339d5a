"""Files of JSON lines: traces, streams and logs of answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import Trace, read_trace, runs_to_frame
from core.decoding.errors import TraceError
from core.traces.many_file import many_jsonl

ROOT = Path(__file__).parents[3]
TRACES, ANSWERS = ROOT / "assets/traces", ROOT / "tests/traces/data/foreign"


def test_traces_of_any_methods_and_prompts_come_in_their_order(tmp_path: Path) -> None:
    runs = [read_trace(TRACES / f"{name}.json") for name in ("decode", "beam", "speculative")]
    path = tmp_path / "runs.jsonl"
    path.write_text(many_jsonl(runs), encoding="utf-8")
    assert list(Trace.from_jsonl(path)) == runs == list(Trace.from_jsonl(path.read_bytes()))
    assert len(runs_to_frame(Trace.from_jsonl(path))) == len(runs[0].token_ids)


def test_the_lines_of_a_stream_are_one_run_and_those_of_a_log_are_many() -> None:
    streamed = (ANSWERS / "llamacpp-stream.txt").read_bytes()
    (run,) = Trace.from_jsonl(streamed)
    whole = Trace.from_jsonl((ANSWERS / "llamacpp.json").read_bytes())
    assert (run.token_ids, run.text) == (whole[0].token_ids, whole[0].text)
    log = (ANSWERS / "llamacpp.json").read_bytes() + (ANSWERS / "llamacpp-post.json").read_bytes()
    assert [trace.text for trace in Trace.from_jsonl(log)] == [run.text] * 2
    (samples,) = Trace.from_jsonl(ANSWERS / "lm-eval-samples.jsonl")
    assert len(samples.token_steps) == 3


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\n \n", "is empty"),
        (b"{}\n" * 10_001, "10,001 lines"),
        (b'{"a": 1}\n{"b": 2}', "none of the known formats"),
        (b"no JSON", "neither JSON"),
        (b'{"schema": "decoding-explorer/trace", "version": 1}\n', "Line 1: "),
        ((TRACES / "decode.json").read_bytes().strip() + b"\n{}", "Line 2: "),
        ((ANSWERS / "llamacpp.json").read_bytes() * 2 + b'{"stop": true, "content": ""}', "Line 3"),
    ],
)
def test_a_wrong_file_gets_a_sentence_with_the_line(data: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        Trace.from_jsonl(data)
