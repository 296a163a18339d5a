"""Measure the diffusion model and write its card: ``python -m training.diffusion.evaluate``."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, LlamaForCausalLM

from training.diffusion.generation import fill
from training.diffusion.measure import measure_facts
from training.diffusion.train import OUT
from training.evaluate import report
from training.evaluation.card import EVALUATION, TEMPLATES, in_words
from training.evaluation.measure import Measure, Subject, table
from training.evaluation.text import measure_list
from training.evaluation.written import ask_sums, by_kind, measure_written

BLOCK = 8  # tokens
AT_ONCE = (1, 2, 4, 8)  # tokens that a step fills


class Filler(Subject):
    """The diffusion model under the measurements of the target."""

    def reply(self, prompts: Sequence[Sequence[int]], most: int, **options: Any) -> list[list[int]]:
        """Return the tokens behind each prompt: the most confident first, in blocks."""
        length = min(most, self.longest)
        return fill(self.target, self.tokenizer, prompts, length, BLOCK, **options)


class Hurried(Filler):
    """The same model, several tokens a step."""

    at_once = 1

    def reply(self, prompts: Sequence[Sequence[int]], most: int, **options: Any) -> list[list[int]]:
        """Return the tokens behind each prompt, `at_once` a step."""
        return super().reply(prompts, most, at_once=self.at_once, **options)


def measure_hurry(subject: Subject) -> Measure:
    """Return the share of right sums by the number of tokens that a step fills."""
    found = []
    for at_once in AT_ONCE:
        hurried = Hurried(*subject)
        hurried.at_once = at_once
        found.append(f"{at_once}: {by_kind(ask_sums(hurried)).split(':')[0]}")
    return Measure("sums written by hand, by tokens a step", "reported", ", ".join(found), None)


def measure_all(subject: Subject) -> Iterator[Measure]:
    """Yield every measure as it is found."""
    yield measure_list(subject)
    yield measure_facts(subject.target, subject.tokenizer, 10 * subject.questions)
    for measure, _ in measure_written(subject):
        yield measure
    yield measure_hurry(subject)


def write_card(folder: Path) -> None:
    """Write README.md from the stored settings and measures."""
    rows = json.loads((folder / EVALUATION).read_text(encoding="utf-8"))
    values = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    values["shares"] = in_words(values["shares"])
    values["losses"] = ", ".join(
        f"{loss} with {float(share):.0%} masked" for share, loss in values["held_out_loss"].items()
    )
    template = (TEMPLATES / "diffusion.md").read_text(encoding="utf-8")
    card = template.format(table=table([Measure(**row) for row in rows]), **values)
    (folder / "README.md").write_text(card, encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the card."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the model's folder")
    parser.add_argument("--questions", type=int, default=100, help="of each kind")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    model = LlamaForCausalLM.from_pretrained(args.out).eval()
    subject = Filler(model, None, AutoTokenizer.from_pretrained(args.out), args.questions, 256)
    rows = [measure._asdict() for measure in report(measure_all(subject))]
    text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    (args.out / EVALUATION).write_text(text, encoding="utf-8")
    write_card(args.out)


if __name__ == "__main__":
    main()
