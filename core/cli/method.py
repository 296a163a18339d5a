"""Options of the command line for the settings of a decoding method."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from core.decoding.config import MethodConfig
from core.decoding.method import Method
from core.decoding.record.steps import Step
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS

# What stands for a setting's value in the help, where its type says too little.
_PLACEHOLDERS = {
    "top_k": "K", "top_p": "P", "min_p": "P", "typical_p": "P", "temperature": "T",
    "top_n_sigma": "N", "logit_bias": "ID=VALUE,...",
}  # fmt: skip
_TYPES = {int: "INT", float: "FLOAT", str: "TEXT"}
# Penalties act in every method; these options act where something is drawn.
DRAWING = (*(name for name, spec in SETTINGS.items() if not spec.penalises), "seed")
_SHARED = {field.name for field in fields(MethodConfig)}


def stream(step: Step) -> None:
    """Print the text that a step added; a search knows its text at its end only."""
    if text := getattr(step, "text", ""):
        print(text, end="", flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodOptions:
    """Behaviour of the command line for a method, beyond an option for each setting.

    A method that needs any of it has an `OPTIONS` in `core/cli/<its name>.py`; others have no file.

    Args:
        by_hand: the options that `add` adds: settings in a form of their own, and what is none.
        add: adds them; what isn't given must stay out of the parsed arguments.
        values: the settings as the config takes them, from those that were given.
        draft: which second model parsed arguments ask for, if any.
        fit: the config for a loaded model.
        instruction: what a loaded model's prompt has to tell it, if anything; a system prompt in a
            chat.
        printer: makes what prints every step of one run to stdout.
        print_result: what goes to stdout after the run, if anything.
        notes: sentences on a run that has ended, for stderr.
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


def options_of(method: Method[Any]) -> MethodOptions:
    """The method's own, where it has a file here."""
    name = f"{__package__}.{method.name}"
    if find_spec(name) is None:
        return MethodOptions()
    return cast(MethodOptions, import_module(name).OPTIONS)


def settings_of(kind: type[MethodConfig]) -> list[str]:
    """The settings of a method that not every method has."""
    return [field.name for field in fields(kind) if field.name not in _SHARED]


def add_method(parser: ArgumentParser, method: Method[Any], own: Collection[str]) -> None:
    """The options that no method before this one has; none where there are none."""
    options = options_of(method)
    if own:
        group = parser.add_argument_group(method.words)
        add_settings(group, method.config, [name for name in own if name not in options.by_hand])
        if options.add:
            options.add(group)


def option(name: str) -> str:
    """A setting's option."""
    return f"--{name.replace('_', '-')}"


def placeholder(name: str, kind: type) -> str:
    """The word that stands for an option's value in the help."""
    return _PLACEHOLDERS.get(name) or _TYPES.get(kind, "FLOAT")


def add_settings(group: _ArgumentGroup, kind: type[MethodConfig], names: Collection[str]) -> None:
    """An option for each setting of a config, with its field's help; a switch where it is a bool.

    What is not given stays out of the parsed arguments.
    """
    hints = get_type_hints(kind)
    for name in names:
        field = kind.__dataclass_fields__[name]
        default, text = field.default, field.metadata.get("help", "")
        if isinstance(default, bool):
            group.add_argument(option(name), action="store_true", default=SUPPRESS, help=text)
            continue
        few = get_args(hints[name]) if get_origin(hints[name]) is Literal else None
        group.add_argument(
            option(name),
            type=float if default is None else type(default),
            default=SUPPRESS,
            choices=few,
            metavar=None if few else placeholder(name, type(default)),
            help=f"{text} (default: {default})",
        )


def add_shaping(group: _ArgumentGroup) -> None:
    """An option for each setting of the shaping; what is not given stays out, too.

    One whose value is several items may be given several times.
    """
    for name, spec in SETTINGS.items():
        sentences = spec.help.removesuffix(".").split(". ")
        text = "; ".join(sentence[0].lower() + sentence[1:] for sentence in sentences)
        group.add_argument(
            option(name),
            action="extend" if spec.parse else "store",
            type=spec.parse or type(spec.off),
            default=SUPPRESS,
            metavar=placeholder(name, type(spec.off)),
            help=f"{text} (default: {spec.shown(spec.off)})".replace("%", "%%"),
        )


def given(args: Namespace, names: Collection[str]) -> dict[str, Any]:
    """Those settings that were given."""
    return {name: getattr(args, name) for name in names if name in args}
