"""Files are written whole or not at all."""

from __future__ import annotations

import math
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from core import DecodingError, Trace, save_figure
from core.decoding.files import finite_values, write_file
from core.figures import uncertainty

ROOT = Path(__file__).parents[2]


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, in bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_file_that_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"before" * 2000)
    with full_after(4096), pytest.raises(OSError, match="File too large"):
        write_file(path, "after" * 2000)
    assert path.read_bytes() == b"before" * 2000
    assert os.listdir(tmp_path) == ["trace.json"]


def test_the_python_interface_says_in_a_sentence_what_it_cannot_write(tmp_path: Path) -> None:
    trace = Trace.load(ROOT / "assets/traces/decode.json")
    (tmp_path / "file").write_text("")
    for folder in ("missing", "file"):
        path = tmp_path / folder / "run.json"
        for save in (trace.save, partial(save_figure, partial(uncertainty, trace))):
            target = path if save == trace.save else path.with_suffix(".html")
            with pytest.raises(DecodingError, match=r"can't be written: [A-Z][a-z ]+\.$"):
                save(target)
    with pytest.raises(DecodingError, match="no file can have that name"):
        trace.save("a\0b")


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path: Path) -> None:
    existing, new, usual = (tmp_path / name for name in ("own", "new", "usual"))
    existing.write_text("before")
    existing.chmod(0o640)
    usual.write_text("")
    for path in (existing, new):
        write_file(path, "é")
        assert path.read_bytes() == "é".encode()
    assert stat.S_IMODE(existing.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder/target", tmp_path / "link"
    link.symlink_to(target)
    for text in ("new", "again"):
        write_file(link, text)
        assert link.is_symlink() and target.read_text() == text


def test_a_pipe_and_standard_output_take_what_is_written(tmp_path: Path) -> None:
    code = "from core.decoding.files import write_file; write_file('/dev/stdout', 'text')"
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert out.read_text() == "text"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"text"
    write_file("/dev/null", "text")
    assert Path("/dev/null").is_char_device()


# What writes straight: the writer itself, and files in a temporary folder.
IN_PLACE = {
    "core/decoding/files.py",
    *("core/export/drawing/render.py", "core/export/worksheet/sheet.py"),  # typst's folders
}


def test_every_writer_of_the_core_writes_beside() -> None:
    root = Path(__file__).parents[2]
    assert {
        path.relative_to(root).as_posix()
        for path in (root / "core").rglob("*.py")
        if any(word in path.read_text("utf-8") for word in (".write_text(", ".write_bytes("))
    } == IN_PLACE


def test_infinite_numbers_are_words_and_nan_is_null() -> None:
    values = {"kl": math.inf, "rows": [(-math.inf, 1.5), math.nan, None, 2, "inf"]}
    assert finite_values(values) == {"kl": "inf", "rows": [["-inf", 1.5], None, None, 2, "inf"]}
