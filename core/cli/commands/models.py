"""`python -m core models`: list the available models and the cache of converted GGUF files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ...language import tr
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
        print(tr("[{size} freed]", size=in_words(empty_cache())), file=sys.stderr)
    if args.load is not None:
        load(args.load)
    for name in list_embedded():
        print(f"{EMBEDDED_PREFIX}{name}")
    for name in list_diffusion():
        name = f"{EMBEDDED_PREFIX}{name}"
        print(tr("{name}: fills masks, for --method diffusion", name=name))
    for name, model in PACKAGED.items():
        state = tr("installed") if is_installed(name) else model.command
        print(f"{name}: {tr(model.words)}, {state}")
    count, size = cached_bytes()
    print(
        tr(
            "Converted GGUF files: {count} ({size}) in {folder}",
            count=count, size=in_words(size), folder=cache_root(),
        )
    )  # fmt: skip
    return 0
