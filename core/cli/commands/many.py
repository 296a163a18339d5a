"""`python -m core many`: run one prompt many times, or over a grid of two settings."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from ...decoding.counting import counted, nth
from ...decoding.errors import ConfigError
from ...decoding.files import write_file
from ...decoding.many.plan import (
    DTYPES_TRIED,
    VARY,
    RunBatch,
    again,
    grid,
    require_single,
    values_in,
)
from ...decoding.many.types import ManyRuns
from ...decoding.record.trace import Trace
from ...language import N_, Message, tr
from ...traces.many_file import many_jsonl
from ..loading import load
from ..output import require_writable, say, say_written, writing, written
from ..table import percent_words
from .decode import add_request, interrupted_by_user, put, request_of


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_request(parser)
    group = parser.add_argument_group("many runs")
    group.add_argument("--times", type=int, metavar="N", help="number of runs, 2 to 100")
    group.add_argument(
        "--vary",
        choices=VARY,
        help="difference between the runs of --times: nothing (default; each alone with one "
        "thread), the seed, the rows of a batch, torch's threads (1 and all), the number type, or "
        "all of the last three",
    )
    group.add_argument(
        "--grid",
        nargs="+",
        metavar="SETTING=VALUES",
        help="one or two settings with values, as temperature=0.2,0.7,1.0 top_p=0.5,1.0; at most "
        "12 combinations, which run in one batch",
    )
    group.add_argument(
        "--jsonl", metavar="FILE", help="write the trace of every run, one a line; - is stdout"
    )


def run(args: Namespace) -> int:
    """Print how many runs agree and each different text, and write the traces."""
    request = request_of(args)
    require_single(request.config)
    batches = _batches(args, request.config)
    if args.jsonl is not None:
        require_writable(args.jsonl, "--jsonl")
        with written(args.jsonl) as path:
            traces, code = _run(args, request.text, batches)
            with writing(path):
                write_file(path, many_jsonl(traces))
        say_written(args.jsonl)
        return code
    return _run(args, request.text, batches)[1]


def _batches(args: Namespace, config: Any) -> tuple[RunBatch, ...]:
    if (args.times is None) == (args.grid is None):
        raise ConfigError(N_("Say how many runs with --times, or which settings with --grid."))
    if args.times is not None:
        return again(config, args.times, args.vary or "nothing", dtypes=_dtypes(args))
    if args.vary is not None:
        raise ConfigError(N_("--vary belongs to --times; a grid varies its own settings."))
    knobs = {}
    for text in args.grid:
        name, _, values = text.partition("=")
        name = name.replace("-", "_")
        if name in knobs:
            raise ConfigError(
                Message("--grid names {name} twice: give all its values in one list.", name=name)
            )
        knobs[name] = values_in(values)
    return grid(config, knobs)


def _dtypes(args: Namespace) -> tuple[str, ...]:
    """Return the number types that vary: float32, and the one of --dtype or bfloat16."""
    full, other = DTYPES_TRIED
    return full, other if args.dtype in (None, full) else args.dtype


def _run(args: Namespace, text: str, batches: Sequence[RunBatch]) -> tuple[tuple[Trace, ...], int]:
    from ...decoding.many.run import run_batches

    # Weights of 16 bits would lose what the runs in float32 need.
    several = any(batch.dtype for batch in batches)
    model = load(args.model, DTYPES_TRIED[0] if several and args.dtype else args.dtype, args.device)
    total = sum(len(batch.configs) for batch in batches)
    made = list[Trace]()

    def on_trace(trace: Trace) -> None:
        made.append(trace)
        tokens = counted(len(trace.token_ids), "token")
        say(tr("[run {run} of {total}: {tokens}]", run=len(made), total=total, tokens=tokens))

    with interrupted_by_user() as interrupted:
        traces = run_batches(
            model,
            put(model, text, args),
            batches,
            prompt_text=text,
            on_trace=on_trace,
            should_stop=interrupted,
        )
    if traces:
        _print(ManyRuns(traces))
    return traces, 130 if interrupted() else 0


def _print(many: ManyRuns) -> None:
    """Print the verdict, each text with its runs, and each fork."""
    from ...figures.many.words import fork_name, many_verdict, runs_words

    print(many_verdict(many))
    for text in many.texts:
        share = tr("{runs} of {count}", runs=len(text.runs), count=many.count)
        words = runs_words(many, text.runs)
        print(f"\n[{share}: {words}]" if words else f"\n[{share}]")
        print(text.trace.text)
    for fork in many.forks:
        shares = ", ".join(percent_words(100 * branch.share, ".0f") for branch in fork.branches[:2])
        if (margin := fork.margin) is not None:
            shares = tr("{shares}, margin {margin:.2g} nats", shares=shares, margin=margin)
        if (rounding := fork.parting.rounding) is not None:
            shares = tr("{shares}, rounding {rounding:.2g}", shares=shares, rounding=rounding)
        name = fork_name(fork, 24)
        words = tr(
            "fork at token {number}: {tokens} ({shares})",
            number=nth(fork.at), tokens=name, shares=shares,
        )  # fmt: skip
        print(f"\n{words}")
