"""`python -m core serve`: the OpenAI-compatible endpoint without the pages."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from core.cli.output import say
from core.decoding.validation import require_whole

_PORTS = 0, 65_535


def add(parser: ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--address",
        metavar="HOST",
        default="127.0.0.1",
        help="default: %(default)s; any other one needs a key",
    )
    parser.add_argument(
        "--port",
        metavar="INT",
        type=int,
        default=8000,
        help="0: any free one (default: %(default)s)",
    )


def run(args: Namespace) -> int:
    """Answer until Ctrl+C; 1 if the address or port can't be had."""
    require_whole("Endpoint", "port", args.port, *_PORTS)
    from core.server.api.serve import AddressError, serve
    from core.server.settings import settings

    try:
        serve(args.address, args.port, settings())
    except AddressError as error:
        say(f"python -m core: {error}")
        return 1
    return 0
