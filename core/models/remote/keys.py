"""Keys of servers, by the server's origin: a key is sent to no other one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from threading import Lock

from core.decoding.errors import ConfigError
from core.models.remote.address import origin_of

VARIABLE = "DECODING_EXPLORER_MODEL_KEYS"
_KEY = re.compile(r"[!-+\--~]{1,500}")  # Printable ASCII but for the comma between two.
_LOCK = Lock()
_GIVEN: dict[str, str] = {}


def keys_in(text: str) -> Mapping[str, str]:
    """Keys by origin from `ORIGIN=KEY`, with commas between them.

    Raises:
        ConfigError: it isn't that; says no key.
    """
    keys = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        url, equals, key = (part.strip() for part in entry.partition("="))
        try:
            origin = origin_of(url)
        except ValueError:
            origin = ""
        if not (origin and equals and _KEY.fullmatch(key)):
            raise ConfigError(
                f"{VARIABLE} lists keys by server, such as https://api.example.org=KEY, with "
                "commas between them; an entry isn't of that form."
            )
        keys[origin] = key
    return keys


def give_key(origin: str, key: str) -> None:
    """Take a key for as long as this process runs; an empty one is taken back.

    Raises:
        ConfigError: it can be no key.
    """
    if key and not _KEY.fullmatch(key):
        raise ConfigError("A key is a word of ASCII letters, digits and signs; copy it again.")
    with _LOCK:
        if key:
            _GIVEN[origin] = key
        else:
            _GIVEN.pop(origin, None)


def key_for(origin: str) -> str:
    """The server's key; empty where there is none."""
    return _GIVEN.get(origin) or keys_in(os.environ.get(VARIABLE, "")).get(origin, "")
