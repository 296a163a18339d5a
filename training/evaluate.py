"""Measure what the embedded models can do: ``python -m training.evaluate``.

Everything is asked on problems and phrasings that no training text contains.
"""

import argparse
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from training.curve import line_chart
from training.evaluation import arithmetic, decoding, forms, stories, text
from training.evaluation.card import (
    replace_measures,
    store_measures,
    write_cards,
    write_examples,
)
from training.evaluation.measure import Measure, Subject
from training.evaluation.prompts import NAME, SOURCE, read_prompts
from training.evaluation.reward import measure_reward
from training.evaluation.written import measure_written
from training.train import ASSETS, QUICK_OUT

QUESTIONS, LONGEST = 100, 420
QUICK_QUESTIONS, QUICK_LONGEST = 2, 8


def measure_all(subject: Subject, folder: Path) -> Iterator[Measure]:
    """Yield every measure as it is found; figures and prompts go beside the weights."""
    target = folder / "target"
    yield from decoding.measure_speed(target, subject.longest)
    yield from text.measure_stories(subject)
    yield text.measure_perplexity(subject)
    yield text.measure_list(subject)
    yield text.measure_facts(subject)
    yield from measure_by_hand(subject, target)
    yield from arithmetic.measure_thinking(subject)
    curve = arithmetic.budget_curve(subject)
    draw_budgets(curve, target / "budget.svg")
    yield arithmetic.measure_budget(curve)
    yield arithmetic.measure_vote(subject)
    yield arithmetic.measure_calculator(subject)
    if subject.draft is not None:
        yield decoding.measure_acceptance(subject)
    if (folder / "reward" / "config.json").exists():
        yield from measure_reward(folder, 2 * subject.questions)
    shutil.copyfile(SOURCE, target / NAME)
    yield decoding.measure_beams(subject, read_prompts())
    yield text.measure_unicode(subject.tokenizer)


def measure_by_hand(subject: Subject, target: Path | None = None) -> Iterator[Measure]:
    """Yield the measures on questions written by hand; some replies go beside the weights."""
    answered = []
    for measure, replies in measure_written(subject):
        answered += replies
        yield measure
    if target is not None:
        write_examples(answered, target)
    yield from forms.measure_forms(subject)
    yield stories.measure_requests(subject)
    yield from stories.measure_variety(subject)


def draw_budgets(curve: list[tuple[int, float]], path: Path) -> None:
    """Draw the accuracy over the thinking budget."""
    points = [(float(budget), 100 * share) for budget, share in curve]
    title = "Accuracy by thinking budget, chains of 1 to 8 steps"
    chart = line_chart(title, {"": points}, "thinking budget (tokens)", "right answers (%)")
    path.write_text(chart, encoding="utf-8")


def load_subject(folder: Path, questions: int, longest: int) -> Subject:
    """Load the target, its tokenizer, and the draft where there is one."""
    target = LlamaForCausalLM.from_pretrained(folder / "target").eval()
    draft = None
    if (folder / "draft" / "config.json").exists():
        draft = LlamaForCausalLM.from_pretrained(folder / "draft").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder / "target")
    return Subject(target, draft, tokenizer, questions, longest)


def report(measures: Iterator[Measure], say: Callable[[str], object] = print) -> list[Measure]:
    """Print each measure as soon as it is there, and return all of them."""
    words = {True: "reached", False: "NOT REACHED", None: "-"}
    found, began = [], time.monotonic()
    for measure in measures:
        found.append(measure)
        seconds = time.monotonic() - began
        say(f"[{seconds:4.0f} s] {words[measure.reached]:11} {measure.name}: {measure.found}")
    return found


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="the folder of both models")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="of each kind")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--by-hand", action="store_true", help="only the questions written by hand; write nothing"
    )
    parser.add_argument(
        "--reward", action="store_true", help="only the reward model; the cards keep the rest"
    )
    parser.add_argument("--quick", action="store_true", help="two questions of each kind")
    args = parser.parse_args(arguments)
    args.out = args.out or (QUICK_OUT if args.quick else ASSETS)
    args.longest = LONGEST
    if args.quick:
        args.questions, args.longest = QUICK_QUESTIONS, QUICK_LONGEST
    return args


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the model cards."""
    args = parse_arguments(arguments)
    torch.set_num_threads(args.threads)
    subject = load_subject(args.out, args.questions, args.longest)
    if args.by_hand:
        report(measure_by_hand(subject))
        return
    if args.reward:
        found = report(iter(measure_reward(args.out, 2 * args.questions)))
        replace_measures(args.out, "reward model", found)
        write_cards(args.out)
        return
    decoding.warm_up(subject)
    measures = report(measure_all(subject, args.out))
    store_measures(args.out, measures)
    write_cards(args.out)
    missed = [measure.name for measure in measures if measure.reached is False]
    print(f"{len(measures) - len(missed)} of {len(measures)} goals reached or without a goal")


if __name__ == "__main__":
    main()
