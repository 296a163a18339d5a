"""`python -m core serve`: the OpenAI-compatible endpoint without the pages."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from itertools import chain

from ....decoding.errors import ConfigError
from ....decoding.validation import require_whole
from ....installation import COMMAND
from ....language import N_, Message, use
from ....language.catalogue import ENGLISH
from ...output import say

_PORTS = 0, 65_535


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
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
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        help="offer this model alone: as in decode, or a name of DECODING_EXPLORER_MODELS; a "
        "second one, such as a draft, by --model again",
    )
    parser.add_argument(
        "--api-key",
        metavar="KEY",
        action="append",
        default=[],
        help="a key that requests must carry, beside those of DECODING_EXPLORER_API_KEYS, which "
        "the list of processes doesn't show",
    )


def run(args: Namespace) -> int:
    """Serve until Ctrl+C; return 1 if the address or port is not available."""
    require_whole("Endpoint", "port", args.port, *_PORTS)
    from ....server.api.local_models import MOST_LOADED
    from ....server.api.serve import AddressError, serve
    from ....server.settings import read_keys, settings

    if len(args.model) > MOST_LOADED:
        raise ConfigError(
            Message(
                "--model can be given {most} times, got {given} models.",
                most=MOST_LOADED,
                given=len(args.model),
            )
        )
    operator = settings()
    more = [read_keys(text, "--api-key") for text in args.api_key]
    if not all(more):
        raise ConfigError(N_("--api-key is empty; give a key, or leave it out."))
    keys = (*operator.api_keys, *chain.from_iterable(more))
    try:
        with use(ENGLISH):  # Answers and logs of a server are for programs.
            serve(args.address, args.port, replace(operator, api_keys=keys), args.model)
    except AddressError as error:
        say(f"{COMMAND}: {error.shown}")
        return 1
    return 0
