"""`python -m core branch`: continue a stored run with another token at one step."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ...decoding.counting import at_step, counted, nth
from ...decoding.errors import ConfigError
from ...decoding.files import write_file
from ...decoding.record.forks import MOST_GROWN
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...decoding.record.tree import MAX_RUNS, RunTree
from ...decoding.validation import brief
from ...language import N_, Message, tr
from ..method import stream
from ..new_tokens import candidates_of, tokens_of, with_seed
from ..output import require_writable, say, say_written, writing, written
from .check import load_as
from .decode import interrupted_by_user, print_summary

_FORKS = 8


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", help="a trace file, or a file of --tree")
    parser.add_argument("--at", type=int, metavar="STEP", help="step of the new token, from 1")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--text", help="text of the new token or tokens")
    other.add_argument("--token-id", type=int, nargs="+", metavar="ID", help="the new tokens' ids")
    other.add_argument("--rank", type=int, metavar="INT", help="the step's candidate of this rank")
    other.add_argument(
        "--top",
        type=int,
        metavar="INT",
        help="each of the step's likeliest 2 to 8 but the run's own, in one batch",
    )
    other.add_argument(
        "--above",
        type=float,
        metavar="P",
        help="each other candidate of the step with at least this probability by the model",
    )
    other.add_argument(
        "--forks",
        type=int,
        nargs="?",
        const=_FORKS,
        metavar="INT",
        help="how much the ending changes with the second candidate, at so many of the steps with "
        "the most entropy (default: %(const)s); without --at",
    )
    parser.add_argument(
        "--depth",
        type=int,
        metavar="INT",
        help="with --above: this many steps in a row fork, in each run (default: 1)",
    )
    parser.add_argument("--seed", type=int, metavar="INT", help="another seed; default: the run's")
    parser.add_argument(
        "--run",
        dest="number",
        type=int,
        metavar="INT",
        help="number of the run in a tree, from 1 (default: the last)",
    )
    parser.add_argument("--model", help="default: the file's, if it is embedded")
    parser.add_argument("--dtype", help="number type of the weights; default: the file's")
    parser.add_argument("--device", help="device of the model, as in decode")
    parser.add_argument("--json", metavar="FILE", help="write the run's trace file; - is stdout")
    parser.add_argument("--tree", metavar="FILE", help="write the file of all the runs")


def run(args: Namespace) -> int:
    """Stream the text of the new run, and write its trace or the tree."""
    for path, option in ((args.json, "--json"), (args.tree, "--tree")):
        if path is not None:
            require_writable(path, option)
    tree = _read(args.file)
    place = len(tree.branches) - 1 if args.number is None else args.number - 1
    if not 0 <= place < len(tree.branches):
        raise ConfigError(
            Message(
                "--run names run {number}, and the file has {runs}.",
                number=args.number, runs=len(tree.branches),
            )
        )  # fmt: skip
    parent = tree.branches[place].trace
    if (args.at is None) != (args.forks is not None):
        raise ConfigError(N_("Name a step with --at, or list the fork points with --forks."))
    if args.depth is not None and args.above is None:
        raise ConfigError(
            Message(
                "{option} does nothing without {other}; give both.",
                option="--depth",
                other="--above",
            )
        )
    if args.forks is not None:
        return _list_forks(args, tree, place)
    if args.top is not None or args.above is not None:
        return _grow(args, tree, place)
    _require_room(args, tree, 1)
    if args.json is None:
        trace = _go_on(args, parent)
    else:
        with written(args.json) as path:
            trace = _go_on(args, parent)
            with writing(path):
                trace.save(path)
        say_written(args.json)
    if args.tree is not None:
        _write(args.tree, tree.grown(place, args.at - 1, trace))
    return 130 if trace.finish_reason == "cancelled" else 0


def _read(file: str) -> RunTree:
    """Return the runs in a file; a trace becomes a tree with one run."""
    from ...traces.file import parsed, trace_of
    from ...traces.tree_file import tree_of

    data = parsed(file)
    if isinstance(data, dict) and data.get("schema") == RunTree.schema:
        return tree_of(data)
    return RunTree.of(trace_of(data))


def _grow(args: Namespace, tree: RunTree, place: int) -> int:
    """Print each of the runs that go on with a step's likeliest tokens, and write their tree."""
    from ...decoding.autoregressive.forks import Grown
    from ...decoding.check import branch_each_checked, grow_above_checked
    from ...figures.base.labels import visible_token

    option = "--above" if args.top is None else "--top"
    if args.top is not None and not 2 <= args.top <= MOST_GROWN:
        raise ConfigError(
            Message("--top takes 2 to {most} tokens, got {given}.", most=MOST_GROWN, given=args.top)
        )
    if args.tree is None:
        raise ConfigError(
            Message("{option} writes its runs to a tree: name its file with --tree.", option=option)
        )
    _require_own_dice(args, option)
    parent, at = tree.branches[place].trace, args.at - 1
    candidates = sorted(candidates_of(args, parent), key=lambda candidate: candidate.rank)
    ids = [c.token_id for c in candidates[: args.top] if c.token_id != parent.token_ids[at]]
    _require_room(args, tree, 1 if args.top is None else len(ids))
    model = _load(args, parent)
    with interrupted_by_user() as interrupted:
        if args.top is None:
            room = MAX_RUNS - len(tree.branches)
            say(
                tr(
                    "[at most {runs}, of {candidates}]",
                    runs=counted(room, "run"), candidates=counted(len(candidates), "candidate"),
                )
            )  # fmt: skip
            grown = grow_above_checked(
                model,
                parent,
                at,
                args.above,
                depth=1 if args.depth is None else args.depth,
                most=room,
                known=[branch.trace.token_ids for branch in tree.branches],
                should_stop=interrupted,
            )
        else:
            choices = [[token_id] for token_id in ids]
            made = branch_each_checked(model, parent, at, choices, should_stop=interrupted)
            rows = zip(ids, made, strict=True)
            grown = tuple(Grown(None, at, token_id, trace) for token_id, trace in rows)
    first = len(tree.branches)
    for run in grown:
        step = run.trace.token_steps[run.at_step]
        _say_forced(step, model)
        print(run.trace.text, flush=True)
        source = place if run.parent is None else first + run.parent
        tree = tree.grown(source, run.at_step, run.trace, visible_token(step.chosen.text, 40))
    _write(args.tree, tree)
    return 130 if any(run.trace.finish_reason == "cancelled" for run in grown) else 0


