"""`python -m core` where its streams are full, closed or broken: one sentence, 1 or 2, no trace."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from core.cli import main as command
from core.cli.main import main
from tests.models.builders import random_model, tiny_tokenizer

ROOT = Path(__file__).parent.parent
STORED = ROOT / "tests/traces/data/greedy.json"
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this machine has no /dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("model")
    random_model("llama").save_pretrained(path)
    tiny_tokenizer().save_pretrained(path)
    return str(path)


@pytest.fixture
def decode(folder) -> list[str]:
    return ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "4"]


@needs_full
def test_a_full_disk_behind_stdout_is_one_sentence(decode, monkeypatch, capsys) -> None:
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(decode) == 1
    said = capsys.readouterr().err
    assert said == "python -m core: The output can't be written: No space left on device.\n"


@needs_full
def test_what_is_printed_at_the_end_only_is_missed_as_well(monkeypatch, capsys) -> None:
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["check", str(STORED)]) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_closed_streams_are_refused_or_done_without(decode, monkeypatch, capsys) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(decode) == 2
    assert "Standard output is closed" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        assert main([*decode, "--prompt", "-"]) == 2
    assert "Standard input is closed" in capsys.readouterr().err


def test_a_prompt_that_never_ends_is_refused(decode, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 10_000_001))
    assert main([*decode, "--prompt", "-"]) == 2
    assert "more than 10,000,000 characters" in capsys.readouterr().err


def test_an_error_that_no_stream_raised_is_not_hidden(monkeypatch) -> None:
    def run(_: object) -> int:
        raise FileNotFoundError(2, "No such file", "weights")

    monkeypatch.setattr(command.check, "run", run)
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


class Broken(io.TextIOBase):
    """A pipe that nobody reads any more; what is dropped goes to the null device."""

    def __init__(self) -> None:
        self.null = os.open(os.devnull, os.O_WRONLY)

    def write(self, _: str) -> int:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def flush(self) -> None:
        self.write("")

    def fileno(self) -> int:
        return self.null


def test_a_pipe_that_nobody_reads_is_no_error_to_tell_of(decode, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdout", Broken())
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
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "too little memory" in said


def test_ctrl_c_stops_with_a_word(decode, monkeypatch, capsys) -> None:
    class Waiting(io.StringIO):
        def read(self, _: int | None = -1) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Waiting())
    assert main([*decode, "--prompt", "-"]) == 130
    assert capsys.readouterr().err == "\nstopped\n"


@pytest.mark.parametrize("option", [["--temperature", "0.5"], ["--seed", "3"]])
def test_one_greedy_sample_takes_no_option_of_drawn_ones(option, tmp_path, capsys) -> None:
    out = tmp_path / "s.jsonl"
    assert main(["sweep", "--out", str(out), *option]) == 2
    words = f"{option[0]} does nothing in one sample, which is greedy; use --samples 2 or more."
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_a_sweep_says_before_the_model_is_loaded_that_its_file_can_t_be_written(capsys) -> None:
    assert main(["sweep", "--model", "/none", "--out", "/no/such/folder/s.jsonl"]) == 2
    assert "s.jsonl can't be written: No such file or directory" in capsys.readouterr().err
