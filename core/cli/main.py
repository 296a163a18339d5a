"""`python -m core COMMAND`: reads the arguments, runs the command, turns errors into sentences."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from core.cli import check, decode, sweep
from core.decoding.errors import DecodingError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """The commands with their options; the parsed arguments hold the command's `run`."""
    parser = _Parser(
        prog="python -m core", description="Decode with a language model and keep every step."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("decode", decode, "stream a text and write its trace file"),
        ("check", check, "validate a trace file and print its checks"),
        ("sweep", sweep, "accuracy against the thinking budget"),
    ):
        own = commands.add_parser(name, help=text)
        command.add(own)
        own.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 a check failed, 2 bad input (one sentence on stderr)."""
    args = build_parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal may hold fewer characters than a model writes.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except DecodingError as error:
        print(f"python -m core: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Nobody reads on (`| head`); what is still buffered goes nowhere, or the exit would fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
