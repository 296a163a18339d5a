"""`python -m core sweep`: measure accuracy against the thinking budget."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...decoding.errors import ConfigError
from ...decoding.reasoning.config import Reasoning
from ...decoding.shaping.config import Shaping
from ...language import N_, Message, tr
from ..loading import load
from ..method import given, option
from ..output import require_writable, written
from ..spreading import add_workers, in_flight, pool_of, progress_of, workers_of
from ..table import interval_words, percent_words, print_table

if TYPE_CHECKING:
    from ...evaluation.sweep.types import SweepPlan
    from ...evaluation.types import ProblemSet

_BUDGETS = "0,16,32,48,64,80,96,112,128"
# Names of `OUTCOMES` as heads of a table.
_OUTCOMES = (N_("correct"), N_("wrong"), N_("truncated"), N_("unparsable"))
# Defaults of the generated problems.
_MADE: dict[str, Any] = {"problems": 40, "steps": "1,2,3,4,5,6,7,8", "problem_seed": 0}


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--model", default="embedded:target", help="as in decode")
    parser.add_argument("--dtype", help="as in decode")
    parser.add_argument("--device", help="as in decode")
    parser.add_argument(
        "--budgets",
        metavar="INT,INT,...",
        help=Message(
            "thinking budgets in tokens (default: {budgets}; with --cut from 16 on)",
            budgets=_BUDGETS,
        ),
    )
    parser.add_argument(
        "--cut",
        action="store_true",
        help="limit all tokens instead: the close is not forced, runs are truncated",
    )
    whole = partial(parser.add_argument, type=int, metavar="INT")
    problems = Message("number of problems (default: {count})", count=_MADE["problems"])
    whole("--problems", default=SUPPRESS, help=problems)
    parser.add_argument(
        "--steps",
        default=SUPPRESS,
        metavar="INT,INT,...",
        help=Message("difficulties (default: {steps})", steps=_MADE["steps"]),
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="CSV or JSONL with question and answer, instead of generated problems",
    )
    whole(
        "--problem-seed",
        default=SUPPRESS,
        help=Message(
            "seed of the generated problems (default: {seed})", seed=_MADE["problem_seed"]
        ),
    )
    whole("--samples", default=1, help=N_("runs per problem and budget, drawn if more than 1"))
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="temperature of drawn runs (default: 1.0)"
    )
    whole("--seed", help=N_("seed of drawn runs (default: 0)"))
    whole(
        "--max-answer-tokens", default=64, help=N_("the bound on the answer (default: %(default)s)")
    )
    whole("--rows", default=64, help=N_("runs at once (default: %(default)s)"))
    add_workers(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="file for the rows, resumable; - is stdout"
    )


def run(args: Namespace) -> int:
    """Run or resume the sweep, then print a line for each budget."""
    default = _BUDGETS.removeprefix("0,") if args.cut else _BUDGETS
    budgets = _numbers(default if args.budgets is None else args.budgets, "--budgets")
    _refuse_ignored(args)
    made = _MADE | given(args, _MADE)
    steps = _numbers(made["steps"], "--steps")
    require_writable(args.out, "--out")
    from ...evaluation.questions.problems import THINKING_SYSTEM, make_problems, read_problems
    from ...evaluation.sweep.files import SWEEPS
    from ...evaluation.sweep.run import sweep_to_file, sweep_work
    from ...server.settings import place_of

    workers_of(args)
    if args.file:
        problems = read_problems(args.file, system=THINKING_SYSTEM)
    else:
        problems = make_problems(made["problems"], seed=made["problem_seed"], steps=steps)
    model = load(args.model, args.dtype, args.device)
    plan = _plan(args, model, problems, budgets)
    show = progress_of(plan.total)
    with written(args.out) as out:
        if pool := pool_of(args, [model]):
            work = sweep_work(plan, place_of(args.model), args.dtype, args.device, args.rows)
            rows = SWEEPS.extend(out, work, pool, show)
        else:
            rows = sweep_to_file(
                model, plan, out, marks=model.think_marks, batch=args.rows, on_row=show,
                in_flight=in_flight(args),
            ).rows  # fmt: skip
        _print_curve(rows)
    return 0


def _plan(args: Namespace, model: Any, problems: ProblemSet, budgets: tuple[int, ...]) -> SweepPlan:
    from ...evaluation.sweep.types import SweepPlan

    return SweepPlan(
        model_id=model.model_id,
        problems=problems,
        config=Reasoning(
            think_start=model.think_marks.start,
            think_end=model.think_marks.end,
            max_answer_tokens=args.max_answer_tokens,
            do_sample=args.samples > 1,
            seed=args.seed or 0,
            shaping=Shaping(temperature=1.0 if args.temperature is None else args.temperature),
        ),
        budgets=budgets,
        budget_field="max_new_tokens" if args.cut else "max_thinking_tokens",
        samples=args.samples,
        model_revision=model.revision,
    )


def _refuse_ignored(args: Namespace) -> None:
    """Raise ConfigError for an option on generated problems or on sampling that has no effect."""
    for name in given(args, _MADE) if args.file else ():
        raise ConfigError(
            Message(
                "{option} is of generated problems and does nothing with --file; leave it out.",
                option=option(name),
            )
        )
    for name in ("temperature", "seed"):
        if args.samples == 1 and getattr(args, name) is not None:
            raise ConfigError(
                Message(
                    "{option} does nothing in one sample, which is greedy; use --samples 2 or "
                    "more.",
                    option=f"--{name}",
                )
            )


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise ConfigError(
            Message(
                "{option} must be whole numbers with commas between them, such as 0,16,32; got "
                "{given!r}.",
                option=option,
                given=text[:60],
            )
        ) from None


def _print_curve(rows: Sequence[Any]) -> None:
    from ...evaluation.sweep.curves import curve
    from ...evaluation.types import OUTCOMES

    heads = [tr("budget"), tr("right"), tr("95 % interval"), *(tr(name) for name in _OUTCOMES)]
    table = [
        (
            str(point.budget),
            percent_words(point.correct.percent),
            interval_words(point.correct),
            *(str(point.outcomes[outcome]) for outcome in OUTCOMES),
            f"{point.tokens:.1f}",
            f"{point.seconds:.3f}",
        )
        for point in curve(rows)
    ]
    print_table([*heads, tr("tokens"), tr("seconds")], table, to_left=[2])
