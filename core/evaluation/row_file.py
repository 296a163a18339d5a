"""A file of rows that is written as they come: locked, whole lines, resumable.

Whatever moment the program is killed at, the file holds whole lines and perhaps half of one at its
end; continuing drops that half.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any, BinaryIO

from core.decoding.errors import DecodingError
from core.decoding.validation import brief
from core.traces.bounded_file import reason_of, shown

# Where Windows locks: behind everything that a file may hold.
_LOCKED_AT = 20_000_000


def opened(path: Path, what: str, error: type[DecodingError]) -> BinaryIO:
    """The file, to be read and added to, held against every other writer until it is closed.

    Args:
        what: its content in a sentence, such as `sweep`.
        error: what is raised.

    Raises:
        error: it can't be opened, is no ordinary file, or another process is writing it.
    """
    try:
        file = path.open("a+b")
    except (OSError, ValueError) as found:
        reason = reason_of(found)
        raise error(f"The {what} {shown(path)} can't be opened: {reason}.") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        named = f"an {what}" if what[0] in "aeiou" else f"a {what}"
        raise error(f"{shown(path)} is no file that {named} can be kept in; name an ordinary one.")
    try:
        _hold(file)
    except OSError:
        file.close()
        raise error(
            f"Another {what} is writing {brief(str(path))}; wait for its end, or name another file."
        ) from None
    return file


def _hold(file: BinaryIO) -> None:
    """Lock a file; whatever ends the program ends the lock. Raises OSError if it is locked."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_LOCKED_AT)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_line(file: BinaryIO, data: Any, what: str, error: type[DecodingError]) -> None:
    """Add a line. Nothing of it waits in a buffer: what can't be written is known at once.

    Raises:
        error: the disk is full, or gone.
    """
    line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    try:
        while line:
            line = line[os.write(file.fileno(), line) :]
    except OSError as found:
        raise error(
            f"The {what} {shown(file.name)} can't be written: {reason_of(found)}; the rows before "
            "are kept, and the same command goes on behind them."
        ) from None


def whole_lines(file: BinaryIO, schema: str, limit: int) -> tuple[bytes, int]:
    """The file's bytes, and the length of its whole lines; 0 where not even the first is whole.

    The rest of a first line that was never finished counts as nothing; what begins otherwise is
    somebody else's file, and its length isn't 0.
    """
    file.seek(0)
    data = file.read(limit + 1)
    length = data.rfind(b"\n") + 1
    start = json.dumps({"schema": schema}, separators=(",", ":")).encode()[:-1]
    if not length and (data.startswith(start) or start.startswith(data)):
        return b"", 0
    return data, length


def parsed_line(line: bytes, number: int, what: str, error: type[DecodingError]) -> Any:
    """A line's value; raises `error` where it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise error(f"Line {number} of the {what} is not JSON.") from None
