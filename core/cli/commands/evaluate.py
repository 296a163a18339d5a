"""`python -m core evaluate`: measure the accuracy of decoding methods, by a plan in YAML."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ..loading import load
from ..output import require_writable, say, written
from ..spreading import add_workers, in_flight, pool_of, progress_of, workers_of

if TYPE_CHECKING:
    from ...evaluation.plan.types import Evaluation


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "plan", help="a YAML file with questions and ways, such as those in assets/evaluation"
    )
    parser.add_argument("--dtype", help="as in decode")
    parser.add_argument("--device", help="as in decode")
    add_workers(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="file for the rows, resumable; - is stdout"
    )


def run(args: Namespace) -> int:
    """Run or resume the plan, then print a line for each way and each pair of ways.

    Returns:
        1 if a way failed; its name and the reason are printed.
    """
    require_writable(args.out, "--out")
    with written(args.out) as out:
        return _evaluate(args, out)


def _evaluate(args: Namespace, out: str) -> int:
    from ...evaluation.plan.plan_file import read_plan

    workers_of(args)
    plan = read_plan(args.plan)
    from ...evaluation.plan.asking import warnings
    from ...evaluation.plan.files import EVALUATIONS
    from ...evaluation.plan.run import (
        evaluate_to_file,
        evaluation_work,
        loaded,
        with_revisions,
    )
    from ...evaluation.plan.statistics import failures
    from ...evaluation.plan.types import Evaluation
    from ...models.registry import load_reward_model
    from ...server.settings import place_of

    models = loaded(plan, lambda name: load(name, args.dtype, args.device))
    rewards = load_reward_model(plan.reward) if plan.reward else None
    if rewards is not None and rewards.described:
        say(rewards.described)
    for sentence in warnings(plan, models):
        say(sentence)
    show = progress_of(plan.total)
    if pool := pool_of(args, models.values()):
        plan = with_revisions(plan, models, rewards)
        models.clear()  # Each process loads its own.
        places = {name: place_of(name) for name in plan.models}
        work = evaluation_work(plan, args.dtype, args.device, places)
        done = Evaluation(plan, EVALUATIONS.extend(out, work, pool, show))
    else:
        done = evaluate_to_file(
            models, plan, out, rewards=rewards, on_row=show, in_flight=in_flight(args)
        )
    _print_results(done)
    failed = failures(done)
    for way in failed:
        say(way.sentence)
    return 1 if failed else 0


def _print_results(evaluation: Evaluation) -> None:
    from ...evaluation.plan.statistics import all_paired, results
    from ...evaluation.votes.best_of import by_samples, of_way
    from ...figures.reasoning.compare import RULE_WORDS

    ways = results(evaluation)
    wide = max((len(way.way) for way in ways), default=0)
    print(
        f"{'way':<{wide}}   right  95 % interval       F1  tokens  target forwards  draft forwards"
        "  draft accepted  seconds  leaks"
    )
    for way in ways:
        low, high = 100 * way.correct.low, 100 * way.correct.high
        accepted = "" if way.acceptance is None else f"{100 * way.acceptance:.1f} %"
        print(
            f"{way.way:<{wide}}  {way.correct.percent:>5.1f} %  {low:>5.1f} to {high:>5.1f} %"
            f"  {way.f1:>5.3f}  {way.tokens:>6.1f}  {way.forwards:>15.1f}"
            f"  {way.draft_forwards:>14.1f}  {accepted:>14}  {way.seconds:>7.3f}  {way.leaks:>5}"
        )
    for planned in evaluation.plan.ways:
        for point in by_samples(of_way(evaluation, planned.name)) if planned.samples > 1 else ():
            low, high = 100 * point.correct.low, 100 * point.correct.high
            print(
                f"{planned.name}, {point.samples} samples, {RULE_WORDS[point.rule]}: "
                f"{point.correct.percent:.1f} %  {low:.1f} to {high:.1f} %"
            )
    for pair in all_paired(evaluation):
        print(
            f"{pair.other} against {pair.one}: only the first right {pair.second}, only the "
            f"second {pair.first}, McNemar's exact p = {pair.p_value:.3g}"
        )
