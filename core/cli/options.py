"""The options of a run that every method has, and the config that all options make."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from functools import partial

from core.cli import beam, greedy, reasoning, sampling, speculative
from core.cli.method import DRAWING, Method, add_shaping, given, option
from core.decoding.autoregressive.config import Greedy
from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping

# Where no method is named, the first one is taken that an option asks for, else the last.
METHODS: tuple[Method, ...] = (
    speculative.METHOD,
    reasoning.METHOD,
    beam.METHOD,
    sampling.METHOD,
    greedy.METHOD,
)


def add_options(parser: ArgumentParser) -> None:
    """`--method`, what every method has, and each method's own."""
    parser.add_argument(
        "--method",
        choices=[method.name for method in reversed(METHODS)],
        help="default: the one that an option asks for which acts in it alone, else greedy",
    )
    _add_run(parser)
    shaping = parser.add_argument_group("shaping and the draw")
    add_shaping(shaping)
    shaping.add_argument(
        "--seed", type=int, default=SUPPRESS, metavar="N", help="of the draws (default: 0)"
    )
    for method in METHODS:
        if method.add:
            method.add(parser)


def _add_run(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("the run")
    whole = partial(group.add_argument, type=int, metavar="N")
    standard = f"{Greedy().max_new_tokens}, of reasoning {Reasoning().max_new_tokens}"
    whole("--max-new-tokens", help=f"the bound on the loop (default: {standard})")
    whole("--min-new-tokens", default=0, help="hold the end back so long")
    stop = "a stop string; repeatable"
    group.add_argument("--stop", action="append", default=[], metavar="TEXT", help=stop)
    whole("--top-candidates", default=20, help="candidates kept a step (default: %(default)s)")
    group.add_argument("--no-cache", action="store_true", help="switch the KV cache off")


def method_of(args: Namespace) -> Method:
    """The method that is named, else the one that the options ask for."""
    if args.method:
        return next(method for method in METHODS if method.name == args.method)
    asked = (method for method in METHODS if any(name in args for name in method.asks))
    return next(asked, METHODS[-1])


def config_of(args: Namespace) -> MethodConfig:
    """The method's config from parsed arguments.

    Raises:
        ConfigError: a value outside its interval, or an option that the method would ignore.
    """
    method = method_of(args)
    _refuse_ignored(args, method)
    own = method.values(args) if method.values else given(args, method.own)
    if "seed" in method.config.__dataclass_fields__:
        own |= given(args, ["seed"])
    if args.max_new_tokens is not None:
        own["max_new_tokens"] = args.max_new_tokens
    return method.config(
        min_new_tokens=args.min_new_tokens,
        stop_strings=tuple(args.stop),
        shaping=Shaping(**given(args, Shaping.__dataclass_fields__)),
        top_candidates=args.top_candidates,
        use_cache=not args.no_cache,
        **own,
    )


def _refuse_ignored(args: Namespace, method: Method) -> None:
    """Raises ConfigError for an option that would do nothing."""
    acting = {*method.config.__dataclass_fields__, *method.own}
    for other in METHODS:
        useless = given(args, [name for name in other.own if name not in acting])
        for name in useless:
            raise ConfigError(
                f"{option(name)} does nothing in {method.words}; use --method {other.name}."
            )
    where = method.undrawn(args) if method.undrawn else ""
    for name in given(args, DRAWING) if where else ():
        raise ConfigError(f"{option(name)} does nothing in {where}.")
