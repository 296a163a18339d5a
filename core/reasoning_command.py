"""The command line's part of reasoning: the options of a run, and `python -m core sweep`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.decoding.configs import LEVELS, Reasoning, Shaping
from core.decoding.errors import ConfigError

REASONING_HELP = {
    "max_thinking_tokens": "the thinking budget; at the bound the closing mark is forced",
    "max_answer_tokens": "the bound on the answer",
    "ignore_end": "replace so many attempts to stop thinking by the wait text",
    "wait_text": "what is forced instead",
    "think_start": "the mark that opens the thinking (default: the model's own)",
    "think_end": "the mark that closes it (default: the model's own)",
    "calculator": "put the result in after every call that the model writes",
}
_MARKS = ("think_start", "think_end")


def add_reasoning(group: argparse._ArgumentGroup) -> None:
    """What was not given stays out of the parsed arguments."""
    off = argparse.SUPPRESS
    for name, text in REASONING_HELP.items():
        option, standard = (
            f"--{name.replace('_', '-')}",
            Reasoning.__dataclass_fields__[name].default,
        )
        if name == "calculator":
            group.add_argument(option, action="store_true", default=off, help=text)
            continue
        shown = text if name in _MARKS else f"{text} (default: {standard})".replace("%", "%%")
        group.add_argument(option, type=type(standard), default=off, metavar="X", help=shown)
    named = ", ".join(f"{name} {budget}" for name, budget in LEVELS.items())
    text = f"the thinking budget by name: {named}"
    group.add_argument("--level", choices=list(LEVELS), default=off, help=text)


def asks_for_reasoning(args: argparse.Namespace) -> bool:
    """Whether an option was given that acts in reasoning only."""
    return any(name in args for name in (*REASONING_HELP, "level"))


def reasoning_config(args: argparse.Namespace, shared: dict[str, Any]) -> Reasoning:
    """The config of a run.

    Raises:
        ConfigError: a value outside its interval, or two that exclude each other.
    """
    values = vars(args)
    names = (*REASONING_HELP, "do_sample", "seed", "draw")
    own = {name: values[name] for name in names if name in args}
    if "level" in args:
        if "max_thinking_tokens" in own:
            raise ConfigError("--level is a thinking budget too; leave --max-thinking-tokens out.")
        own["max_thinking_tokens"] = LEVELS[args.level]
    return Reasoning(**own, **shared)


def with_marks_of(model: Any, config: Reasoning, args: argparse.Namespace) -> Reasoning:
    """The config with the model's own marks, unless others were given."""
    if any(name in args for name in _MARKS):
        return config
    marks = model.think_marks
    return replace(config, think_start=marks.start, think_end=marks.end)


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """The options of `sweep`."""
    parser.add_argument("--model", default="embedded:target", help="as in decode")
    parser.add_argument("--dtype", help="as in decode")
    parser.add_argument("--device", help="as in decode")
    budgets = "thinking budgets in tokens (default: %(default)s)"
    parser.add_argument("--budgets", default="0,16,32,48,64,80,96,112,128", help=budgets)
    cut = "bound the whole loop instead: nothing is forced, runs are cut off"
    parser.add_argument("--cut", action="store_true", help=cut)
    whole = partial(parser.add_argument, type=int, metavar="N")
    whole("--problems", default=40, help="how many (default: %(default)s)")
    parser.add_argument("--steps", default="1,2,3,4,5,6,7,8", help="difficulties (%(default)s)")
    file = "CSV or JSONL with question and answer, instead of generated problems"
    parser.add_argument("--file", help=file)
    whole("--problem-seed", default=0, help="of the generated problems (default: %(default)s)")
    whole("--samples", default=1, help="runs a problem and budget, drawn if more than 1")
    parser.add_argument("--temperature", type=float, default=1.0, help="of drawn runs")
    whole("--seed", default=0, help="of drawn runs (default: %(default)s)")
    whole("--max-answer-tokens", default=64, help="the bound on the answer (default: %(default)s)")
    whole("--rows", default=64, help="runs at once (default: %(default)s)")
    parser.add_argument("--out", required=True, metavar="FILE", help="where the rows go; resumed")


def run_sweep_command(args: argparse.Namespace) -> int:
    """Run the sweep or go on with it, then print a line for each budget."""
    budgets, steps = _numbers(args.budgets, "--budgets"), _numbers(args.steps, "--steps")
    from core.reasoning.files import sweep_to_file
    from core.reasoning.problems import THINKING_SYSTEM, make_problems, read_problems
    from core.reasoning.types import SweepPlan, SweepRow

    if args.file:
        problems = read_problems(args.file, system=THINKING_SYSTEM)
    else:
        problems = make_problems(args.problems, seed=args.problem_seed, steps=steps)
    from core import load_model

    model = load_model(args.model, dtype=args.dtype, device=args.device)
    plan = SweepPlan(
        model_id=model.model_id,
        problems=problems,
        config=Reasoning(
            think_start=model.think_marks.start,
            think_end=model.think_marks.end,
            max_answer_tokens=args.max_answer_tokens,
            do_sample=args.samples > 1,
            seed=args.seed,
            shaping=Shaping(temperature=args.temperature),
        ),
        budgets=budgets,
        budget_field="max_new_tokens" if args.cut else "max_thinking_tokens",
        samples=args.samples,
        model_revision=model.revision,
    )

    def show(_: SweepRow, count: int) -> None:
        print(f"\r{count} of {plan.total} runs", end="", file=sys.stderr, flush=True)

    sweep = sweep_to_file(
        model, plan, args.out, marks=model.think_marks, batch=args.rows, on_row=show
    )
    print(file=sys.stderr)
    _print_curve(sweep.rows)
    return 0


def _numbers(text: str, option: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise ConfigError(
            f"{option} must be whole numbers with commas between them, such as 0,16,32; "
            f"got {text[:60]!r}."
        ) from None


def _print_curve(rows: Sequence[Any]) -> None:
    from core.reasoning.curves import curve
    from core.reasoning.types import OUTCOMES

    print("budget  right  95 % interval   " + "  ".join(OUTCOMES) + "  tokens  seconds")
    for point in curve(rows):
        low, high = 100 * point.correct.low, 100 * point.correct.high
        counts = "  ".join(f"{point.outcomes[one]:>{len(one)}}" for one in OUTCOMES)
        print(
            f"{point.budget:>6}  {100 * point.correct.value:>4.0f}%  {low:>5.1f} to {high:>5.1f} %"
            f"  {counts}  {point.tokens:>6.1f}  {point.seconds:>7.3f}"
        )
