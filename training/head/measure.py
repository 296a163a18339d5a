"""Acceptance of the head beside the draft model's: ``python -m training.head.measure``."""

import argparse
import random
from pathlib import Path
from statistics import fmean

import torch
from transformers import AutoTokenizer

from core import Shaping, Speculative, collect, load_model
from core.decoding.speculative.sources import Drafter
from training.corpus.document import Message
from training.evaluation.card import replace_measures, write_cards
from training.evaluation.decoding import CHATS, DRAFT_LENGTH
from training.evaluation.measure import Measure, percent
from training.generation import chat_ids
from training.train import ASSETS

SOURCES: tuple[tuple[Drafter, str], ...] = (("head", "head"), ("model", "draft"))
NAME = "draft head"


def measure_head(prompts: int, tokens: int) -> list[Measure]:
    """Return the share of proposed tokens that the target accepts from each source, by family."""
    found = []
    for temperature in (0.0, 1.0):
        shaping, said = Shaping(temperature=temperature), []
        for drafter, name in SOURCES:
            shares = {
                family: acceptance(drafter, name, shaping, family, prompts, tokens)
                for family in CHATS
            }
            words = ", ".join(f"{family} {percent(share)}" for family, share in shares.items())
            said.append(f"{name} {percent(fmean(shares.values()))} ({words})")
        found.append(
            Measure(
                f"{NAME} beside the draft model, k = {DRAFT_LENGTH}, temperature "
                f"{temperature:g}: tokens accepted", "", "; ".join(said), None
            )
        )  # fmt: skip
    return found


def acceptance(
    drafter: Drafter, name: str, shaping: Shaping, family: str, prompts: int, tokens: int
) -> float:
    """Return the accepted share of all proposed tokens over the prompts of a family."""
    target, draft = load_model("embedded:target"), load_model(f"embedded:{name}")
    rng, proposed, accepted = random.Random(-9), 0, 0
    for seed in range(prompts):
        config = Speculative(
            max_new_tokens=tokens, draft_length=DRAFT_LENGTH, drafter=drafter, shaping=shaping,
            seed=seed, top_candidates=1,
        )  # fmt: skip
        trace = collect(target, _prompt(CHATS[family](rng)), config, draft=draft)
        proposed += sum(len(step.drafted) for step in trace.rounds)
        accepted += sum(len(step.accepted) for step in trace.rounds)
    return accepted / max(1, proposed)


def _prompt(messages: list[Message]) -> list[int]:
    tokenizer = AutoTokenizer.from_pretrained(ASSETS / "target")
    texts = {role: "".join(part.text for part in parts) for role, parts in messages}
    return chat_ids(tokenizer, texts["user"], texts.get("system", ""))


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the cards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ASSETS, help="the folder of the models")
    parser.add_argument("--prompts", type=int, default=8, help="of each family")
    parser.add_argument("--tokens", type=int, default=100, help="of a reply at most")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    measures = measure_head(args.prompts, args.tokens)
    replace_measures(args.out, NAME, measures)
    write_cards(args.out)
    for measure in measures:
        print(f"{measure.name}: {measure.found}")


if __name__ == "__main__":
    main()
