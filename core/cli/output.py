"""Output of the command line: files, and streams that may be closed or full."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from core.decoding.errors import ConfigError, DecodingError
from core.traces.bounded_file import shown, unwritable

STDOUT = "-"
# What a stream says that nobody reads, whose disk is full, or that is gone.
BROKEN = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
NO_MEMORY = (
    "There was too little memory: give the program more (ulimit -v, a container's limit), or take "
    "a smaller model, fewer tokens or fewer runs."
)


class OutputError(DecodingError):
    """There is nowhere to write to."""


def require_writable(path: str, option: str) -> None:
    """Say before the run what would be said after it; leaves the file as it was.

    Raises:
        ConfigError: no file is named.
        DecodingError: it can't be written.
    """
    if not path:
        raise ConfigError(f"{option} needs the name of a file; give one, or leave it out.")
    if path == STDOUT:
        return
    existed = os.path.lexists(path)
    try:
        if not existed or Path(path).is_file() or Path(path).is_dir():
            with open(path, "ab"):
                pass
        if not existed:
            os.unlink(path)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


@contextmanager
def writing(path: str = "") -> Iterator[None]:
    """Make an OSError the sentence that this file, or the one that it names, can't be written."""
    try:
        yield
    except OSError as error:
        name = path or error.filename
        if name is None:
            raise
        raise unwritable(name, error) from None


@contextmanager
def written(path: str, suffix: str = "") -> Iterator[str]:
    """Yield the path of the file to write; for `-` its bytes go to standard output at the end.

    What is printed meanwhile goes to stderr, so that a pipe gets the file alone.

    Args:
        suffix: of the temporary file, where the format follows from the name.
    """
    if path != STDOUT:
        yield path
        return
    stdout = sys.stdout
    with TemporaryDirectory() as folder:
        file = Path(folder, f"stdout{suffix}")
        try:
            with redirect_stdout(sys.stderr):
                yield str(file)
        finally:
            if file.exists():
                stdout.flush()
                stdout.buffer.write(file.read_bytes())
                stdout.buffer.flush()


def say_written(path: str) -> None:
    """Report the written file on stderr; print nothing if it was standard output."""
    if path != STDOUT:
        say(f"[written to {shown(path)}]")


def require_streams() -> None:
    """See that stdout is open; what is said to a closed stderr goes nowhere.

    A file that is opened where stderr was would take what libraries write there.

    Raises:
        OutputError: stdout is closed.
    """
    if sys.stderr is None:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        if descriptor != 2:
            os.dup2(descriptor, 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if sys.stdout is None:
        raise OutputError("Standard output is closed; give the text somewhere to go.")


def say(sentence: str) -> None:
    """Print a line on stderr, if stderr takes it."""
    with suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


def drop_broken_streams() -> None:
    """Discard the buffers of broken streams, or the exit would fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
