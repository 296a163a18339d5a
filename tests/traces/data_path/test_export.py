"""Exports for other programs: each file follows the rules of its format."""

from __future__ import annotations

import base64
import json

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from core.cli.main import main
from core.traces.data_path.export import as_chrome, as_json, as_otlp
from core.traces.data_path.fold import fold
from core.traces.data_path.text import as_lines
from core.traces.data_path.types import PHASES, DataPath, FunctionCall, PathPhase, ShownValue


def call(
    function: str, start: float, seconds: float, *calls: FunctionCall, resumed: bool = False
) -> FunctionCall:
    arguments = (ShownValue("text", "'<b>&\u202e'"),)
    return FunctionCall(
        function, "core/a.py", 7, "loop", arguments, "3", resumed, start, seconds, calls
    )


PATH = DataPath(
    (
        call("whole", 0.5, 3.0,
             call("step", 0.5, 1.0, call("draw", 0.75, 0.25)),
             call("step", 1.5, 1.0, call("draw", 1.75, 0.25), resumed=True),
             call("step", 2.5, 0.5, resumed=True)),
    ),
    seconds=4.0, left_out=2, began=1_700_000_000_000_000_000,
)  # fmt: skip


def test_equal_neighbours_are_one_row_that_opens() -> None:
    (whole,) = fold(PATH.calls)
    assert [(row.first.resumed, row.times, row.seconds) for row in whole.inside()] == [
        (False, 1, 1.0),
        (True, 2, 1.5),
    ]
    assert whole.inside()[1].inside()[0].first.function == "draw"


def test_a_round_of_several_calls_folds_too() -> None:
    steps = [step for at in range(40) for step in (call("step", at, 0.5), call("tell", at, 0.25))]
    before, loop, after = fold([call("start", 0, 1), *steps, call("step", 41, 1)])
    assert (loop.times, loop.functions, loop.seconds) == (40, ("step", "tell"), 30.0)
    assert [row.first.start for row in loop.inside(7)] == [7, 7]
    assert (before.times, before.first.function, after.first.start) == (1, "start", 41)


def test_the_text_says_what_went_in_and_out_and_where() -> None:
    assert list(as_lines(PATH, 2)) == [
        "== The loop: forward, shaping, draw, append, text",
        "whole  core/a.py:7  3.00 s",
        "  -> text: '<b>&\u202e'",
        "  <- 3",
        "  step  core/a.py:7  1.00 s",
        "    -> text: '<b>&\u202e'",
        "    <- 3",
        "  step (goes on) x 2  core/a.py:7  1.50 s",
        "    -> text: '<b>&\u202e'",
        "    <- 3",
        "(2 more calls were not kept)",
    ]


def placed(place: tuple[str, str], phase: PathPhase, *calls: FunctionCall) -> FunctionCall:
    return FunctionCall(place[1], place[0], 1, phase, (), "", False, 0.0, 0.0, calls)


def test_the_depth_counts_from_a_parts_first_function_and_arguments_are_one_line() -> None:
    """The loop lies four calls deep in the command, and its forward two in the loop."""
    inner = placed(("core/a.py", "forward"), "loop", placed(("core/a.py", "deeper"), "loop"))
    loop = placed(("core/decoding/decode.py", "collect"), "loop", inner)
    wrapped = placed(("core/a.py", "b"), "request", placed(("core/a.py", "c"), "request", loop))
    request = placed(
        ("core/cli/commands/decode.py", "request_of"), "request", inner._replace(phase="request")
    )
    path = DataPath((request, placed(("core/a.py", "a"), "request", wrapped)), 0.0, 0, 0)
    names = [line.split("  ")[0] for line in map(str.strip, as_lines(path, 2))]
    assert names == [
        f"== {PHASES['request']}", "request_of", "(2 calls inside)", "a", "b",
        f"== {PHASES['loop']}", "collect", "forward",
    ]  # fmt: skip
    assert "deeper" in "".join(as_lines(path)) and "inside)" not in "".join(as_lines(path))


