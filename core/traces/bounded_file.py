"""Read untrusted files with a size limit, and refuse devices."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from ..decoding.errors import DecodingError
from ..decoding.files import reason_of, shown
from ..language import Message


def file_bytes(path: str | Path, limit: int, what: Message, error: type[DecodingError]) -> bytes:
    """Return the bytes of a file of at most `limit` bytes.

    Args:
        what: the kind of file in messages, such as `trace file`.
        error: class of the error to raise.

    Raises:
        error: the file can't be opened, is a device, or is larger.
    """
    try:
        with Path(path).open("rb") as file:
            # A device such as /dev/zero never ends; a pipe does.
            mode = os.fstat(file.fileno()).st_mode
            device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            data = b"" if device else file.read(limit + 1)
    except (OSError, ValueError) as found:
        raise error(
            Message(
                "The {what} {path} can't be opened: {reason}.",
                what=what,
                path=shown(path),
                reason=reason_of(found),
            )
        ) from None
    if device:
        raise error(
            Message("The {what} {path} is a device, not a file.", what=what, path=shown(path))
        )
    return within(data, limit, what, error)


def bytes_of(
    source: bytes | str | Path, max_bytes: int, what: Message, error: type[DecodingError]
) -> bytes:
    """Return `source` if it is bytes, else the bytes of the file at this path.

    Raises:
        error: as `within` and `file_bytes`.
    """
    if isinstance(source, bytes):
        return within(source, max_bytes, what, error)
    return file_bytes(source, max_bytes, what, error)


def within(data: bytes, limit: int, what: Message, error: type[DecodingError]) -> bytes:
    """Return the bytes if there are at most `limit`; else raise `error`."""
    if len(data) > limit:
        raise error(
            Message(
                "The {what} is larger than the {limit:g} MB that are allowed.",
                what=what,
                limit=limit / 1000000.0,
            )
        )
    return data


def text_of(data: bytes) -> str:
    """Decode UTF-8 text, or UTF-16 text with a byte order mark; remove the mark.

    Raises:
        UnicodeDecodeError: it is neither.
    """
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if utf16 else "utf-8-sig")


def require_sparse(
    data: bytes | str, what: Message, error: type[DecodingError], most: int | None = None
) -> None:
    """Refuse JSON that is mostly brackets before parsing: 1 MB of them takes seconds.

    Args:
        most: limit on lists and objects; by default one for 20 bytes (traces have one for 70).
    """
    limit = max(100_000, len(data) // 20) if most is None else most
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if raw.count(b"[") + raw.count(b"{") > limit:
        raise error(
            Message(
                "The {what} holds more than the {limit:,} lists and objects that are allowed.",
                what=what,
                limit=limit,
            )
        )
