"""Atomic replacement of files, and rounding of the numbers in them."""

from __future__ import annotations

import json
import math
import os
import secrets
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..language import N_, Message
from .errors import DecodingError
from .validation import brief

_LONGEST_NAME = 200
# The system's words for the usual reasons, which Python gives in English.
SYSTEM_REASONS = (
    N_("Address already in use"),
    N_("Cannot assign requested address"),
    N_("Connection refused"),
    N_("File name too long"),
    N_("Input/output error"),
    N_("Is a directory"),
    N_("No space left on device"),
    N_("No such file or directory"),
    N_("Not a directory"),
    N_("Operation not permitted"),
    N_("Permission denied"),
    N_("Read-only file system"),
)


def write_file(path: str | Path, content: bytes | str) -> None:
    """Write a temporary file and rename it to the path; text is encoded as UTF-8.

    A symbolic link stays a link, and a file keeps its permissions. Devices, pipes, and files in a
    folder that allows no new file are written in place.

    Raises:
        OSError: the file can't be written, for example on a full disk; the error names the file.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        if _in_place(Path(path), target):
            target = Path(path)
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        error.filename = str(path)
        raise


def save_file(path: str | Path, content: bytes | str) -> None:
    """Write a file as `write_file` does, for a caller of the Python interface.

    Raises:
        DecodingError: it can't be written; the sentence names the file and the reason.
    """
    try:
        write_file(path, content)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def shown(path: str | Path) -> str:
    """Return a path for a message: one printable line."""
    name = str(path)
    return name if name.isprintable() and len(name) <= _LONGEST_NAME else brief(name)


def unwritable(path: str | Path, error: OSError | ValueError) -> DecodingError:
    """Return the error for a file that can't be written, with the reason."""
    return DecodingError(
        Message("{path} can't be written: {reason}.", path=shown(path), reason=reason_of(error))
    )


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason why a file can't be opened or written, as the end of a sentence."""
    if words := getattr(error, "strerror", None):
        return Message(words)
    if isinstance(error, OSError):
        return type(error).__name__
    return Message("no file can have that name")


def own_json(path: str | Path, what: Message, error: type[DecodingError]) -> Any:
    """Return the values of a JSON file of any size that the user or the project wrote.

    Args:
        what: name of the file for the error sentence.

    Raises:
        error: the file can't be opened, or isn't JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as failed:
        raise error(
            Message("{what} can't be opened: {reason}.", what=what, reason=reason_of(failed))
        ) from None
    except (ValueError, RecursionError):
        raise error(Message("{what} is not JSON text.", what=what)) from None


def _in_place(path: Path, target: Path) -> bool:
    # /dev/stdout links to the standard output, which may be a regular file.
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    return target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK))


def _replace(target: Path, data: bytes) -> None:
    before = target.stat() if target.exists() else None
    if before and not os.access(target, os.W_OK):
        target.open("ab").close()  # Raises an error with the reason.
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
        if before:
            with suppress(OSError):
                os.chown(part, before.st_uid, before.st_gid)
            part.chmod(stat.S_IMODE(before.st_mode))
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def finite_values(value: Any) -> Any:
    """Replace the floats in nested JSON values that JSON lacks: infinity by the word `inf` or
    `-inf`, and NaN by None.
    """
    if isinstance(value, dict):
        return {key: finite_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite_values(item) for item in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def rounded_values(value: Any, digits: int, exact: Collection[str] = ()) -> Any:
    """Round every float in nested JSON values to `digits` significant digits.

    Args:
        exact: keys of objects whose values stay unchanged.
    """
    if isinstance(value, dict):
        return {
            name: item if name in exact else rounded_values(item, digits, exact)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [rounded_values(item, digits, exact) for item in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
