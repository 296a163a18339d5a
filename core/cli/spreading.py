"""Over which processes, or how many requests to a server, a command spreads its runs."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable


def add_workers(parser: ArgumentParser) -> None:
    """`--workers`, and `--ray` where they are a cluster's."""
    parser.add_argument(
        "--workers", type=int, metavar="N",
        help="processes, each with its own models (default: 1); with models on servers the most "
        "questions at once (default: as many as the servers take)",
    )  # fmt: skip
    parser.add_argument(
        "--ray", default="", metavar="ADDRESS",
        help="the processes are a Ray cluster's (auto, local, ray://HEAD:10001)",
    )  # fmt: skip


def in_flight(workers: int | None) -> int:
    """Questions at once at most, where the models are on servers."""
    from core.evaluation.in_flight import MAX_IN_FLIGHT

    return MAX_IN_FLIGHT if workers is None else workers


def progress_of(total: int) -> Callable[[object, int], None]:
    """What writes on one line how many of so many runs have ended, and the time left."""
    from core.evaluation.progress import time_left

    left = time_left()

    def show(_: object, ended: int) -> None:
        words = f"\r{ended} of {total} runs, {left(ended, total)}".ljust(60)
        print(words, end="", file=sys.stderr, flush=True)

    return show
