"""`python -m core COMMAND`: parse the arguments, run the command, print errors as one sentence."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from ..decoding.errors import ConfigError, DecodingError, is_of_memory
from ..installation import COMMAND, pip_command
from ..language import N_, Message, tr, use
from ..language.environment import environment_language
from . import output
from .commands import (
    branch,
    check,
    compare,
    decode,
    evaluate,
    figure,
    lens,
    many,
    models,
    path,
    read,
    sweep,
    worksheet,
)
from .commands.serving import app, serve
from .parser import Parser, argparse_translated

# Name of a setting; a quoted one is a value that was given.
_FIELD = re.compile(r"(?<!['\"“])\b[a-z]+(?:_[a-z]+)+\b")
_DESCRIPTION = N_("Decode with a language model and keep every step.")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands.

    The parsed arguments hold the command's `run` and, as `options`, the option string of each
    setting; they hold neither if no command is given.
    """
    parser = Parser(prog=COMMAND, description=_DESCRIPTION)
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, command, text in (
        ("decode", decode, N_("stream a text and write its trace file")),
        ("branch", branch, N_("go on from a step of a trace file with another token")),
        ("path", path, N_("decode, and print every function that ran with what went in and out")),
        (
            "lens",
            lens,
            N_("what the model would say after every layer, at each position of a text"),
        ),
        ("read", read, N_("surprisal of every token of a text, and its perplexity")),
        ("check", check, N_("validate a trace file and print its checks")),
        ("many", many, N_("run one prompt many times, or over a grid of two settings")),
        ("compare", compare, N_("where two runs part, and why")),
        ("figure", figure, N_("draw a figure of a trace file: SVG, PDF, PNG, CSV, HTML")),
        ("worksheet", worksheet, N_("a lesson of the course as PDF to print, with its answers")),
        ("sweep", sweep, N_("accuracy against the thinking budget")),
        ("evaluate", evaluate, N_("which ways of decoding answer questions right")),
        ("models", models, N_("list the models at hand, load one, empty the cache of GGUF files")),
        ("serve", serve, N_("answer OpenAI's API, without the pages")),
        ("app", app, N_("serve the pages and the API")),
    ):
        subparser = commands.add_parser(name, help=text)
        command.add(subparser)
        options = {
            action.dest: action.option_strings[0]
            for action in subparser._actions
            if action.option_strings
        }
        choices = {str(name) for action in subparser._actions for name in action.choices or ()}
        subparser.set_defaults(run=command.run, options=options, choices=choices)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code.

    Returns:
        0 done; 1 a check failed, the output can't be written, or memory ran out; 2 bad input; 130
        stopped by Ctrl+C. One sentence on stderr gives the reason, except after a broken pipe.
    """
    with use(output.printable(environment_language(os.environ))):
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    try:
        output.require_streams()
        try:
            with _interruptible():
                return _run(argv)
        finally:
            sys.stdout.flush()
    except DecodingError as error:
        output.say(f"{COMMAND}: {error.shown}")
        code = 2
    except KeyboardInterrupt:
        output.say(f"\n{tr('stopped')}")
        code = 130
    except (MemoryError, ImportError, RuntimeError) as error:
        if is_of_memory(error):
            output.say(f"{COMMAND}: {tr(output.NO_MEMORY)}")
            code = 1
        elif package := _missing_package(error):
            words = tr(
                "The package {package} isn't installed: {command}.",
                package=package, command=pip_command("app"),
            )  # fmt: skip
            output.say(f"{COMMAND}: {words}")
            code = 2
        else:
            raise
    except OSError as error:
        if is_of_memory(error):
            output.say(f"{COMMAND}: {tr(output.NO_MEMORY)}")
        elif error.filename is not None or error.errno not in output.BROKEN:
            raise  # A file failed, not a stream: only files have names.
        elif not isinstance(error, BrokenPipeError):
            reason = Message(error.strerror or "")
            words = tr("The output can't be written: {reason}.", reason=reason)
            output.say(f"{COMMAND}: {words}")
        code = 1
    output.drop_broken_streams()
    return code


def _missing_package(error: Exception) -> str | None:
    """Return the name of another project's package that can't be imported, as it isn't there."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return None if name and name.split(".")[0] == __name__.split(".")[0] else name


@contextmanager
def _interruptible() -> Iterator[None]:
    """Convert any exception after Ctrl+C to KeyboardInterrupt: an interrupted import may raise any.

    This project's own errors and errors of streams are not converted.
    """
    usual, seen = signal.getsignal(signal.SIGINT), threading.Event()
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.set()
        usual(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    except (DecodingError, OSError):
        raise
    except Exception as error:
        if seen.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, usual)


def _run(argv: Sequence[str] | None) -> int:
    output.replace_unencodable()
    parser = build_parser()
    with argparse_translated():
        args = parser.parse_args(argv)
    if "run" not in args:
        output.say(parser.format_help().rstrip())
        return 2
    try:
        return int(args.run(args))
    except ConfigError as error:
        # Replace the setting's name with the option's name.
        name = args.options.get(error.setting, error.setting)
        output.say(f"{COMMAND}: {_with_options(tr(error.sentence(name)), args)}")
        return 2


def _with_options(sentence: str, args: argparse.Namespace) -> str:
    """Return a sentence about settings with their options' names.

    Only names with an underscore are replaced: the others are words too. A name that is also a
    value of an option, such as `top_k` of --tree-picks, stays.
    """

    def name(match: re.Match[str]) -> str:
        word = match[0]
        return word if word in args.choices else args.options.get(word, word)

    return _FIELD.sub(name, sentence)
