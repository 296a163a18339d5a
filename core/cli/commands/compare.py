"""`python -m core compare`: find the first difference of two runs and its cause."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from core.cli.loading import load
from core.decoding.comparison.types import CAUSES, PartedToken
from core.decoding.counting import counted, nth


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("left", help="a trace file")
    parser.add_argument("right", help="the trace file to compare it with")
    parser.add_argument(
        "--model", help="the left run's model, to exchange one setting at a time (as in decode)"
    )
    parser.add_argument("--dtype", help="number type of the weights; default: the left file's")
    parser.add_argument("--device", help="device of the model, as in decode")


def run(args: Namespace) -> int:
    """Print the differences of two runs and their cause; return 1 if the tokens differ."""
    from core import read_trace
    from core.decoding.comparison.parting import StepAgain, compare

    left, right = read_trace(args.left), read_trace(args.right)

    def again(at: int) -> StepAgain:
        from core.decoding.comparison.deciding import ModelStep

        return ModelStep(load(args.model, args.dtype or left.dtype or None, args.device), left, at)

    parting = compare(left, right, None if args.model is None else again)
    for difference in parting.settings:
        print(f"{difference.name}: {difference.left} | {difference.right}")
    shared = len(left.token_ids) if parting.at is None else parting.at
    if parting.cause != "input":
        print(f"equal: {counted(shared, 'token')}")
    for rival, trace in zip(parting.rivals, (left, right), strict=False):
        print(f"token {nth(shared)} of {trace.config.method}: {_shown(rival)}")
    print(f"{CAUSES[parting.cause]}. {parting.reason}")
    return 0 if parting.at is None else 1


def _shown(rival: PartedToken) -> str:
    probs = [
        "not recorded" if prob is None else f"{prob:.4%}"
        for prob in (rival.left_prob, rival.right_prob)
    ]
    return f"{rival.text!r} ({' | '.join(probs)})"
