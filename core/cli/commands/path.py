"""`python -m core path`: make a run and record all its function calls."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from typing import Any

from ...decoding.errors import ConfigError
from ...decoding.files import write_file
from ...language import N_, Message
from ..output import STDOUT, require_writable, say_written, writing, written
from . import decode

# Option: help text, and name of the function that returns the file's content.
_FILES = {
    "json": (N_("write nested calls as JSON here; - is stdout"), "as_json"),
    "otlp": (
        N_("write OpenTelemetry spans as OTLP/JSON, for Jaeger or any collector here; - is stdout"),
        "as_otlp",
    ),
    "chrome": (N_("write a Chrome trace, for Perfetto here; - is stdout"), "as_chrome"),
}


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    decode.add_request(parser)
    group = parser.add_argument_group("the data path")
    for name, (text, _) in _FILES.items():
        group.add_argument(f"--{name}", metavar="FILE", help=text)
    group.add_argument(
        "--depth",
        type=int,
        default=6,
        metavar="INT",
        help="calls within calls that are printed, counted in each part of the run from its first "
        "function (default: %(default)s); files hold all",
    )
    group.add_argument(
        "--all",
        action="store_true",
        help="print every call, those of the arguments and of loading too",
    )
    group.add_argument(
        "--modules",
        action="store_true",
        help="the modules inside the forward too; runs without this project's fused step",
    )


def run(args: Namespace) -> int:
    """Print the calls with arguments, results, files and lines; the text itself goes to stderr."""
    if args.depth < 1:
        raise ConfigError(Message("--depth is at least 1, got {given}.", given=args.depth))
    paths = {name: getattr(args, name) for name in _FILES if getattr(args, name) is not None}
    for name, path in paths.items():
        require_writable(path, f"--{name}")
    if list(paths.values()).count(STDOUT) > 1:
        raise ConfigError(N_("Standard output takes one file: give - to one option only."))
    from ...traces.data_path import export
    from ...traces.data_path.recorder import record
    from ...traces.data_path.text import as_lines

    def watch(model: Any) -> None:
        if args.modules:
            from ...models.inside import require_modules

            recorder.watch(require_modules(model))

    with record() as recorder, redirect_stdout(sys.stderr):
        outcome = decode.carry_out(args, decode.request_of(args), watch)
    if STDOUT not in paths.values():
        for line in as_lines(recorder.path, None if args.all else args.depth):
            print(line)
    for name, path in paths.items():
        with written(path) as file:
            data = getattr(export, _FILES[name][1])(recorder.path)
            with writing(file):
                write_file(file, json.dumps(data, ensure_ascii=False))
        say_written(path)
    return outcome.code
