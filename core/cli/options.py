"""Command-line options that every method has, and the config from all options."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from ..decoding.autoregressive.config import Greedy, Sampling
from ..decoding.config import MethodConfig
from ..decoding.errors import ConfigError
from ..decoding.method import Method
from ..decoding.methods import BY_NAME, METHODS
from ..decoding.reasoning.config import Reasoning
from ..decoding.shaping.config import SETTINGS, Shaping, number_without_effect
from ..language import N_, Message
from .method import DRAWING, add_method, add_shaping, given, option, options_of, settings_of

_OF_OTHER = N_("{option} does nothing in {method}; use --method {better}.")
_UNDRAWN = N_("{option} does nothing in {method} without --do-sample; add it.")


def add_options(parser: ArgumentParser) -> None:
    """Add `--method`, the options of every method, and each method's own options."""
    parser.add_argument(
        "--method",
        choices=list(BY_NAME),
        help="default: the only method that has one of the options, else greedy",
    )
    group = parser.add_argument_group("the run")
    whole = partial(group.add_argument, type=int, metavar="INT")
    plain = Greedy()
    limit = Message(
        "limit on new tokens (default: {tokens}, of reasoning {reasoning})",
        tokens=plain.max_new_tokens, reasoning=Reasoning().max_new_tokens,
    )  # fmt: skip
    whole("--max-new-tokens", help=limit)
    whole(
        "--min-new-tokens",
        default=plain.min_new_tokens,
        help=N_("fewest new tokens before the end"),
    )
    group.add_argument(
        "--stop",
        dest="stop_strings",
        action="append",
        default=[],
        metavar="STRING",
        help="a stop string; repeatable",
    )
    whole(
        "--top-candidates",
        default=plain.top_candidates,
        help=N_("candidates recorded at each step (default: %(default)s)"),
    )
    group.add_argument("--no-cache", action="store_true", help="switch the KV cache off")
    shaping = parser.add_argument_group("shaping and the draw")
    add_shaping(shaping)
    shaping.add_argument(
        "--seed", type=int, default=SUPPRESS, metavar="INT", help="seed of the draws (default: 0)"
    )
    for method in reversed(METHODS):
        add_method(parser, method, _own(method))


def _own(method: Method[Any]) -> list[str]:
    """Return the options of a method that no earlier method has; `seed` belongs to all."""
    before = METHODS[: METHODS.index(method)]
    known = {"seed", *(name for earlier in before for name in settings_of(earlier.config))}
    names = dict.fromkeys([*settings_of(method.config), *options_of(method).by_hand])
    return [name for name in names if name not in known]


def method_of(args: Namespace) -> Method[Any]:
    """Return the named method, else the last method that one of the options belongs to.

    Without such an option, return sampling for options of the draw, else greedy.
    """
    if args.method:
        return BY_NAME[args.method]
    methods = (method for method in reversed(METHODS) if given(args, _own(method)))
    return next(methods, BY_NAME[(Sampling if given(args, DRAWING) else Greedy).method])


def config_of(args: Namespace) -> MethodConfig:
    """Return the method's config from parsed arguments.

    Raises:
        ConfigError: a value outside its interval, or an option that the method would ignore.
    """
    method = method_of(args)
    _refuse_ignored(args, method)
    values = options_of(method).values(args, given(args, settings_of(method.config)))
    if args.max_new_tokens is not None:
        values["max_new_tokens"] = args.max_new_tokens
    return cast(
        MethodConfig,
        method.config(
            min_new_tokens=args.min_new_tokens,
            stop_strings=tuple(args.stop_strings),
            shaping=Shaping(**given(args, Shaping.__dataclass_fields__)),
            top_candidates=args.top_candidates,
            use_cache=not args.no_cache,
            **values,
        ),
    )


def _refuse_ignored(args: Namespace, method: Method[Any]) -> None:
    """Raise ConfigError for an option that would have no effect."""
    acting = {*settings_of(method.config), *_own(method), *options_of(method).by_hand}
    for method_row in reversed(METHODS):
        for name in given(args, [name for name in _own(method_row) if name not in acting]):
            raise _ignored(_OF_OTHER, name, method, method_row.name)
    require_switched_on(given(args, SETTINGS))
    sentence = _undrawn(args, method)
    for name in given(args, DRAWING) if sentence else ():
        raise _ignored(sentence, name, method, Sampling.method)


def _ignored(sentence: str, name: str, method: Method[Any], better: str) -> ConfigError:
    """Return the error of an option that has no effect in a method."""
    words = Message(method.words)
    return ConfigError(Message(sentence, option=option(name), method=words, better=better))


def require_switched_on(values: Mapping[str, Any]) -> None:
    """Raise ConfigError for a further number of a setting that is off."""
    if name := number_without_effect(values):
        first = SETTINGS[name].part_of
        raise ConfigError(
            Message(
                "{option} does nothing without {other}; give both.",
                option=option(name), other=option(first),
            )
        )  # fmt: skip


def _undrawn(args: Namespace, method: Method[Any]) -> str:
    """Return the declared error of an option of the draw if nothing is drawn; else ""."""
    names = settings_of(method.config)
    if "seed" not in names:
        return _OF_OTHER
    undrawn = "do_sample" in names and "do_sample" not in args
    return _UNDRAWN if undrawn else ""
