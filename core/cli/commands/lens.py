"""`python -m core lens`: print the prediction after every layer (logit lens), and the attention."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ...decoding.counting import nth
from ...decoding.errors import ConfigError
from ...decoding.inside.types import Attention, Lens
from ...language import N_, Message, tr
from ...language.columns import left, right
from ..loading import load
from ..output import quoted
from . import decode

# Width of a column, and of the names of positions, in characters.
_CELL, _NAME = 15, 14


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    decode.add_prompt(parser, N_("the text to read; - reads stdin"))
    parser.add_argument(
        "--attention",
        type=int,
        metavar="INT",
        help="also print at which positions this position (from 1) looks, by layer and head",
    )


def run(args: Namespace) -> int:
    """Print a line for each position: its token, the likeliest next token after every layer, and
    the first layer after which the actual next token stays the likeliest."""
    text = decode.prompt_of(args)
    from ...decoding.requirements import encode_prompt
    from ...models.inside import attention, logit_lens, require_modules

    model = require_modules(load(args.model, args.dtype, args.device))
    ids = encode_prompt(model, decode.put(model, text, args))
    if args.attention is not None and not 1 <= args.attention <= len(ids):
        raise ConfigError(
            Message(
                "--attention is a position of this prompt, from 1 to {most}, got {given}.",
                most=len(ids),
                given=args.attention,
            )
        )
    _print_lens(logit_lens(model, ids))
    if args.attention is not None:
        _print_attention(attention(model, ids, args.attention - 1))
    return 0


def _print_lens(lens: Lens) -> None:
    embedding, *layers = lens.layers
    names = [tr("token"), tr(embedding), *(tr("after {layer}", layer=name) for name in layers)]
    print(f"{right(tr('at'), 5)}  {_row([*names, tr('next'), tr('decided')])}")
    for at, position in enumerate(lens.positions):
        cells = [f"{quoted(cell.text)} {cell.prob:4.0%}" for cell in position.cells]
        decided = tr("never") if position.decided is None else tr(lens.layers[position.decided])
        print(
            f"{nth(at):5}  "
            + _row(
                [quoted(position.text, _NAME), *cells, quoted(position.next_text, _NAME), decided]
            )
        )


def _print_attention(attention: Attention) -> None:
    where = nth(attention.position)
    words = tr(
        "Position {number} looks at (by layer and head, the three largest weights):", number=where
    )
    print(f"\n{words}")
    for layer, heads in enumerate(attention.weights, start=1):
        for head, row in enumerate(heads, start=1):
            places = sorted(range(len(row)), key=row.__getitem__, reverse=True)[:3]
            seen = ", ".join(
                f"{nth(at)} {quoted(attention.texts[at], _NAME)} {row[at]:.0%}" for at in places
            )
            print(f"{layer:5}.{head:<3} {seen}")


def _row(cells: list[str]) -> str:
    first, *others = cells
    return " ".join([left(first, _NAME), *(left(cell, _CELL) for cell in others)]).rstrip()
