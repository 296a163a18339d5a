"""The registry of methods: a row for each config class; what a row names is there."""

from __future__ import annotations

import importlib.util
import pkgutil
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature
from typing import ClassVar, Literal

import pytest

import core.decoding
from core.cli.main import build_parser
from core.cli.options import config_of
from core.decoding.config import MethodConfig, setting
from core.decoding.errors import ConfigError
from core.decoding.method import Method
from core.decoding.methods import BY_NAME, METHODS, choice_words, method_of
from core.decoding.record.steps import Step
from core.decoding.shaping.config import Shaping
from core.language import Message, tr, use
from core.models.scripted import ScriptedModel


def _config_classes() -> set[type[MethodConfig]]:
    folder = core.decoding.__path__
    rooms = [info.name for info in pkgutil.iter_modules(folder) if info.ispkg]
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
    assert is_dataclass(method.step) and issubclass(method.step, Step)
    for name in (method.engine, method.self_checks, method.model_checks):
        assert callable(pkgutil.resolve_name(name))
    assert method_of(method.config()) is method
    assert method.outcome((), method.config(), None).token_ids == ()
    assert isinstance(method.notes(method.config()), tuple)


def test_a_config_of_no_method_is_refused() -> None:
    from core import decode

    with pytest.raises(ConfigError, match="config must be one of Greedy, Sampling, "):
        decode(ScriptedModel(lambda _: {}), "a", MethodConfig())


@dataclass(frozen=True, slots=True, kw_only=True)
class Toy(MethodConfig):
    """A method that no file of the command line knows."""

    method: ClassVar[str] = "toy"
    words: ClassVar[str] = "toy decoding"

    toy_width: int = setting(2, "how wide")
    toy_rule: Literal["near", "far"] = setting("near", "how far")


def test_a_method_without_a_file_in_cli_has_its_settings_as_options(monkeypatch, capsys) -> None:
    toy = Method(config=Toy, engine="", against_model="")
    monkeypatch.setattr("core.cli.options.METHODS", (*METHODS, toy))
    monkeypatch.setattr("core.cli.options.BY_NAME", {**BY_NAME, "toy": toy})
    parser = build_parser()
    read = ["decode", "--prompt", "x"]
    assert config_of(parser.parse_args([*read, "--toy-width", "3"])) == Toy(toy_width=3)
    assert config_of(parser.parse_args([*read, "--toy-rule", "far"])) == Toy(toy_rule="far")
    assert config_of(parser.parse_args([*read, "--method", "toy"])) == Toy()
    with pytest.raises(ConfigError, match="--top-k does nothing in toy decoding; use --method s"):
        config_of(parser.parse_args([*read, "--method", "toy", "--top-k", "3"]))
    with pytest.raises(SystemExit):
        parser.parse_args([*read, "--toy-rule", "nowhere"])
    assert "invalid choice: 'nowhere'" in capsys.readouterr().err


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_misplaced_setting_of_the_shaping_is_told_where_it_belongs(method) -> None:
    own = method.config.__dataclass_fields__
    misplaced = [name for name in Shaping.__dataclass_fields__ if name not in own]
    assert len(misplaced) > 40
    for name in misplaced:
        with pytest.raises(ConfigError) as error:
            method.config(**{name: 0.5})
        kind = method.config.__name__
        assert str(error.value) == (
            f"{kind}.{name} belongs to the shaping: write {kind}(shaping=Shaping({name}=0.5))."
        )
    with pytest.raises(TypeError):
        method.config(no_such_setting=1)
    assert {*signature(method.config).parameters} == {field.name for field in fields(method.config)}


def test_a_setting_that_is_one_of_several_names_has_words() -> None:
    assert choice_words("drafter", "prompt_lookup") == "prompt lookup"
    assert choice_words("early_stopping", "never") == "never"
    assert choice_words("wait_text", "model") == "model"
    with use("ja"):
        assert tr(choice_words("drafter", "prompt_lookup")) == "プロンプト検索"
        # A user's own text is none of the names, whatever it says.
        assert not isinstance(choice_words("wait_text", "model"), Message)
