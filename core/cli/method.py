"""Command-line options for the settings of a decoding method."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from ..decoding.config import MethodConfig
from ..decoding.method import Method
from ..decoding.record.steps import Step
from ..decoding.record.trace import Trace
from ..decoding.shaping.config import SETTINGS
from ..decoding.shaping.spec import SettingSpec
from ..language import N_, Message

# Placeholders for values in the help, if the type's placeholder says too little.
_PLACEHOLDERS = {
    "top_k": "K", "top_p": "P", "min_p": "P", "typical_p": "P", "temperature": "T",
    "top_n_sigma": "N", "logit_bias": "ID=VALUE,...", "constraint": "KIND=TEXT",
    "synthid_keys": "KEY,...",
    "bad_words": "ID.ID,...", "suppress_tokens": "ID,...", "begin_suppress_tokens": "ID,...",
    "dry_sequence_breakers": "TEXT",
}  # fmt: skip
_TYPES = {int: "INT", float: "FLOAT", str: "TEXT"}
# Penalties act in every method; these options act only in methods that draw.
DRAWING = (*(name for name, spec in SETTINGS.items() if not spec.penalises), "seed")
_WITH_DEFAULT = N_("{help} (default: {default})")
_SHARED = {field.name for field in fields(MethodConfig)}


def stream(step: Step) -> None:
    """Print the text that a step added; steps of a beam search have no text."""
    if text := getattr(step, "text", ""):
        print(text, end="", flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Command-line behaviour of a method, beyond an option for each setting.

    A method that needs any of it defines `OPTIONS` in `core/cli/<its name>.py`; others have no
    file.

    Args:
        by_hand: names of the options that `add` adds, settings or not.
        add: adds these options; an option without a value must be absent from the arguments.
        values: converts the given settings to the config's values.
        draft: returns the name of the draft model, if any.
        fit: adapts the config to a loaded model.
        instruction: returns an instruction for the (system) prompt of a loaded model, or "".
        printer: returns a function that prints each step of one run to stdout.
        print_result: prints the result to stdout after the run.
        notes: returns sentences on a finished run, for stderr.
        findings: returns a sentence on a run that `check` prints after its checks, translated;
            empty for none.
    """

    by_hand: Collection[str] = ()
    add: Callable[[_ArgumentGroup], None] | None = None
    values: Callable[[Namespace, dict[str, Any]], dict[str, Any]] = lambda _, given: given
    draft: Callable[[Namespace], str | None] = lambda _: None
    fit: Callable[[Any, Any, Namespace], MethodConfig] = lambda _model, config, _args: config
    instruction: Callable[[Any, Namespace], str] = lambda _model, _args: ""
    printer: Callable[[], Callable[[Step], None]] = lambda: stream
    print_result: Callable[[Trace[Any]], None] | None = None
    notes: Callable[[Trace[Any]], tuple[str, ...]] = lambda _: ()
    findings: Callable[[Trace[Any]], str] = lambda _: ""


def options_of(method: Method[Any]) -> MethodOptions:
    """Return the `OPTIONS` of the method's module, or the defaults if it has none."""
    name = f"{__package__}.{method.name}"
    if find_spec(name) is None:
        return MethodOptions()
    return cast(MethodOptions, import_module(name).OPTIONS)


def settings_of(kind: type[MethodConfig]) -> list[str]:
    """Return the names of the settings that not every method has."""
    return [field.name for field in fields(kind) if field.name not in _SHARED]


def add_method(parser: ArgumentParser, method: Method[Any], own: Collection[str]) -> None:
    """Add a group with the method's options named in `own`, if there are any."""
    options = options_of(method)
    if own:
        group = parser.add_argument_group(method.words)
        add_settings(group, method.config, [name for name in own if name not in options.by_hand])
        if options.add:
            options.add(group)


def option(name: str) -> str:
    """Return the option string of a setting."""
    return f"--{name.replace('_', '-')}"


def placeholder(name: str, kind: type) -> str:
    """Return the placeholder of an option's value in the help."""
    return _PLACEHOLDERS.get(name) or _TYPES.get(kind, "FLOAT")


def add_settings(group: _ArgumentGroup, kind: type[MethodConfig], names: Collection[str]) -> None:
    """Add an option for each setting of a config, with the field's help; a switch for a bool.

    Options that aren't given are absent from the parsed arguments.
    """
    hints = get_type_hints(kind)
    for name in names:
        field = kind.__dataclass_fields__[name]
        default, text = field.default, field.metadata.get("help", "")
        if isinstance(default, bool):
            group.add_argument(option(name), action="store_true", default=SUPPRESS, help=text)
            continue
        if default not in (None, ""):
            text = Message(_WITH_DEFAULT, help=Message(text), default=str(default))
        few = get_args(hints[name]) if get_origin(hints[name]) is Literal else None
        group.add_argument(
            option(name),
            type=float if default is None else type(default),
            default=SUPPRESS,
            choices=few,
            metavar=None if few else placeholder(name, type(default)),
            help=text,
        )


class _ShapingHelp(Message):
    """Help of a shaping setting; in English its sentences are parts of one line."""

    def __new__(cls, spec: SettingSpec) -> _ShapingHelp:
        default = spec.shown(spec.off)
        sentences = spec.help.removesuffix(".").split(". ")
        text = "; ".join(_uncapitalized(sentence) for sentence in sentences)
        message = str.__new__(cls, f"{text} (default: {default})".replace("%", "%%"))
        message.template = _WITH_DEFAULT
        message.values = {"help": Message(spec.help), "default": Message(default)}
        return message

    def translated(self, language: str) -> str:
        return super().translated(language).replace("%", "%%")


def _uncapitalized(sentence: str) -> str:
    """Return a sentence that begins with a small letter; an acronym (DRY, XTC) stays."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def add_shaping(group: _ArgumentGroup, names: Collection[str] = SETTINGS) -> None:
    """Add an option for each of these shaping settings; options that aren't given are absent, too.

    An option with a list as its value may be given several times.
    """
    for name in names:
        spec = SETTINGS[name]
        group.add_argument(
            option(name),
            action="extend" if spec.parse else "store",
            type=spec.parse or type(spec.off),
            default=SUPPRESS,
            metavar=placeholder(name, type(spec.off)),
            help=_ShapingHelp(spec),
        )


def given(args: Namespace, names: Collection[str]) -> dict[str, Any]:
    """Return the settings that were given, by name."""
    return {name: getattr(args, name) for name in names if name in args}
