"""The models that were used last on this machine, for the picker."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock

from ..decoding.files import write_file
from .gguf.cache import user_cache
from .places import looks_like_path
from .remote.address import is_remote

_MOST = 5
_LONGEST = 4_096
_MOST_BYTES = 2**16
_LOCK = Lock()


def recent_file() -> Path:
    """Return the file that lists them; it may not be there."""
    return user_cache() / "recent.json"


def last_used() -> list[str]:
    """The newest first; none where the file can't be read."""
    with suppress(OSError, ValueError, RecursionError):
        with recent_file().open("rb") as file:
            names = json.loads(file.read(_MOST_BYTES))
        if isinstance(names, list):
            return [name for name in names if isinstance(name, str) and 0 < len(name) <= _LONGEST][
                :_MOST
            ]
    return []


def worth_offering() -> list[str]:
    """Return those used last without paths that are gone or lie in the temporary directory."""
    return [name for name in last_used() if not _is_leftover(name)]


def _is_leftover(name: str) -> bool:
    if is_remote(name) or not looks_like_path(name):
        return False
    try:
        place = Path(name).expanduser().resolve()
        temporary = Path(tempfile.gettempdir()).resolve()
        return not place.exists() or place.is_relative_to(temporary)
    except (OSError, RuntimeError, ValueError):  # The home of an unknown user, or no path at all.
        return True


def remember(where: str) -> None:
    """Put a model first, that it is offered again; in vain where nothing can be written."""
    with _LOCK, suppress(OSError):
        file = recent_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        names = [where, *(name for name in last_used() if name != where)][:_MOST]
        write_file(file, json.dumps(names))
