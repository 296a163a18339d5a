"""Settings of the operator, in environment variables: each is declared here and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any

from ..decoding.errors import ConfigError, ModelError
from ..language import Message
from ..models.remote.address import FORMS, is_remote, read_address
from ..models.remote.keys import keys_in

PREFIX = "DECODING_EXPLORER_"
MOST_WORKERS = 64
_HOST = re.compile(r"\*|(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:.]*:[0-9a-f:.]*")
_ORIGIN = re.compile(r"https?://[a-z0-9_.\[\]:-]+")
_HUB_ID = re.compile(r"[A-Za-z0-9_][\w.-]*(/[\w.-]+)?")
_KEY = re.compile(r"[\w.=+/-]{16,200}", re.ASCII)
_NAME = re.compile(r"\w[\w .-]*")
_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the operator; a variable is `DECODING_EXPLORER_` and the field in capitals.

    Lists are separated by commas.

    Args:
        hosts: names that the app answers to besides those that it is bound to, such as
            `explorer.example.org`; `*.example.org` for all names below it, `*` for any name.
        frames: origins such as `https://blog.example.org` whose pages may show the app in a frame.
        models: hub ids, and folders by a name (`small=/srv/models/small`), which the picker offers
            beside the built-in models; the folder, or the hub id itself, by the name shown. A
            model on a server has a name too (`large=vllm:http://host:8000#model`).
        model_keys: keys of such servers by their origin (`https://api.example.org=KEY`).
        metrics: whether Streamlit's `/_stcore/metrics` answers.
        api: whether the OpenAI-compatible endpoint answers.
        api_keys: one of these must come with each of its requests; none are needed without any,
            which is allowed on one's own machine only.
        api_origins: origins whose pages may ask it from a browser.
        workers: number of processes that run the models; with 0 the app's own process runs them.
    """

    hosts: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    model_keys: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    metrics: bool = False
    api: bool = True
    api_keys: tuple[str, ...] = ()
    api_origins: tuple[str, ...] = ()
    workers: int = 1


def variable(name: str) -> str:
    """Return the environment variable of a field."""
    return PREFIX + name.upper()


def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of this process.

    Raises:
        ConfigError: a variable can't be read, or none of that name is known.
    """
    variables = os.environ if environment is None else environment
    known = {variable(field.name): field.name for field in fields(Settings)}
    for stray in sorted(key for key in variables if key.startswith(PREFIX) and key not in known):
        raise ConfigError(f"There is no setting {stray}; there are {', '.join(known)}.")
    return Settings(
        **{
            name: _READERS[name](variables[key].strip())
            for key, name in known.items()
            if key in variables
        }
    )


def place_of(name: str) -> str:
    """Return the place of a model, which may be a name of `models`; raises as `settings`."""
    return settings().models.get(name, name)


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _hosts(text: str) -> tuple[str, ...]:
    hosts = tuple(entry.lower().strip("[]") for entry in _entries(text))
    if wrong := [host for host in hosts if not _HOST.fullmatch(host)]:
        raise ConfigError(
            Message(
                "{variable} names hosts without scheme and port, such as explorer.example.org or "
                "*.example.org, got {given!r}.",
                variable=variable("hosts"),
                given=wrong[0],
            )
        )
    return hosts


def _origins(name: str, text: str) -> tuple[str, ...]:
    origins = tuple(entry.lower().rstrip("/") for entry in _entries(text))
    if wrong := [origin for origin in origins if not _ORIGIN.fullmatch(origin)]:
        raise ConfigError(
            Message(
                "{variable} names origins such as https://blog.example.org, got {given!r}.",
                variable=variable(name),
                given=wrong[0],
            )
        )
    return origins


def _models(text: str) -> Mapping[str, str]:
    models = {}
    for entry in _entries(text):
        name, equals, folder = (part.strip() for part in entry.partition("="))
        fits = _NAME.fullmatch(name) and folder if equals else _HUB_ID.fullmatch(entry)
        if not fits:
            raise ConfigError(
                Message(
                    "{variable} lists hub ids (OWNER/NAME), and folders and addresses of servers "
                    "by a name (NAME=FOLDER, NAME={form}), got {given!r}.",
                    variable=variable("models"),
                    form=FORMS.split(",")[0],
                    given=entry,
                )
            )
        try:
            if is_remote(folder):
                read_address(folder)
        except ModelError as error:
            raise ConfigError(
                Message("{variable}: {error}", variable=variable("models"), error=error)
            ) from None
        models[name] = os.path.expanduser(folder) if equals else entry
    return MappingProxyType(models)


def read_keys(text: str, name: str = variable("api_keys")) -> tuple[str, ...]:
    """Read the keys of the endpoint; raises ConfigError under the name of where they were given."""
    keys = tuple(_entries(text))
    # An error must not say a key.
    if not all(_KEY.fullmatch(key) for key in keys):
        raise ConfigError(
            Message(
                "{name} holds keys of 16 to 200 letters, digits and - _ . = + /, with commas "
                "between them.",
                name=name,
            )
        )
    return keys


def _switch(name: str, text: str) -> bool:
    if text.lower() not in _YES + _NO:
        raise ConfigError(
            Message("{variable} is 1 or 0, got {given!r}.", variable=variable(name), given=text)
        )
    return text.lower() in _YES


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_WORKERS:
        raise ConfigError(
            Message(
                "{variable} is a number from 0 to {most}, got {given!r}.",
                variable=variable("workers"),
                most=MOST_WORKERS,
                given=text,
            )
        )
    return int(text)


_READERS: Mapping[str, Any] = {
    "hosts": _hosts,
    "frames": partial(_origins, "frames"),
    "models": _models,
    "model_keys": keys_in,
    "metrics": partial(_switch, "metrics"),
    "api": partial(_switch, "api"),
    "api_keys": read_keys,
    "api_origins": partial(_origins, "api_origins"),
    "workers": _count,
}
