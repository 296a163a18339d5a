"""`python -m core models`: list the available models and the cache of converted GGUF files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ..loading import load


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--load", metavar="MODEL", help="load a model once; a GGUF file is converted by it"
    )
    parser.add_argument(
        "--empty-cache", action="store_true", help="remove the converted GGUF files"
    )


def run(args: Namespace) -> int:
    """Empty the cache or load a model on request, then list the models."""
    from ...models.gguf.cache import cache_root, cached_bytes, empty_cache
    from ...models.loading.memory import in_words
    from ...models.packaged import PACKAGED, is_installed
    from ...models.places import EMBEDDED_PREFIX, list_diffusion, list_embedded

    if args.empty_cache:
        print(f"[{in_words(empty_cache())} freed]", file=sys.stderr)
    if args.load is not None:
        load(args.load)
    for name in list_embedded():
        print(f"{EMBEDDED_PREFIX}{name}")
    for name in list_diffusion():
        print(f"{EMBEDDED_PREFIX}{name}: fills masks, for --method diffusion")
    for name, model in PACKAGED.items():
        print(f"{name}: {model.words}, {'installed' if is_installed(name) else model.command}")
    count, size = cached_bytes()
    print(f"Converted GGUF files: {count} ({in_words(size)}) in {cache_root()}")
    return 0
