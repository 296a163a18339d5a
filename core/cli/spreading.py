"""Parallel runs of a command: processes, or concurrent requests to a server."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from shutil import get_terminal_size
from time import monotonic
from typing import TYPE_CHECKING

from ..language import tr
from ..language.columns import cut, left, text_columns
from .output import say

if TYPE_CHECKING:
    from ..evaluation.workers.work import Pool

# Seconds between two progress lines if stderr is no terminal.
_EVERY = 10.0


def add_workers(parser: ArgumentParser) -> None:
    """Add `--workers`, and `--ray` for workers in a Ray cluster."""
    parser.add_argument(
        "--workers", type=int, metavar="INT",
        help="processes, each with its own models (default: 1); with models on servers the most "
        "questions at once (default: as many as the servers take)",
    )  # fmt: skip
    parser.add_argument(
        "--ray", default="", metavar="ADDRESS",
        help="the processes are a Ray cluster's (auto, local, ray://HEAD:10001)",
    )  # fmt: skip


def workers_of(args: Namespace) -> int:
    """Return the number of processes; raise ConfigError if it is out of range."""
    from ..evaluation.workers.work import require_workers

    workers: int = 1 if args.workers is None else args.workers
    require_workers(workers)
    return workers


def pool_of(args: Namespace, models: Iterable[object]) -> Pool | None:
    """Return the pool of processes, which load their own models; None for a single process."""
    from ..evaluation.workers.processes import Processes
    from ..evaluation.workers.ray import RayCluster
    from ..evaluation.workers.threads import all_on_servers

    workers = workers_of(args)
    if args.ray:
        return RayCluster(args.ray, workers)
    return Processes(workers) if workers > 1 and not all_on_servers(models) else None


def in_flight(args: Namespace) -> int:
    """Return the largest number of concurrent questions, for models on servers."""
    from ..evaluation.workers.threads import MAX_IN_FLIGHT

    return MAX_IN_FLIGHT if args.workers is None else int(args.workers)


def progress_of(
    total: int, clock: Callable[[], float] = monotonic
) -> Callable[[object, int], None]:
    """Return a callback that prints the number of finished runs and the time left on stderr.

    A terminal shows one line that is overwritten; elsewhere a line follows every `_EVERY` seconds.
    """
    from ..evaluation.progress import time_left

    time_of, terminal = time_left(), sys.stderr.isatty()
    last, width = clock(), 0

    def show(_: object, ended: int) -> None:
        nonlocal last, width
        remaining = time_of(ended, total)
        words = tr("{ended} of {total} runs, {left}", ended=ended, total=total, left=remaining)
        if terminal:
            words = left(cut(words, get_terminal_size().columns - 1), width)
            width = text_columns(words)
            print(f"\r{words}", end="\n" if ended == total else "", file=sys.stderr, flush=True)
        elif ended == total or clock() - last >= _EVERY:
            last = clock()
            say(words)

    return show