def test_of_a_runs_steps_the_second_stands_for_all() -> None:
    """The first one's forward was the prompt's."""
    step = ("core/decoding/loop/run.py", "_timed")
    steps = [
        placed(step, "loop", placed(("core/a.py", name), "loop"))._replace(resumed=True)
        for name in ("first", "second", "third")
    ]
    text = "".join(as_lines(DataPath(tuple(steps), 0.0, 0, 0), 6))
    assert "x 3" in text and "second" in text and "first" not in text
    text = "".join(as_lines(DataPath(tuple(steps[:2]), 0.0, 0, 0), 6))
    assert "x 2" in text and "first" in text  # In the last one the run ends.


def test_a_recording_goes_on_where_another_ended() -> None:
    whole = PATH.then(PATH)
    assert [recorded.start for recorded in whole.calls] == [0.5, 4.5]
    assert [recorded.start for recorded in whole.calls[1].calls] == [4.5, 5.5, 6.5]
    assert (whole.seconds, whole.left_out, whole.began) == (8.0, 4, PATH.began)


def test_the_json_holds_every_call() -> None:
    data = json.loads(json.dumps(as_json(PATH)))
    assert (data["schema"], data["version"]) == ("decoding-explorer-data-path", 1)
    assert data["calls"][0]["calls"][1]["calls"][0]["function"] == "draw"
    assert data["calls"][0]["arguments"] == {"text": "'<b>&\u202e'"}


def test_a_chrome_trace_has_an_event_a_call_in_microseconds() -> None:
    events = json.loads(json.dumps(as_chrome(PATH)))["traceEvents"]
    assert [event["name"] for event in events] == ["whole", "step", "draw", "step", "draw", "step"]
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert (events[2]["ts"], events[2]["dur"]) == (750_000, 250_000)


def test_otlp_is_opentelemetrys_own_message() -> None:
    data = json.loads(json.dumps(as_otlp(PATH)))
    (resource,) = data["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans = scope["spans"]
    for span in spans:
        assert int(span["traceId"], 16) and len(span["traceId"]) == 32 and len(span["spanId"]) == 16
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in span:
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    ParseDict(data, ExportTraceServiceRequest())
    by_id = {span["spanId"]: span for span in spans}
    parents = {span["name"]: by_id[span["parentSpanId"]]["name"] for span in spans
               if "parentSpanId" in span}  # fmt: skip
    assert parents == {"whole": "recording", "step": "whole", "draw": "step"}
    whole = next(span for span in spans if span["name"] == "whole")
    assert int(whole["startTimeUnixNano"]) == PATH.began + 500_000_000
    assert int(whole["endTimeUnixNano"]) == PATH.began + 3_500_000_000
    assert {"key": "code.line.number", "value": {"intValue": "7"}} in whole["attributes"]


def test_the_command_prints_the_path_and_writes_its_files(tmp_path, capsys) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("json", "otlp", "chrome")}
    options = [text for name, file in files.items() for text in (f"--{name}", str(file))]
    arguments = ["path", "--prompt", "Who are you?", "--chat", "--max-new-tokens", "2"]
    assert main([*arguments, *options, "--depth", "4"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    starts = ("== The request", "== Model and", "== The chat", "== The text", "== The loop")
    for start in (*starts, "-> messages"):
        assert any(line.strip().startswith(start) for line in lines), start
    assert "finish reason length" in printed.err
    assert all(json.loads(file.read_text()) for file in files.values())


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--depth", "0"], "--depth is at least 1"), (["--otlp", "/nowhere/x"], "can't be written")],
)
def test_bad_options_give_one_sentence(capsys, options: list[str], says: str) -> None:
    assert main(["path", "--prompt", "a", *options]) == 2
    assert says in capsys.readouterr().err
