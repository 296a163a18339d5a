"""Over which processes a command spreads its runs."""

from __future__ import annotations

from argparse import ArgumentParser


def add_workers(parser: ArgumentParser) -> None:
    """`--workers`, and `--ray` where they are a cluster's."""
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N",
        help="processes, each with its own models (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--ray", default="", metavar="ADDRESS",
        help="the processes are a Ray cluster's (auto, local, ray://HEAD:10001)",
    )  # fmt: skip
