"""Sampling on the command line."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser

from core.cli.method import DRAWING, Method
from core.decoding.autoregressive.config import Sampling
from core.decoding.config import DRAW_METHODS


def _add(parser: ArgumentParser) -> None:
    parser.add_argument_group("sampling").add_argument(
        "--draw",
        choices=DRAW_METHODS,
        default=SUPPRESS,
        help=f"how to draw (default: {Sampling.__dataclass_fields__['draw'].default})",
    )


METHOD = Method(config=Sampling, words="sampling", own=["draw"], asks=[*DRAWING, "draw"], add=_add)
