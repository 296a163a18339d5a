"""`python -m core` where its streams are full, closed or broken: one sentence, 1 or 2, no trace."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from core.cli import main as command
from core.cli.main import main
from core.cli.spreading import progress_of
from core.traces.file import read_trace
from tests.models.remote import faults
from tests.models.remote.servers import serving

ROOT = Path(__file__).parent.parent
STORED = ROOT / "tests/traces/data/greedy.json"
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this machine has no /dev/full")


@pytest.fixture
def decode(folder) -> list[str]:
    return ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "4"]


@needs_full
def test_a_full_disk_behind_stdout_is_one_sentence(decode, monkeypatch, capsys) -> None:
    # The second prints at its end only.
    for arguments in (decode, ["check", str(STORED)]):
        with FULL.open("w") as full, monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", full)
            assert main(arguments) == 1
        errors = capsys.readouterr().err
        assert errors == "python -m core: The output can't be written: No space left on device.\n"


def test_closed_streams_are_refused_or_done_without(decode, monkeypatch, capsys) -> None:
    for name, words in (("stdout", "Standard output"), ("stdin", "Standard input")):
        with monkeypatch.context() as patch:
            patch.setattr(sys, name, None)
            assert main([*decode, "--prompt", "-"]) == 2
        assert f"{words} is closed" in capsys.readouterr().err


def test_a_prompt_that_never_ends_is_refused(decode, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 10_000_001)))
    assert main([*decode, "--prompt", "-"]) == 2
    assert "more than 10,000,000 characters" in capsys.readouterr().err


def test_an_error_that_no_stream_raised_is_not_hidden(monkeypatch) -> None:
    missing = FileNotFoundError(2, "No such file", "weights")
    monkeypatch.setattr(command.check, "run", Mock(side_effect=missing))
    with pytest.raises(FileNotFoundError):
        main(["check", "x"])


@pytest.mark.parametrize(
    ("shell", "code", "words"),
    [
        (
            "check x --device cpu >&-",
            2,
            "Standard output is closed; give the text somewhere to go.\n",
        ),
        ("check x --device cpu 2>&-", 2, ""),
        ("check x --device cpu 2>/dev/full", 2, ""),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="it needs a shell")
def test_streams_of_a_shell(shell, code, words) -> None:
    """None of them loads torch: each takes a second."""
    command = ["bash", "-c", f"{sys.executable} -m core {shell}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr.removeprefix("python -m core: ")) == (code, words)
    assert done.stdout == ""


def test_a_pipe_that_nobody_reads_is_no_error_to_tell_of(decode, monkeypatch, capsys) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "stdout", os.fdopen(writer, "w"))
    assert main(decode) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        ImportError("libtorch.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_one_sentence(decode, error, monkeypatch, capsys) -> None:
    monkeypatch.setattr("core.load_model", Mock(side_effect=error))
    assert main(decode) == 1
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1 and "too little memory" in errors


def test_ctrl_c_stops_with_a_word(decode, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", Mock(**{"buffer.read.side_effect": KeyboardInterrupt}))
    assert main([*decode, "--prompt", "-"]) == 130
    assert capsys.readouterr().err == "\nstopped\n"


class Pressing(io.TextIOWrapper):
    """A standard output whose reader presses Ctrl+C during the second write."""

    pieces = 0

    def write(self, text: str) -> int:
        self.pieces += 1
        if self.pieces == 2:
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_an_error_that_follows_from_ctrl_c_is_no_fault(decode, monkeypatch, capsys) -> None:
    def load(*_: object, **__: object) -> object:
        # As an import that is broken off half-way.
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise ModuleNotFoundError("Could not import module")

    monkeypatch.setattr("core.load_model", load)
    usual = signal.getsignal(signal.SIGINT)
    assert main(decode) == 130
    assert capsys.readouterr().err == "\nstopped\n"
    assert signal.getsignal(signal.SIGINT) is usual


def test_ctrl_c_saves_the_trace_of_what_was_decoded(decode, tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "run.json"
    monkeypatch.setattr(sys, "stdout", Pressing(io.BytesIO(), "utf-8"))
    assert main([*decode, "--json", str(out)]) == 130
    trace = read_trace(out)
    assert (trace.finish_reason, len(trace.token_ids)) == ("cancelled", 1)
    assert capsys.readouterr().err.endswith(f"stopped\n[written to {out}]\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_server_that_dies_in_the_middle_exits_2_and_saves_what_is_there(tmp_path) -> None:
    out = tmp_path / "run.json"
    with serving() as (url, script):
        arguments = ["decode", "--model", f"vllm:{url}#target", "--prompt", "The fox"]
        arguments += ["--max-new-tokens", "6", "--json", str(out)]
        assert main(arguments) == 0
        script.fail(faults.status(401), after=script.completions - 2)
        assert main(arguments) == 2
    assert read_trace(out).finish_reason == "cancelled"


def test_a_file_named_minus_is_standard_output_and_the_text_goes_to_stderr(
    decode, tmp_path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*decode, "--json", "-"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["text"] in printed.err
    monkeypatch.setattr(command.figure, "_save_one", lambda *args, **_: args[3].write_text("<svg"))
    assert main(["figure", str(STORED), "--figure", "heatmap", "--out", "-"]) == 0
    assert capsys.readouterr().out.startswith("<svg")
    assert main(["path", *decode[1:], "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"]
    assert list(tmp_path.iterdir()) == []
    assert main(["path", *decode[1:], "--json", "-", "--otlp", "-"]) == 2
    assert "give - to one option only" in capsys.readouterr().err


def test_progress_without_a_terminal_is_a_line_at_intervals(capsys) -> None:
    times = iter([0.0, 1.0, 11.0, 11.0, 12.0])
    show = progress_of(3, lambda: next(times))
    for ended in (1, 2, 3):
        show(None, ended)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["2 of 3 runs", "3 of 3 runs"]


@pytest.mark.parametrize("option", [["--temperature", "0.5"], ["--seed", "3"]])
def test_one_greedy_sample_takes_no_option_of_drawn_ones(option, tmp_path, capsys) -> None:
    out = tmp_path / "s.jsonl"
    assert main(["sweep", "--out", str(out), *option]) == 2
    words = f"{option[0]} does nothing in one sample, which is greedy; use --samples 2 or more."
    assert words in capsys.readouterr().err and not out.exists()
    # Before the model is loaded, as that the file can't be written.
    assert main(["sweep", "--model", "/none", "--out", "/no/such/folder/s.jsonl"]) == 2
    assert "s.jsonl can't be written: No such file or directory" in capsys.readouterr().err