def _require_own_dice(args: Namespace, option: str) -> None:
    if args.json or args.seed is not None:
        raise ConfigError(
            Message(
                "{option} makes runs with the run's own seed: leave out --json and --seed.",
                option=option,
            )
        )


def _require_room(args: Namespace, tree: RunTree, runs: int) -> None:
    """Raise ConfigError unless the tree of --tree holds so many runs more."""
    room = MAX_RUNS - len(tree.branches)
    if args.tree is not None and runs > room:
        raise ConfigError(
            Message(
                "A tree holds {most} runs, and this one has room for {room} more, not for {runs}: "
                "leave out --tree, or make fewer.",
                most=MAX_RUNS,
                room=counted(room, "run"),
                runs=runs,
            )
        )


def _load(args: Namespace, parent: Trace) -> Any:
    """Load the model of the new runs; with --tree only the model of its runs."""
    model = load_as(parent.dtype, _model_of(args, parent), args)
    if args.tree is not None and model.model_id != parent.model_id:
        raise ConfigError(
            Message(
                "--tree keeps runs of one model, {model}; leave it out, or name that model.",
                model=brief(parent.model_id),
            )
        )
    return model


def _list_forks(args: Namespace, tree: RunTree, place: int) -> int:
    """Print the fork points of a run, and write their runs to a tree where one is named."""
    from ...decoding.check import fork_points_checked
    from ...decoding.record.forks import by_effect, steps_to_fork
    from ...figures.base.labels import visible_token
    from ...figures.base.records import fork_words

    _require_own_dice(args, "--forks")
    parent = tree.branches[place].trace
    steps = steps_to_fork(parent, max(args.forks, 0))
    if args.forks > 0 and not steps:
        raise ConfigError(
            Message(
                "This run of {method} has no fork points: none of its steps holds a second "
                "candidate for one token.",
                method=Message(parent.config.words),
            )
        )
    _require_room(args, tree, len(steps))
    model = _load(args, parent)
    total = counted(len(parent.token_steps), "step")
    say(
        tr(
            "[the second candidate at {steps} of {total}, those with the most entropy]",
            steps=len(steps), total=total,
        )
    )  # fmt: skip
    with interrupted_by_user() as interrupted:
        points = fork_points_checked(model, parent, steps, should_stop=interrupted)
    for point in by_effect(points):
        print(tr(at_step(point.at_step, fork_words(point))), flush=True)
    if args.tree is not None:
        for point in points:
            name = visible_token(point.other.text, 40)
            tree = tree.grown(place, point.at_step, point.trace, name)
        _write(args.tree, tree)
    return 130 if len(points) < len(steps) else 0


def _write(file: str, tree: RunTree) -> None:
    from ...traces.tree_file import tree_json

    with written(file) as path, writing(path):
        write_file(path, tree_json(tree))
    say_written(file)


def _go_on(args: Namespace, parent: Trace) -> Trace:
    from ... import check
    from ...decoding.autoregressive.branches import branch, single_token_config

    config = single_token_config(parent.config)
    if args.seed is not None:
        config = with_seed(config, args.seed)
    model = _load(args, parent)
    given = tokens_of(args, parent, model)
    with interrupted_by_user() as interrupted:
        trace = branch(
            model, parent, args.at - 1, given, config=config, on_step=stream,
            should_stop=interrupted,
        )  # fmt: skip
    print(flush=True)
    for step in trace.token_steps[args.at - 1 :]:
        _say_forced(step, model)
    print_summary(trace, ())
    return trace.with_checks(tuple(check(trace)))


def _say_forced(step: TokenStep, model: Any) -> None:
    """Print the numbers of a given token and the pick that it replaced, if it is one."""
    from ...figures.base.records import forced_words

    if words := forced_words(step, text_of=model.token_text):
        token = brief(step.chosen.text)
        say(tr("[step {step}, {token}: {words}]", step=nth(step.index), token=token, words=words))


def _model_of(args: Namespace, parent: Trace) -> str:
    """Return the model's name; an untrusted file may only choose an embedded model."""
    if args.model is None and not parent.model_id.startswith("embedded:"):
        raise ConfigError(
            Message(
                "The file names the model {model}; name it with --model to load it.",
                model=brief(parent.model_id),
            )
        )
    return args.model or parent.model_id
