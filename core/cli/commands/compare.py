"""`python -m core compare`: find the first difference of two runs and its cause."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from core.cli.loading import load
from core.decoding.comparison.measures import PairMeasures, recorded_measures
from core.decoding.comparison.types import CAUSES, PartedToken
from core.decoding.comparison.words import differences
from core.decoding.counting import counted, nth
from core.decoding.errors import ConfigError
from core.decoding.files import write_file
from core.decoding.record.trace import Trace
from core.export.comparison import comparison_json
from core.figures.base.labels import NBSP, percent


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("left", help="a trace file")
    parser.add_argument("right", help="the trace file to compare it with")
    parser.add_argument(
        "--model", help="the left run's model, to exchange one setting at a time (as in decode)"
    )
    parser.add_argument("--dtype", help="number type of the weights; default: the left file's")
    parser.add_argument("--device", help="device of the model, as in decode")
    parser.add_argument(
        "--right-model", help="the right run's model, where it is another one than --model"
    )
    parser.add_argument(
        "--read",
        choices=("left", "right"),
        help="read this run's text with both models: divergences over the whole vocabulary",
    )
    parser.add_argument("--json", help="write both runs and their measures to this file")


def run(args: Namespace) -> int:
    """Print the differences of two runs and their cause; return 1 if the tokens differ."""
    from core import read_trace
    from core.decoding.comparison.parting import StepAgain, compare

    left, right = read_trace(args.left), read_trace(args.right)

    def again(at: int) -> StepAgain:
        from core.decoding.comparison.deciding import ModelStep

        return ModelStep(load(args.model, args.dtype or left.dtype or None, args.device), left, at)

    parting = compare(left, right, None if args.model is None else again)
    if args.json:
        content = comparison_json(left, right, parting, _measures(args, left, right))
        write_file(args.json, content)
    for name, one, other in differences(left, right):
        print(f"{name}: {one} | {other}")
    shared = len(left.token_ids) if parting.at is None else parting.at
    if parting.cause != "input":
        print(f"equal: {counted(shared, 'token')}")
    for rival, trace in zip(parting.rivals, (left, right), strict=False):
        print(f"token {nth(shared)} of {trace.config.method}: {_shown(rival)}")
    print(f"{CAUSES[parting.cause]}. {parting.reason}")
    return 0 if parting.at is None else 1


def _measures(args: Namespace, left: Trace, right: Trace) -> PairMeasures:
    """Return the measures of two runs: of one text under both models where it is to be read."""
    if not args.read:
        return recorded_measures(left, right)
    if args.model is None:
        raise ConfigError("--read takes --model: the models read the text.")
    from core.decoding.comparison.readings import read_under

    model = load(args.model, args.dtype or left.dtype or None, args.device)
    other = args.right_model or args.model
    if other == args.model and left.dtype == right.dtype:
        return read_under(model, model, left, right, args.read)
    second = load(other, args.dtype or right.dtype or None, args.device)
    return read_under(model, second, left, right, args.read)


def _shown(rival: PartedToken) -> str:
    probs = [
        "not recorded" if prob is None else percent(prob).replace(NBSP, " ")
        for prob in (rival.left_prob, rival.right_prob)
    ]
    return f"{rival.text!r} ({' | '.join(probs)})"
