"""The decoding methods, and a method's settings as plain JSON values and back."""

from __future__ import annotations

from typing import Any

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from core.decoding.speculative.config import Speculative
from core.decoding.validation import brief

METHODS: dict[str, type[MethodConfig]] = {
    config.method: config for config in (Greedy, Sampling, BeamSearch, Speculative, Reasoning)
}


def chooser_of(config: MethodConfig) -> MethodConfig:
    """The method that chooses a run's tokens: itself, but for reasoning, which is built on one."""
    return config.chooser if isinstance(config, Reasoning) else config


def config_to_dict(config: MethodConfig) -> dict[str, Any]:
    """A plain dict with the method's name, ready for JSON."""
    values = {name: getattr(config, name) for name in config.__dataclass_fields__}
    shaping = {name: getattr(config.shaping, name) for name in Shaping.__dataclass_fields__}
    stop_strings = list(config.stop_strings)
    return {"method": config.method, **values, "shaping": shaping, "stop_strings": stop_strings}


def config_from_dict(data: dict[str, Any]) -> MethodConfig:
    """The inverse of `config_to_dict`.

    Raises:
        ConfigError: an unknown method or field, or a value outside its interval.
    """
    values = _settings_of("The config", data)
    method = values.pop("method", None)
    if not isinstance(method, str) or method not in METHODS:
        raise ConfigError(f"method must be one of {', '.join(METHODS)}, got {brief(method)}.")
    kind = METHODS[method]
    shaping = _settings_of(f"{kind.__name__}.shaping", values.pop("shaping", {}))
    _require_known(kind, values)
    _require_known(Shaping, shaping)
    return kind(shaping=Shaping(**shaping), **values)


def _settings_of(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{name} must be an object with settings by name, got {brief(value)}.")
    return dict(value)


def _require_known(kind: type[MethodConfig | Shaping], values: dict[str, Any]) -> None:
    unknown = next((name for name in values if name not in kind.__dataclass_fields__), None)
    if unknown is not None:
        raise ConfigError(f"{kind.__name__} has no setting {brief(unknown)}.")
