"""`python -m core many`: what it prints, its file of traces, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import read_trace
from core.cli.main import main
from core.traces.many_file import read_many
from tests.models.remote.servers import serving


def _arguments(folder: str, *more: str) -> list[str]:
    tokens = ["--max-new-tokens", "6"]
    return ["many", "--model", folder, "--prompt", "the fox", *tokens, *more]


def test_greedy_runs_give_one_verdict_and_a_trace_a_line(folder, tmp_path: Path, capsys) -> None:
    out = tmp_path / "runs.jsonl"
    assert main(_arguments(folder, "--times", "5", "--jsonl", str(out))) == 0
    printed = capsys.readouterr()
    many = read_many(out)
    assert printed.out.startswith("5 of 5 runs gave the same 6 tokens.")
    assert printed.out.rstrip().endswith(many.traces[0].text.rstrip())
    assert many.count == 5 and len(many.texts) == 1
    assert all(read_trace(row) for row in out.read_bytes().splitlines())
    assert "run 5 of 5" in printed.err


def test_seeds_give_texts_with_their_seeds_and_forks(folder, tmp_path: Path, capsys) -> None:
    out = tmp_path / "runs.jsonl"
    more = ["--method", "sampling", "--seed", "7", "--times", "8", "--vary", "seed"]
    assert main(_arguments(folder, *more, "--jsonl", str(out))) == 0
    many, printed = read_many(out), capsys.readouterr().out
    assert [trace.config.seed for trace in many.traces] == list(range(7, 15))
    assert printed.count("fork at token") == len(many.forks) > 0
    assert "seed 7" in printed and "margin" in printed


def test_a_grid_writes_each_combination(folder, tmp_path: Path, capsys) -> None:
    out = tmp_path / "runs.jsonl"
    grid = ["--grid", "temperature=0.2,1.5", "top-p=0.5,1"]
    assert main(_arguments(folder, "--method", "sampling", *grid, "--jsonl", str(out))) == 0
    assert [tuple(row.values()) for row in read_many(out).settings] == [
        ("0.2", "0.5"),
        ("0.2", "1"),
        ("1.5", "0.5"),
        ("1.5", "1"),
    ]
    assert "temperature 0.2; top-p 0.5" in capsys.readouterr().out


def test_the_number_type_of_the_option_is_one_of_those_that_vary(
    folder, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "runs.jsonl"
    more = ["--times", "2", "--vary", "dtype", "--dtype", "float16", "--jsonl", str(out)]
    assert main(_arguments(folder, *more)) == 0
    assert [trace.dtype for trace in read_many(out).traces] == ["float32", "float16"]
    assert "float16" in capsys.readouterr().out


@pytest.mark.parametrize("vary", ["batch", "threads"])
def test_a_server_refuses_to_vary_its_computing(vary: str, capsys) -> None:
    with serving() as (url, _):
        model = f"vllm:{url}?tokenizer=embedded:target#target"
        assert main(_arguments(model, "--times", "4", "--vary", vary)) == 2
        assert "A server chooses its batches and threads by itself" in capsys.readouterr().err
        assert main(_arguments(model, "--times", "2")) == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ([], "--times"),
        (["--times", "3", "--grid", "top_p=0.5,1"], "--times"),
        (["--grid", "top_p=0.5,1", "--vary", "batch"], "--vary belongs to --times"),
        (["--grid", "top_p=0.5", "top-p=0.9"], "--grid names top_p twice"),
        (["--times", "101"], "2 to 100"),
        (["--times", "3", "--vary", "seed"], "Nothing is drawn"),
        (["--grid", "seed=1,2"], "A grid varies"),
        (["--grid", "top_p=x"], "numbers with commas"),
        (["--times", "3", "--num-beams", "2"], "Many runs are of"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(folder, capsys, more, words) -> None:
    assert main(_arguments(folder, *more)) == 2
    printed = capsys.readouterr()
    assert words in printed.err and printed.out == ""
