"""`python -m core COMMAND`: parse the arguments, run the command, print errors as one sentence."""

from __future__ import annotations

import argparse
import io
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from ..decoding.errors import ConfigError, DecodingError, is_of_memory
from ..installation import COMMAND, pip_command
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


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands.

    The parsed arguments hold the command's `run` and, as `options`, the option string of each
    setting; they hold neither if no command is given.
    """
    parser = _Parser(prog=COMMAND, description="Decode with a language model and keep every step.")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, command, text in (
        ("decode", decode, "stream a text and write its trace file"),
        ("branch", branch, "go on from a step of a trace file with another token"),
        ("path", path, "decode, and print every function that ran with what went in and out"),
        ("lens", lens, "what the model would say after every layer, at each position of a text"),
        ("read", read, "surprisal of every token of a text, and its perplexity"),
        ("check", check, "validate a trace file and print its checks"),
        ("many", many, "run one prompt many times, or over a grid of two settings"),
        ("compare", compare, "where two runs part, and why"),
        ("figure", figure, "draw a figure of a trace file: SVG, PDF, PNG, CSV, HTML"),
        ("worksheet", worksheet, "a lesson of the course as PDF to print, with its answers"),
        ("sweep", sweep, "accuracy against the thinking budget"),
        ("evaluate", evaluate, "which ways of decoding answer questions right"),
        ("models", models, "list the models at hand, load one, empty the cache of GGUF files"),
        ("serve", serve, "answer OpenAI's API, without the pages"),
        ("app", app, "serve the pages and the API"),
    ):
        subparser = commands.add_parser(name, help=text)
        command.add(subparser)
        options = {
            action.dest: action.option_strings[0]
            for action in subparser._actions
            if action.option_strings
        }
        subparser.set_defaults(run=command.run, options=options)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code.

    Returns:
        0 done; 1 a check failed, the output can't be written, or memory ran out; 2 bad input; 130
        stopped by Ctrl+C. One sentence on stderr gives the reason, except after a broken pipe.
    """
    try:
        output.require_streams()
        try:
            with _interruptible():
                return _run(argv)
        finally:
            sys.stdout.flush()
    except DecodingError as error:
        output.say(f"{COMMAND}: {error}")
        code = 2
    except KeyboardInterrupt:
        output.say("\nstopped")
        code = 130
    except (MemoryError, ImportError, RuntimeError) as error:
        if is_of_memory(error):
            output.say(f"{COMMAND}: {output.NO_MEMORY}")
            code = 1
        elif package := _missing_package(error):
            output.say(f"{COMMAND}: The package {package} isn't installed: {pip_command('app')}.")
            code = 2
        else:
            raise
    except OSError as error:
        if is_of_memory(error):
            output.say(f"{COMMAND}: {output.NO_MEMORY}")
        elif error.filename is not None or error.errno not in output.BROKEN:
            raise  # A file failed, not a stream: only files have names.
        elif not isinstance(error, BrokenPipeError):
            output.say(f"{COMMAND}: The output can't be written: {error.strerror}.")
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
    parser = build_parser()
    args = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The terminal's encoding may lack characters that a model writes.
        sys.stdout.reconfigure(errors="backslashreplace")
    if "run" not in args:
        output.say(parser.format_help().rstrip())
        return 2
    try:
        return int(args.run(args))
    except ConfigError as error:
        # Replace the setting's name with the option's name.
        name = args.options.get(error.setting, error.setting)
        raise ConfigError(error.sentence(name)) from None
