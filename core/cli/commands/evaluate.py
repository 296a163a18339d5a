"""`python -m core evaluate`: measure the accuracy of decoding methods, by a plan in YAML."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ...language import N_, Message, tr
from ..loading import load
from ..output import require_writable, say, written
from ..spreading import add_workers, in_flight, pool_of, progress_of, workers_of
from ..table import interval_words, percent_words, print_table

if TYPE_CHECKING:
    from ...evaluation.plan.types import Evaluation

_HEADS = (
    *(N_("way"), N_("right"), N_("95 % interval"), N_("F1"), N_("tokens"), N_("target forwards")),
    *(N_("draft forwards"), N_("draft accepted"), N_("seconds"), N_("leaks")),
)


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
        say(tr(rewards.described))
    for sentence in warnings(plan, models):
        say(tr(sentence))
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
        say(tr(way.sentence))
    return 1 if failed else 0


def _print_results(evaluation: Evaluation) -> None:
    from ...evaluation.plan.statistics import all_paired, results
    from ...evaluation.votes.best_of import by_samples, of_way
    from ...figures.reasoning.compare import RULE_WORDS

    print_table(
        [tr(head) for head in _HEADS],
        [
            (
                way.way,
                percent_words(way.correct.percent),
                interval_words(way.correct),
                f"{way.f1:.3f}",
                f"{way.tokens:.1f}",
                f"{way.forwards:.1f}",
                f"{way.draft_forwards:.1f}",
                "" if way.acceptance is None else percent_words(100 * way.acceptance),
                f"{way.seconds:.3f}",
                str(way.leaks),
            )
            for way in results(evaluation)
        ],
        to_left=[0, 2],
    )
    for planned in evaluation.plan.ways:
        for point in by_samples(of_way(evaluation, planned.name)) if planned.samples > 1 else ():
            print(
                tr(
                    "{way}, {samples} samples, {rule}: {percent:.1f} %  {low:.1f} to {high:.1f} %",
                    way=planned.name,
                    samples=point.samples,
                    rule=Message(RULE_WORDS[point.rule]),
                    percent=point.correct.percent,
                    low=100 * point.correct.low,
                    high=100 * point.correct.high,
                )
            )
    for pair in all_paired(evaluation):
        print(
            tr(
                "{other} against {one}: only the first right {second}, only the second {first}, "
                "McNemar's exact p = {p_value:.3g}",
                other=pair.other,
                one=pair.one,
                second=pair.second,
                first=pair.first,
                p_value=pair.p_value,
            )
        )
