"""Output of the command line: files, and streams that may be closed or full."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ..decoding.errors import ConfigError, DecodingError
from ..decoding.files import shown, unwritable
from ..language import LANGUAGES, N_, Message, current, tr
from ..language.catalogue import ENGLISH
from ..language.columns import cut, text_columns

STDOUT = "-"
# Error codes of a stream without a reader, on a full disk, or closed.
BROKEN = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
# Marks of translations that the encodings of their languages lack.
_PLAIN_MARKS = {"−": "-", "·": "-", "\u00a0": " "}
NO_MEMORY = N_(
    "There was too little memory: give the program more (ulimit -v, a container's limit), or take "
    "a smaller model, fewer tokens or fewer runs."
)


class OutputError(DecodingError):
    """Standard output is closed."""


def add_language(parser: ArgumentParser) -> None:
    """Add `--lang`: a file is for any reader, so the environment doesn't choose its language."""
    parser.add_argument(
        "--lang",
        choices=list(LANGUAGES),
        default=ENGLISH,
        help="language of the file's texts (default: %(default)s)",
    )


def require_writable(path: str, option: str) -> None:
    """Check before the run that a file can be written; the file doesn't change.

    Raises:
        ConfigError: the file name is empty.
        DecodingError: the file can't be written.
    """
    if not path:
        raise ConfigError(
            Message("{option} needs the name of a file; give one, or leave it out.", option=option)
        )
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
    """Convert an OSError to an error that names this file, or the file in the OSError."""
    try:
        yield
    except OSError as error:
        name = path or error.filename
        if name is None:
            raise
        raise unwritable(name, error) from None


@contextmanager
def written(path: str, suffix: str = "") -> Iterator[str]:
    """Yield the path of the file to write; for `-`, copy the file to standard output at the end.

    With `-`, printed text goes to stderr, so that the pipe receives only the file.

    Args:
        suffix: suffix of the temporary file, if the name determines the format.
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
        say(tr("[written to {path}]", path=shown(path)))


def require_streams() -> None:
    """Require an open stdout; replace a closed stderr by the null device.

    Otherwise the next opened file could get stderr's descriptor, and the libraries' messages.

    Raises:
        OutputError: stdout is closed.
    """
    if sys.stderr is None:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        if descriptor != 2:
            os.dup2(descriptor, 2)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if sys.stdout is None:
        raise OutputError(N_("Standard output is closed; give the text somewhere to go."))


def printable(language: str) -> str:
    """Return a language, or English if a stream's encoding lacks the language's characters."""
    for stream in (sys.stdout, sys.stderr):
        try:
            LANGUAGES[language].encode(getattr(stream, "encoding", None) or "utf-8")
        except (UnicodeEncodeError, LookupError):
            return ENGLISH
    return language


def _plain_mark(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return the replacement of a character that an encoding lacks, as codecs ask for it."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in _PLAIN_MARKS:
        return _PLAIN_MARKS[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error("decoding_explorer.plain_mark", _plain_mark)


def replace_unencodable() -> None:
    """Let the streams replace characters that their encoding lacks, as a model may write any."""
    errors = "backslashreplace" if current() == ENGLISH else "decoding_explorer.plain_mark"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def say(sentence: str) -> None:
    """Print a line on stderr; ignore a broken stderr."""
    with suppress(OSError):
        print(sentence, file=sys.stderr, flush=True)


def drop_broken_streams() -> None:
    """Discard the buffers of broken streams, since flushing them at exit would fail."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def quoted(text: str, longest: int = 9) -> str:
    """Return a token's text in quotation marks, on one line and cut to a number of columns."""
    plain = repr(text)
    return plain if text_columns(plain) <= longest else f"{cut(plain, longest - 2)}…{plain[-1]}"
