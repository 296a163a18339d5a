"""`python -m core compare`: find the first difference of two runs and its cause."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import cache
from typing import Any

from ...decoding.comparison.measures import PairMeasures, recorded_measures
from ...decoding.comparison.types import CAUSES, PartedToken, Parting
from ...decoding.comparison.words import differences
from ...decoding.counting import counted, nth
from ...decoding.errors import ConfigError
from ...decoding.files import write_file
from ...decoding.record.trace import Trace
from ...decoding.validation import brief
from ...export.comparison import comparison_json
from ...figures.base.labels import NBSP, percent
from ...language import N_, Message, tr
from ..output import require_writable, say_written, written
from .check import load_as

_OTHER_LEFT = N_(
    "{maker} made the left run, and {option} is {model}: name the left run's model by {option}."
)
_OTHER_RIGHT = N_(
    "{maker} made the right run, and {option} is {model}: name the right run's model by {option}."
)


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("left", help="a trace file")
    parser.add_argument("right", help="the trace file to compare it with")
    parser.add_argument(
        "--model", help="the left run's model, to exchange one setting at a time (as in decode)"
    )
    parser.add_argument("--dtype", help="number type of the weights; default: each file's")
    parser.add_argument("--device", help="device of the model, as in decode")
    parser.add_argument(
        "--right-model", help="the right run's model, where it is another one than --model"
    )
    parser.add_argument("--draft", help="the draft model of a run of contrastive decoding")
    parser.add_argument(
        "--read",
        choices=("left", "right"),
        help="for --json: read this run's text with both models, over the whole vocabulary",
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write both runs and their measures; - is stdout"
    )


def run(args: Namespace) -> int:
    """Print the differences of two runs and their cause; return 1 if the tokens differ."""
    from ... import read_trace
    from ...decoding.comparison.parting import StepAgain, compare

    _require_options(args)
    left, right = read_trace(args.left), read_trace(args.right)
    model_of_left = cache(lambda: _load_maker("--model", args.model, left, args))

    def again(at: int) -> StepAgain:
        from ...decoding.comparison.deciding import ModelStep

        return ModelStep(model_of_left(), left, at)

    def measures() -> PairMeasures:
        if not args.read:
            return recorded_measures(left, right)
        from ...decoding.comparison.readings import read_under

        models = model_of_left(), _model_of_right(args, left, right, model_of_left)
        return read_under(*models, left, right, args.read)

    parting = compare(left, right, None if args.model is None else again)
    if args.json is None:
        _print(left, right, parting)
    else:
        with written(args.json) as file:
            write_file(file, comparison_json(left, right, parting, measures()))
            _print(left, right, parting)
        say_written(args.json)
    return 0 if parting.at is None else 1


def _require_options(args: Namespace) -> None:
    """Raise an error if an option has no effect, or the file can't be written.

    Raises:
        ConfigError, DecodingError: the message names the option or the file.
    """
    needs = {
        "dtype": "model",
        "device": "model",
        "draft": "model",
        "read": "model",
        "right_model": "read",
    }
    if args.json is None:
        needs["read"] = "json"
    for name, other in needs.items():
        if getattr(args, name) is not None and getattr(args, other) is None:
            raise ConfigError(
                Message(
                    "{option} takes {other}; add it.",
                    option=f"--{name.replace('_', '-')}", other=f"--{other}",
                )
            )  # fmt: skip
    if args.json is not None:
        require_writable(args.json, "--json")


def _load_maker(option: str, name: str, run: Trace, args: Namespace) -> Any:
    """Return the model that made the run, with the draft of --draft if there is one.

    Raises:
        ConfigError: another model made it; the message names the option.
        ModelError: the model can't be found or used.
    """
    from ...decoding.loop.same_model import made_by
    from ...decoding.loop.second import WithDraft

    model = load_as(run.dtype, name, args)
    # Without a revision the same weights may have another name.
    if run.model_revision and not made_by(run, model):
        sentence = _OTHER_RIGHT if option == "--right-model" else _OTHER_LEFT
        names = {"maker": brief(run.model_id), "option": option, "model": brief(model.model_id)}
        raise ConfigError(Message(sentence, **names))
    if args.draft is None:
        return model
    return WithDraft(model, load_as(run.draft_dtype, args.draft, args))


def _model_of_right(
    args: Namespace, left: Trace, right: Trace, model_of_left: Callable[[], Any]
) -> Any:
    """Return the model that reads for the right run; that of the left run where it made both.

    Raises:
        ConfigError: no model is named for the right run, and another one made it.
        ModelError: it can't be found or used.
    """
    from ...decoding.loop.same_model import is_of_dtype, made_by

    if args.right_model is not None:
        return _load_maker("--right-model", args.right_model, right, args)
    model = model_of_left()
    if not made_by(right, model) and (right.model_id, right.model_revision) != (
        left.model_id,
        left.model_revision,
    ):
        raise ConfigError(
            Message(
                "{maker} made the right run, and --model is {model}: name the right run's model by "
                "--right-model.",
                maker=brief(right.model_id),
                model=brief(model.model_id),
            )
        )
    same = args.dtype is not None or is_of_dtype(right.dtype, model)
    return model if same else _load_maker("--model", args.model, right, args)


def _print(left: Trace, right: Trace, parting: Parting) -> None:
    for name, one, other in differences(left, right):
        print(f"{tr(name)}: {tr(one)} | {tr(other)}")
    shared = len(left.token_ids) if parting.at is None else parting.at
    if parting.cause != "input":
        print(tr("equal: {tokens}", tokens=counted(shared, "token")))
    for name, rival, trace in zip("AB", parting.rivals, (left, right), strict=False):
        print(
            tr(
                "token {number} of {run} ({method}): {token}",
                number=nth(shared), run=name, method=trace.config.method, token=_shown(rival),
            )
        )  # fmt: skip
    print(tr("{cause}. {reason}", cause=Message(CAUSES[parting.cause]), reason=parting.reason))


def _shown(rival: PartedToken) -> str:
    probs = [
        tr("not recorded") if prob is None else percent(prob).replace(NBSP, " ")
        for prob in (rival.left_prob, rival.right_prob)
    ]
    return f"{rival.text!r} ({' | '.join(probs)})"
