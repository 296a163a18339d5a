"""Over which processes, or how many requests to a server, a command spreads its runs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from shutil import get_terminal_size
from time import monotonic

from core.cli.output import say

# Seconds between two lines of progress where stderr is no terminal.
_EVERY = 10.0


def add_workers(parser: ArgumentParser) -> None:
    """`--workers`, and `--ray` where they are a cluster's."""
    parser.add_argument(
        "--workers", type=int, metavar="INT",
        help="processes, each with its own models (default: 1); with models on servers the most "
        "questions at once (default: as many as the servers take)",
    )  # fmt: skip
    parser.add_argument(
        "--ray", default="", metavar="ADDRESS",
        help="the processes are a Ray cluster's (auto, local, ray://HEAD:10001)",
    )  # fmt: skip


def in_flight(workers: int | None) -> int:
    """Questions at once at most, where the models are on servers."""
    from core.evaluation.workers.threads import MAX_IN_FLIGHT

    return MAX_IN_FLIGHT if workers is None else workers


def progress_of(
    total: int, clock: Callable[[], float] = monotonic
) -> Callable[[object, int], None]:
    """Return a callback that says on stderr how many runs have ended, and the time left.

    A terminal has one line that is written over; elsewhere a line follows every `_EVERY` seconds.
    """
    from core.evaluation.progress import time_left

    left, terminal = time_left(), sys.stderr.isatty()
    last, width = clock(), 0

    def show(_: object, ended: int) -> None:
        nonlocal last, width
        words = f"{ended} of {total} runs, {left(ended, total)}"
        if terminal:
            words = words[: get_terminal_size().columns - 1].ljust(width)
            width = len(words)
            print(f"\r{words}", end="\n" if ended == total else "", file=sys.stderr, flush=True)
        elif ended == total or clock() - last >= _EVERY:
            last = clock()
            say(words)

    return show
