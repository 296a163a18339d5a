"""The registry of methods: a row for each config class; what a row names is there."""

from __future__ import annotations

import importlib.util
import pkgutil
from dataclasses import is_dataclass
from typing import get_args

import pytest

import core.decoding
from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.methods import METHODS, method_of
from core.decoding.trace import Step
from core.models.scripted import ScriptedModel


def _config_classes() -> set[type[MethodConfig]]:
    folder = core.decoding.__path__
    rooms = [found.name for found in pkgutil.iter_modules(folder) if found.ispkg]
    modules = [
        importlib.import_module(f"core.decoding.{room}.config")
        for room in rooms
        if importlib.util.find_spec(f"core.decoding.{room}.config")
    ]
    return {
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, MethodConfig) and kind is not MethodConfig
    }


def test_every_config_class_has_exactly_one_row() -> None:
    configs = [method.config for method in METHODS]
    assert len(configs) == len(set(configs))
    assert set(configs) == _config_classes()


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_everything_that_a_row_names_is_there(method) -> None:
    assert method.name and method.words and method.against_model.endswith(".")
    assert is_dataclass(method.step) and method.step in get_args(Step)
    for name in (method.engine, method.self_checks, method.model_checks):
        assert callable(pkgutil.resolve_name(name))
    assert method_of(method.config()) is method
    assert method.outcome((), method.config()).token_ids == ()
    assert isinstance(method.notes(method.config()), tuple)


def test_a_config_of_no_method_is_refused() -> None:
    from core import decode

    with pytest.raises(ConfigError, match="config must be one of Greedy, Sampling, "):
        decode(ScriptedModel(lambda _: {}), "a", MethodConfig())
