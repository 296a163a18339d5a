"""What the command line must know of a decoding method, and how a setting becomes an option."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace, _ArgumentGroup
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.shaping.config import SETTINGS, WARPERS
from core.decoding.speculative.types import DraftRound
from core.decoding.trace import Step, TokenStep, Trace

# Penalties act in every method; these options act where something is drawn.
DRAWING = (*WARPERS, "seed")


def stream(step: Step) -> None:
    """Print a step's text."""
    if isinstance(step, TokenStep | DraftRound):
        print(step.text, end="", flush=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A decoding method of `--method`.

    Args:
        config: the kind of its config, which has the method's name; an option that is none of its
            settings is refused.
        words: its name in a sentence.
        own: its settings that no method before it in `METHODS` has.
        asks: the options that ask for it where no method is named.
        add: adds the options of `own` to a parser; what isn't given must stay out of the parsed
            arguments.
        undrawn: where the options of the draw do nothing under parsed arguments, with advice, as
            the end of a sentence; empty where they act.
        values: the settings of `own` from parsed arguments, as the config takes them.
        draft: which second model parsed arguments ask for, if any.
        fit: the config for a loaded model.
        told: what a loaded model's prompt has to tell it, if anything; a system prompt in a chat.
        printer: makes what prints every step of one run to stdout, or nothing.
        print_result: what goes to stdout after the run, if anything.
        notes: sentences on a run that has ended, for stderr.
    """

    config: type[MethodConfig]
    words: str
    own: Collection[str] = ()
    asks: Collection[str] = ()
    add: Callable[[ArgumentParser], None] | None = None
    undrawn: Callable[[Namespace], str] | None = None
    values: Callable[[Namespace], dict[str, Any]] | None = None
    draft: Callable[[Namespace], str | None] | None = None
    fit: Callable[[Any, MethodConfig, Namespace], MethodConfig] | None = None
    told: Callable[[Any, Namespace], str] | None = None
    printer: Callable[[], Callable[[Step], None] | None] = lambda: stream
    print_result: Callable[[Trace], None] | None = None
    notes: Callable[[Trace], tuple[str, ...]] = lambda _: ()

    @property
    def name(self) -> str:
        return self.config.method


def option(name: str) -> str:
    """A setting's option."""
    return f"--{name.replace('_', '-')}"


def add_settings(
    group: _ArgumentGroup,
    kind: type[MethodConfig],
    texts: Mapping[str, str],
    choices: Mapping[str, Collection[str]] | None = None,
) -> None:
    """An option for each setting of a config, with its help; a switch where it is a bool.

    What is not given stays out of the parsed arguments.

    Args:
        choices: the values of the settings that take one of a few.
    """
    for name, text in texts.items():
        default = kind.__dataclass_fields__[name].default
        if isinstance(default, bool):
            group.add_argument(option(name), action="store_true", default=SUPPRESS, help=text)
            continue
        few = (choices or {}).get(name)
        group.add_argument(
            option(name),
            type=float if default is None else type(default),
            default=SUPPRESS,
            choices=few,
            metavar=None if few else "X",
            help=f"{text} (default: {default})",
        )


def add_shaping(group: _ArgumentGroup) -> None:
    """An option for each setting of the shaping; what is not given stays out, too."""
    for name, spec in SETTINGS.items():
        sentences = spec.help.removesuffix(".").split(". ")
        text = "; ".join(sentence[0].lower() + sentence[1:] for sentence in sentences)
        group.add_argument(
            option(name),
            type=spec.parse or type(spec.off),
            default=SUPPRESS,
            metavar="X",
            help=f"{text} (default: {spec.off})".replace("%", "%%"),
        )


def given(args: Namespace, names: Collection[str]) -> dict[str, Any]:
    """Those settings that were given."""
    return {name: getattr(args, name) for name in names if name in args}
