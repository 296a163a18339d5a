"""Registry of decoding methods, and conversion of settings to plain JSON values and back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..language import Message
from .autoregressive.method import GREEDY, SAMPLING
from .beam.method import BEAM_SEARCH
from .by_engine.method import BY_ENGINE
from .config import MethodConfig
from .constraints.value import Constraint
from .contrastive.method import CONTRASTIVE_SEARCH
from .contrastive_decoding.method import CONTRASTIVE_DECODING
from .diffusion.method import DIFFUSION
from .errors import ConfigError
from .method import Method
from .reasoning.method import REASONING
from .shaping.config import Shaping
from .speculative.method import SPECULATIVE
from .validation import brief

# Add a method here. An option on the command line selects the last method that has it.
METHODS: tuple[Method[Any], ...] = (
    GREEDY,
    SAMPLING,
    CONTRASTIVE_SEARCH,
    CONTRASTIVE_DECODING,
    BEAM_SEARCH,
    REASONING,
    BY_ENGINE,
    SPECULATIVE,
    DIFFUSION,
)
BY_NAME = {method.name: method for method in METHODS}
_BY_CONFIG: dict[type[MethodConfig], Method[Any]] = {method.config: method for method in METHODS}


def _choices_of(hint: Any) -> set[str]:
    literals = (part for part in (hint, *get_args(hint)) if get_origin(part) is Literal)
    return {value for part in literals for value in get_args(part)}


# Settings that are one of several names, with these names; the method itself is one.
CHOICES: dict[str, set[str]] = {"method": {*BY_NAME}}
for _method in METHODS:
    for _name, _hint in get_type_hints(_method.config).items():
        if _choices := _choices_of(_hint):
            CHOICES[_name] = CHOICES.get(_name, set()) | _choices


def choice_words(name: str, value: str) -> str:
    """Return a method's setting that is a text: a declared text for one of its names, such as
    `prompt lookup`, else the text itself.
    """
    return Message(value.replace("_", " ")) if value in CHOICES.get(name, ()) else value


def method_of(config: MethodConfig) -> Method[Any]:
    """Return the registry row of a config's method.

    Raises:
        ConfigError: a config of no known method.
    """
    if type(config) not in _BY_CONFIG:
        names = ", ".join(kind.__name__ for kind in _BY_CONFIG)
        raise ConfigError(
            Message("must be one of {names}, got {config!r}.", names=names, config=config),
            "config",
            "",
        )
    return _BY_CONFIG[type(config)]


def config_to_dict(config: MethodConfig) -> dict[str, Any]:
    """Return a plain dict with the method's name and settings, ready for JSON."""
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    shaping = {field.name: _plain(getattr(config.shaping, field.name)) for field in fields(Shaping)}
    stop_strings = list(config.stop_strings)
    return {"method": config.method, **values, "shaping": shaping, "stop_strings": stop_strings}


def _plain(value: object) -> object:
    if isinstance(value, Constraint):
        return {"kind": value.kind, "text": value.text}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def config_from_dict(data: object) -> MethodConfig:
    """Return the config from the dict of `config_to_dict`.

    Raises:
        ConfigError: an unknown method or field, or a value outside its interval.
    """
    values = _settings_of(data, "config")
    method = values.pop("method", None)
    if not isinstance(method, str) or method not in BY_NAME:
        raise ConfigError(
            Message(
                "must be one of {by_name}, got {given}.",
                by_name=", ".join(BY_NAME),
                given=brief(method),
            ),
            "method",
            "",
        )
    kind = BY_NAME[method].config
    shaping = _settings_of(values.pop("shaping", {}), "shaping", kind.__name__)
    _require_known(kind, values)
    _require_known(Shaping, shaping)
    config: MethodConfig = kind(shaping=Shaping(**shaping), **values)
    return config


def _settings_of(value: object, name: str, owner: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(
            Message("must be an object with settings by name, got {given}.", given=brief(value)),
            name,
            owner,
        )
    return dict(value)


def _require_known(kind: type[MethodConfig | Shaping], values: dict[str, Any]) -> None:
    known = {field.name for field in fields(kind)}
    unknown = next((name for name in values if name not in known), None)
    if unknown is not None:
        place = place_of(unknown)
        hint = f"; there is {place}" if place else ""
        raise ConfigError(
            Message(
                "{name} has no setting {given}{hint}.",
                name=kind.__name__,
                given=brief(unknown),
                hint=hint,
            )
        )


# Names of settings in other parts of the JSON.
_ELSEWHERE = {
    **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_output_tokens"), "max_new_tokens"),
    "max_length": "max_new_tokens",
    "min_tokens": "min_new_tokens",
    "stop": "stop_strings",
    "repeat_penalty": "repetition_penalty",
    "n": "num_return_sequences",
    "beam_width": "num_beams",
}


def place_of(name: str) -> str:
    """Return the place of a setting in a config's JSON as text; empty for an unknown name."""
    name = _ELSEWHERE.get(name, name)
    if name in Shaping.__dataclass_fields__:
        return f"shaping.{name}"
    owners = [m.config.method for m in METHODS if name in m.config.__dataclass_fields__]
    if len(owners) == len(METHODS):
        return name
    return f"{name} of the method {' or '.join(owners[:3])}" if owners else ""
