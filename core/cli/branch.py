"""`python -m core branch`: go on from a step of a stored run with another token."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.cli.check import load_as
from core.cli.decode import interrupted_by_user, print_summary
from core.cli.method import stream
from core.cli.output import require_writable, say, say_written, writing, written
from core.decoding.config import MethodConfig
from core.decoding.counting import counted, nth
from core.decoding.errors import ConfigError
from core.decoding.files import write_file
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.decoding.validation import brief


def add(parser: ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("file", help="a trace file, or a file of --tree")
    parser.add_argument(
        "--at", type=int, required=True, metavar="STEP", help="of the other token, from 1"
    )
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--text", help="what stands there")
    other.add_argument("--token-id", type=int, nargs="+", metavar="ID", help="ids of the tokens")
    other.add_argument("--rank", type=int, metavar="INT", help="the step's candidate of this rank")
    parser.add_argument("--seed", type=int, metavar="INT", help="of other dice; default: the run's")
    parser.add_argument(
        "--run",
        dest="number",
        type=int,
        metavar="INT",
        help="of a tree: the run, from 1 (default: the last)",
    )
    parser.add_argument("--model", help="default: the file's, if it is embedded")
    parser.add_argument("--dtype", help="of the model's weights; default: what the file says")
    parser.add_argument("--device", help="of the model, as in decode")
    parser.add_argument("--json", metavar="FILE", help="write the run's trace file; - is stdout")
    parser.add_argument("--tree", metavar="FILE", help="write the file of all the runs")


def run(args: Namespace) -> int:
    """Stream the text of the run that goes on, and write its trace or the tree."""
    for path, option in ((args.json, "--json"), (args.tree, "--tree")):
        if path is not None:
            require_writable(path, option)
    tree = _read(args.file)
    place = len(tree.branches) - 1 if args.number is None else args.number - 1
    if not 0 <= place < len(tree.branches):
        raise ConfigError(f"--run names run {args.number}, and the file has {len(tree.branches)}.")
    parent = tree.branches[place].trace
    if args.json is None:
        trace = _go_on(args, parent)
    else:
        with written(args.json) as path:
            trace = _go_on(args, parent)
            with writing(path):
                trace.save(path)
        say_written(args.json)
    if args.tree is not None:
        from core.traces.tree_file import tree_json

        grown = tree.grown(place, args.at - 1, trace)
        with written(args.tree) as path, writing(path):
            write_file(path, tree_json(grown))
        say_written(args.tree)
    return 130 if trace.finish_reason == "cancelled" else 0


def _read(file: str) -> RunTree:
    """The runs of a file; a trace is a tree of one."""
    from core.traces.file import parsed, trace_of
    from core.traces.tree_file import tree_of

    data = parsed(file)
    if isinstance(data, dict) and data.get("schema") == RunTree.schema:
        return tree_of(data)
    return RunTree.of(trace_of(data))


def _go_on(args: Namespace, parent: Trace) -> Trace:
    from core import check
    from core.decoding.autoregressive.branches import branch, single_token_config
    from core.figures.base.records import forced_words

    config = single_token_config(parent.config)
    if args.seed is not None:
        config = _with_seed(config, args.seed)
    # A stranger's file may not choose what is loaded.
    if args.model is None and not parent.model_id.startswith("embedded:"):
        raise ConfigError(
            f"The file names the model {brief(parent.model_id)}; name it with --model to load it."
        )
    model = load_as(parent.dtype, args.model or parent.model_id, args)
    if args.tree is not None and model.model_id != parent.model_id:
        raise ConfigError(
            f"--tree keeps runs of one model, {brief(parent.model_id)}; leave it out, or name that "
            "model."
        )
    given = _given(args, parent, model)
    with interrupted_by_user() as interrupted:
        trace = branch(
            model, parent, args.at - 1, given, config=config, on_step=stream,
            should_stop=interrupted,
        )  # fmt: skip
    print(flush=True)
    for step in trace.token_steps[args.at - 1 :]:
        if words := forced_words(step):
            say(f"[step {nth(step.index)}, {brief(step.chosen.text)}: {words}]")
    print_summary(trace, ())
    return trace.with_checks(tuple(check(trace)))


def _with_seed(config: MethodConfig, seed: int) -> MethodConfig:
    if not hasattr(config, "seed"):
        raise ConfigError(f"--seed does nothing in {config.words}; leave it out.")
    changed: Any = config
    reseeded: MethodConfig = replace(changed, seed=seed)
    return reseeded


def _given(args: Namespace, parent: Trace, model: Any) -> Sequence[int]:
    """The ids of the tokens that stand at the step; empty where only the seed is another."""
    if args.token_id is not None:
        return list(args.token_id)
    if args.text is not None:
        from core.decoding.loop.text import encode_continuation

        if not args.text:
            raise ConfigError("--text is empty; give the text that stands there.")
        return encode_continuation(model, args.text)
    if args.rank is None:
        if args.seed is None:
            raise ConfigError("Nothing differs; give --text, --token-id, --rank or --seed.")
        return ()
    steps = parent.token_steps
    if not 1 <= args.at <= len(steps):
        raise ConfigError(
            f"--rank reads a token's step, and the run has {counted(len(steps), 'such step')}."
        )
    candidates = steps[args.at - 1].candidates
    matches = [c.token_id for c in candidates if c.rank == args.rank]
    if not matches:
        raise ConfigError(
            f"--rank {args.rank} is none of the {len(candidates)} candidates that the step holds."
        )
    return matches
