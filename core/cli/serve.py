"""`python -m core serve`: the OpenAI-compatible endpoint without the pages."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def add(parser: ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "--address", default="127.0.0.1", help="default: %(default)s; any other one needs a key"
    )
    parser.add_argument("--port", type=int, default=8000, help="default: %(default)s")


def run(args: Namespace) -> int:
    """Answer until Ctrl+C."""
    from core.server.api.serve import serve
    from core.server.settings import settings

    serve(args.address, args.port, settings())
    return 0
