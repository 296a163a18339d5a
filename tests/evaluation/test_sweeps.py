"""Sweeps: every run once, whenever it is stopped or killed, and what the rows add up to."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from core import ConfigError, Reasoning, collect
from core.decoding.errors import ProblemError, SweepError
from core.decoding.reasoning.config import MARK_TOKENS
from core.evaluation import row_file
from core.evaluation.attempts import attempt_of
from core.evaluation.questions.problems import read_problems
from core.evaluation.runner import missing
from core.evaluation.scoring.intervals import wilson, wilson_of_groups
from core.evaluation.strict_json import to_json
from core.evaluation.sweep.curves import curve, curves_by_steps, frame_of
from core.evaluation.sweep.files import SWEEPS, read_sweep
from core.evaluation.sweep.run import run_sweep, sweep_to_file
from core.evaluation.sweep.types import SweepPlan
from core.evaluation.types import OUTCOMES, Problem, ProblemSet
from tests.evaluation.thinkers import ID, THINKS, following

ROOT = Path(__file__).parents[2]
PROBLEMS = ProblemSet(
    "two", (Problem("one", "q", "4", steps=1), Problem("two", "qq", "2", steps=2))
)
EVEN = {"a": 0.4, "b": 0.3, "</think>": 0.3}


def model(**chain):
    """Its questions are rows of "q"; it answers 4, having thought of as and bs."""
    made = following({**THINKS, "a": EVEN, "b": {"c": 0.9, "</think>": 0.1}, **chain})
    made.encode = lambda text: (
        [ID["q"]] * len(text.strip()) if text.startswith("q") else type(made).encode(made, text)
    )
    return made


def plan(**changes) -> SweepPlan:
    config = Reasoning(do_sample=True, max_answer_tokens=4)
    return replace(SweepPlan("scripted", PROBLEMS, config, (0, 1, 2, 5), samples=3), **changes)


def without_seconds(rows):
    return sorted((replace(row, seconds=0.0) for row in rows), key=str)


def places(rows):
    return [(row.problem, row.budget, row.sample) for row in rows]


def test_every_run_has_one_row_that_equals_its_own_run() -> None:
    sweep = run_sweep(model(), plan(), batch=5)
    assert sweep.complete and len(sweep.rows) == 24
    assert max(Counter(places(sweep.rows)).values()) == 1
    questions = {problem.key: problem for problem in PROBLEMS.problems}
    for row in sweep.rows:
        ids = [ID["q"]] * len(questions[row.problem].question)
        trace = collect(model(), ids, sweep.plan.config_of(row.budget, row.sample))
        alone = attempt_of(questions[row.problem], trace)
        for name in ("answer", "outcome", "tokens", "thinking_tokens", "forced_tokens"):
            assert getattr(row, name) == getattr(alone, name), name
        assert row.thinking_tokens <= row.budget
        assert row.closed_by_budget == alone.closed_by_budget
        assert row.mean_logprob == pytest.approx(alone.mean_logprob, abs=1e-4)


@pytest.mark.parametrize("forwards", [1, 4, 9, 14, 20])
def test_a_sweep_that_is_stopped_goes_on_without_redoing_or_losing_a_row(forwards) -> None:
    whole = run_sweep(model(), plan(), batch=5)
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls >= forwards

    half = run_sweep(model(), plan(), batch=5, should_stop=stop)
    known = without_seconds(whole.rows)
    assert not half.complete and all(row in known for row in without_seconds(half.rows))
    heard: list[int] = []
    resumed = run_sweep(model(), plan(), half.rows, batch=5, on_row=lambda _, n: heard.append(n))
    assert resumed.complete and resumed.rows[: len(half.rows)] == half.rows
    assert without_seconds(resumed.rows) == without_seconds(whole.rows)
    assert heard == list(range(len(half.rows) + 1, 25))
    assert missing(plan(), resumed.rows) == []


def sweep_until_killed(path: Path, after: int) -> None:
    """Sweep into the file in a process of its own, killed once so many new rows are there."""
    code = (
        "import os, signal, sys; from tests.evaluation import test_sweeps as t;"
        "new = [];"
        "kill = lambda *_: new.append(1) or len(new) < int(sys.argv[2])"
        " or os.kill(os.getpid(), signal.SIGKILL);"
        "t.sweep_to_file(t.model(), t.plan(), sys.argv[1], on_row=kill)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path), str(after)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_killed_sweep_goes_on_from_its_file(tmp_path) -> None:
    path, whole = tmp_path / "s.jsonl", run_sweep(model(), plan())
    sweep_until_killed(path, 7)
    with path.open("ab") as file:
        file.write(b'[5,"one",')
    before = path.read_bytes()
    assert len(read_sweep(path).rows) == 7
    done = sweep_to_file(model(), plan(), path)
    assert done.complete and len(done.rows) == 24
    after_bytes = path.read_bytes()
    assert after_bytes.startswith(before[: before.rfind(b"\n") + 1])
    assert after_bytes.count(b"\n") == 25
    stored = read_sweep(path)
    assert stored.plan == plan() and max(Counter(places(stored.rows)).values()) == 1
    rounded = [SWEEPS.row_from_json(SWEEPS.row_to_json(row)) for row in whole.rows]
    assert without_seconds(stored.rows) == without_seconds(rounded)
    assert sweep_to_file(model(), plan(), path).rows == stored.rows
    assert path.read_bytes() == after_bytes


def test_a_file_that_a_sweep_is_writing_is_left_to_it(tmp_path) -> None:
    path, refused = tmp_path / "s.jsonl", []

    def another(*_: object) -> None:
        with pytest.raises(SweepError, match="Another sweep is writing"):
            sweep_to_file(model(), plan(samples=1), path)
        refused.append(True)

    assert sweep_to_file(model(), plan(samples=1), path, on_row=another).complete
    assert len(refused) == len(read_sweep(path).rows) == 8


@pytest.mark.parametrize("rows", [0, -1])
def test_no_run_at_once_is_refused_before_the_file_is_made(rows, tmp_path) -> None:
    with pytest.raises(ConfigError, match=f"must be 1 or more, got {rows}"):
        sweep_to_file(model(), plan(), tmp_path / "s.jsonl", batch=rows)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="1 or more"):
        run_sweep(model(), plan(), batch=rows)


def test_a_sweep_killed_while_it_wrote_its_plan_starts_anew(tmp_path) -> None:
    path = tmp_path / "s.jsonl"
    sweep_to_file(model(), plan(samples=1), path)
    header = path.read_bytes().splitlines()[0]
    for length in (0, 5, len(header) - 1):
        path.write_bytes(header[:length])
        assert sweep_to_file(model(), plan(samples=1), path).complete
        assert len(read_sweep(path).rows) == 8


def test_a_file_with_another_plan_or_other_bytes_is_left_alone(tmp_path) -> None:
    path = tmp_path / "s.jsonl"
    sweep_to_file(model(), plan(samples=1), path)
    held = path.read_bytes()
    with pytest.raises(SweepError, match="another plan"):
        sweep_to_file(model(), plan(samples=2), path)
    assert path.read_bytes() == held
    for content in (b"my notes", b"my notes\n", b"[1]\n", b'{"schema":"x"}\n'):
        path.write_bytes(content)
        with pytest.raises(SweepError):
            sweep_to_file(model(), plan(), path)
        assert path.read_bytes() == content
    with pytest.raises(SweepError, match="can't be opened"):
        sweep_to_file(model(), plan(), tmp_path / "none" / "s.jsonl")


def test_a_stranger_s_file_is_refused_with_its_line(tmp_path) -> None:
    path = tmp_path / "s.jsonl"
    sweep_to_file(model(), plan(samples=1), path)
    header, first, *_ = path.read_bytes().splitlines()
    for line, words in (
        (b"{", "^Line 2 of the sweep is not JSON.$"),
        (b"[]", "Line 2 of the sweep is invalid"),
        (first.replace(b"[0,", b"[7,", 1), "no run of its plan"),
        (first.replace(b'"one"', b'"three"'), "no run of its plan"),
        (first.replace(b'"4"', b'"5"'), "no run of its plan"),
        (first + b"\n" + first, "Line 3"),
        (first.replace(b"[0,", b'["0",', 1), "budget"),
        (first.replace(b'"eos"', b'"tired"'), "finish_reason"),
        (b"[" * 100_000, "Line 2"),
    ):
        with pytest.raises(SweepError, match=words) as error:
            read_sweep(header + b"\n" + line + b"\n")
        assert not str(error.value).endswith("..")
    with pytest.raises(SweepError, match="larger"):
        read_sweep(b" " * 20_000_001)
    with pytest.raises(SweepError, match="can't be opened"):
        read_sweep(Path("nothing-here.jsonl"))


def test_the_loop_s_own_bound_closes_nothing_and_cuts_runs_off() -> None:
    config = Reasoning(ignore_end=2, wait_text="Wait,")
    cut = plan(budget_field="max_new_tokens", budgets=(1, 4, 9), config=config, samples=1)
    rows = [row for row in run_sweep(model(a="b", b="c"), cut).rows if row.problem == "one"]
    # "<think>abc</think>4." and the end are eight tokens.
    assert [(row.budget, row.tokens, row.outcome) for row in rows] == [
        (1, 1, "truncated"),
        (4, 4, "truncated"),
        (9, 8, "correct"),
    ]
    assert not any(row.closed_by_budget for row in rows)
    # The opening mark alone.
    assert {row.forced_tokens for row in rows} == {1}


def test_a_thinking_budget_beyond_the_loop_s_bound_is_still_closed() -> None:
    config = Reasoning(max_new_tokens=20, max_answer_tokens=4)
    long = plan(budgets=(5, 50), config=config, samples=1)
    rows = run_sweep(model(a="b", b="a"), long).rows
    assert [row.thinking_tokens for row in rows if row.budget == 50] == [50, 50]
    assert all(row.closed_by_budget and row.outcome != "truncated" for row in rows)
    assert long.config_of(5, 0).max_new_tokens == 5 + 4 + MARK_TOKENS


def test_a_curve_counts_the_rows() -> None:
    sweep = run_sweep(model(), plan())
    points = curve(sweep.rows)
    assert [point.budget for point in points] == [0, 1, 2, 5]
    for point in points:
        rows = [row for row in sweep.rows if row.budget == point.budget]
        assert point.correct.total == len(rows) == sum(point.outcomes.values()) == 6
        assert list(point.outcomes) == list(OUTCOMES)
        assert point.correct.hits == point.outcomes["correct"] == 3
        assert point.tokens == pytest.approx(sum(row.tokens for row in rows) / 6)
        assert point.seconds == pytest.approx(sum(row.seconds for row in rows) / 6)
        # Both problems have three samples: one is always right, the other never.
        assert point.correct == wilson_of_groups([(3, 3), (0, 3)])
        assert point.correct.low == pytest.approx(wilson(1, 2).low)
    by_steps = curves_by_steps(sweep.rows)
    assert list(by_steps) == [1, 2]
    assert all(point.correct.value == 1 for point in by_steps[1])
    assert all(point.correct.value == 0 for point in by_steps[2])
    assert curve([]) == ()


def test_the_frame_has_a_row_for_every_run() -> None:
    sweep = run_sweep(model(), plan(samples=1))
    frame = frame_of(sweep.rows)
    assert list(frame.columns[:4]) == ["budget", "problem", "steps", "sample"]
    assert list(frame["tokens"]) == [row.tokens for row in sweep.rows]
    assert list(frame_of([]).columns) == list(frame.columns)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"budgets": ()}, "budgets must rise"),
        ({"budgets": (3, 3)}, "budgets must rise"),
        ({"budgets": (-1, 3)}, "budgets must rise"),
        ({"budgets": (0, 3), "budget_field": "max_new_tokens"}, "rise from 1"),
        ({"budgets": (99_981,), "config": Reasoning(), "samples": 1}, "at most 99920"),
        ({"budgets": (100_001,), "budget_field": "max_new_tokens"}, "at most 100000"),
        ({"samples": 0}, "samples"),
        ({"samples": 2, "config": Reasoning()}, "samples must be 1"),
        ({"samples": 99_999}, "at most 100,000 runs"),
        ({"problems": ProblemSet("none", ())}, "set is empty"),
    ],
)
def test_a_plan_that_can_t_be_run_is_refused(changes, words) -> None:
    with pytest.raises(ConfigError, match=words):
        plan(**changes)


def test_plans_survive_json_and_others_are_refused() -> None:
    assert SWEEPS.plan_from_json(to_json(plan())) == plan()
    for change in ({"budgets": [5, 1]}, {"samples": "3"}, {"config": {"max_new_tokens": 0}}):
        with pytest.raises(SweepError, match="plan is invalid"):
            SWEEPS.plan_from_json({**to_json(plan()), **change})


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "/dev/zero"])
def test_a_device_holds_no_sweep_and_no_problems(device: str) -> None:
    if not Path(device).exists():
        pytest.skip("this machine has no such device")
    for read, error in ((read_sweep, SweepError), (read_problems, ProblemError)):
        with pytest.raises(error, match=f"{device} is a device, not a file"):
            read(device)
    with pytest.raises(SweepError, match=f"{device} can't hold the rows of the sweep"):
        sweep_to_file(model(), plan(), device)


class Full:
    """A disk that has room for so many more bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room, self._write = room, os.write
        monkeypatch.setattr(row_file.os, "write", self)

    def __call__(self, descriptor: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(descriptor, data[: self.room])
        self.room -= written
        return written


def test_a_full_disk_loses_no_row_that_was_reported(tmp_path, monkeypatch) -> None:
    path, reported = tmp_path / "s.jsonl", []
    with monkeypatch.context() as patch:
        Full(patch, 2000)
        with pytest.raises(SweepError, match="can't be written: No space left on device") as error:
            sweep_to_file(model(), plan(), path, on_row=lambda row, _: reported.append(row))
    assert "rows before are kept" in str(error.value)
    assert 0 < len(reported) < 24
    assert places(read_sweep(path).rows) == places(reported)
    whole = sweep_to_file(model(), plan(), path)
    assert whole.complete and places(read_sweep(path).rows) == places(whole.rows)
