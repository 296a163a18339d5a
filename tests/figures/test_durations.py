"""Times are the trace's own, in milliseconds."""

from dataclasses import replace

import pytest

from core.decoding.record.trace import Timings
from core.figures import timing, timing_data
from pages.ui.decode.state import median_run
from tests.figures.looking import annotations, trace_named
from tests.figures.traces import make_trace

ON, OFF = make_trace(20), make_trace(20, use_cache=False)
RUNS = [("cache on", ON), ("cache off", OFF)]


def test_runs_in_turns_show_their_median_and_their_spread() -> None:
    slow, quick, middle = (
        replace(ON, timings=Timings(by, 9.0 * by, 10.0 * by)) for by in (3.0, 1.0, 2.0)
    )
    assert median_run([slow, quick, middle]) is middle
    figure = timing([("on", middle), ("off", middle)], others=[[slow, quick, middle]] * 2)
    whiskers = trace_named(figure, "fastest to slowest")
    assert list(whiskers.x) == pytest.approx([20_000.0, 20_000.0])
    assert list(whiskers.error_x.array) == pytest.approx([10_000.0] * 2)
    assert list(whiskers.error_x.arrayminus) == pytest.approx([10_000.0] * 2)
    assert " ".join(annotations(figure)).replace("\u00a0", " ").count("median of 3 runs") == 2
    assert "median of" not in " ".join(annotations(timing(RUNS)))


def test_parts_add_up_to_prefill_and_decode():
    figure = timing(RUNS)
    prefill = trace_named(figure, "prefill").x
    assert list(prefill) == pytest.approx([1000 * ON.timings.prefill, 1000 * OFF.timings.prefill])
    for row, trace in enumerate((ON, OFF)):
        parts = [
            trace_named(figure, name).x[row] for name in ("forward", "shaping", "draw", "other")
        ]
        assert sum(parts) == pytest.approx(1000 * trace.timings.decode)
        later = [step.seconds for step in trace.token_steps[1:]]
        assert parts[:3] == pytest.approx(
            [1000 * sum(column) for column in zip(*later, strict=True)]
        )


def test_the_ratio_of_two_runs_is_told_whichever_is_slower():
    slow = replace(OFF, timings=Timings(0.1, 0.5, 0.6))
    quick = replace(ON, timings=Timings(0.1, 0.1, 0.2))
    for runs in ([("on", quick), ("off", slow)], [("off", slow), ("on", quick)]):
        assert "off takes 3.00 times as long" in " ".join(annotations(timing(runs)))
    assert "times as long" not in " ".join(annotations(timing(RUNS[:1])))


def test_lines_are_the_seconds_of_every_step():
    figure = timing(RUNS)
    for name, trace in RUNS:
        expected = [1000 * step.seconds.total for step in trace.token_steps]
        assert list(trace_named(figure, name).y) == pytest.approx(expected)
    # Runs differ in dash and marker too.
    on, off = trace_named(figure, "cache on"), trace_named(figure, "cache off")
    assert on.line.dash != off.line.dash
    assert on.marker.symbol != off.marker.symbol
    texts = [text.replace("\u00a0", " ") for text in annotations(figure)]
    assert any(f"{ON.tokens_per_second:,.0f} tokens/s" in text for text in texts)


def test_table_has_a_row_for_the_prompt_and_each_step():
    table = timing_data(RUNS)
    assert len(table) == 2 * 21
    on = table[(table["run"] == "cache on") & (table["part"] == "step")]
    assert on["total_s"].tolist() == [step.seconds.total for step in ON.token_steps]
