"""API keys by the server's origin: a key is sent to its own server only."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from threading import Lock

from ...decoding.errors import ConfigError
from ...language import N_, Message
from .address import origin_of

VARIABLE = "DECODING_EXPLORER_MODEL_KEYS"
_KEY = re.compile(r"[!-+\--~]{1,500}")  # Printable ASCII except the comma, the separator.
_LOCK = Lock()
_GIVEN: dict[str, str] = {}


def keys_in(text: str) -> Mapping[str, str]:
    """Return the keys by origin, from a list `ORIGIN=KEY,ORIGIN=KEY`.

    Raises:
        ConfigError: the text has another form; the message contains no key.
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
                Message(
                    "{variable} lists keys by server, such as "
                    "https://api.example.org=KEY, with commas between them; an entry "
                    "isn't of that form.",
                    variable=VARIABLE,
                )
            )
        keys[origin] = key
    return keys


def give_key(origin: str, key: str) -> None:
    """Store a key for the lifetime of this process; an empty key deletes the stored key.

    Raises:
        ConfigError: the text can't be a key.
    """
    if key and not _KEY.fullmatch(key):
        raise ConfigError(N_("A key is a word of ASCII letters, digits and signs; copy it again."))
    with _LOCK:
        if key:
            _GIVEN[origin] = key
        else:
            _GIVEN.pop(origin, None)


def key_for(origin: str) -> str:
    """Return the server's key; empty if there is none."""
    return _GIVEN.get(origin) or keys_in(os.environ.get(VARIABLE, "")).get(origin, "")
