"""Train the reward model: ``python -m training.reward.train``.

The target reads every attempt once; the head on top (`core/models/rewards/verifier.py`) learns what
`training/reward/labels.py` says, a score at each token of an attempt; the last one's counts.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import AutoTokenizer, LlamaForCausalLM, set_seed

from core.models.registry import load_model
from core.models.rewards.reward_model import encode_pair
from core.models.rewards.verifier import VerifierHead, read, store_head
from training.generation import chat_ids
from training.reward.attempts import read_attempts, write_attempts
from training.reward.labels import Lesson, lessons_of, made_up
from training.train import ASSETS, QUICK_OUT

HERE = Path(__file__).parents[1]
RATE, WARM_UP, LOWEST = 3e-3, 50, 0.03
POOL = 16  # batches whose lessons are sorted by length: less padding
# What --quick changes, to see in seconds that everything runs.
QUICK = {"steps": 3, "problems": 3, "slips": 4, "batch": 4}


class Seen(NamedTuple):
    """A lesson as the head reads it: hidden states `[n, hidden]` and logprobs `[n]`, nats."""

    hidden: torch.Tensor
    logprobs: torch.Tensor
    labels: list[bool | None]


def read_all(target: LlamaForCausalLM, lessons: list[Lesson]) -> list[Seen]:
    """Each lesson once through the target, which isn't trained; kept in half precision."""
    found = []
    for lesson in tqdm(lessons, desc="reading", mininterval=20):
        hidden, logprobs = read(target, torch.tensor([lesson.ids]))
        found.append(Seen(hidden[0].half(), logprobs[0], lesson.labels))
    return found


def batches(
    own: list[Seen], slips: list[Seen], rng: random.Random, size: int
) -> Iterator[list[Seen]]:
    """Batches without end, of alike lengths: a third each of right, wrong and made-up attempts."""
    by_end = [[one for one in own if one.labels[-1] == end] for end in (True, False)]
    kinds = [lessons for lessons in (*by_end, slips) if lessons]
    while True:
        pool = [rng.choice(rng.choice(kinds)) for _ in range(POOL * size)]
        pool.sort(key=lambda one: len(one.labels))
        found = [pool[at : at + size] for at in range(0, len(pool), size)]
        rng.shuffle(found)
        yield from found


def loss_of(head: VerifierHead, lessons: list[Seen]) -> torch.Tensor:
    """Binary cross entropy in nats: the mean over the tokens, and over the last ones once more."""
    hidden = pad_sequence([one.hidden.float() for one in lessons], batch_first=True)
    logprobs = pad_sequence([one.logprobs for one in lessons], batch_first=True)
    given = [_flags(label is not None for label in one.labels) for one in lessons]
    known = pad_sequence(given, batch_first=True)
    stands = [_flags(map(bool, one.labels)) for one in lessons]
    labels = pad_sequence(stands, batch_first=True).float()
    scores = head(hidden, logprobs)
    each = functional.binary_cross_entropy_with_logits(scores, labels, reduction="none")
    last = torch.tensor([len(one.labels) - 1 for one in lessons])
    return each[known].mean() + each[torch.arange(len(lessons)), last].mean()


def _flags(values: Iterable[bool]) -> torch.Tensor:
    return torch.tensor(list(values))


def run(
    head: VerifierHead, drawn: Iterator[list[Seen]], args: argparse.Namespace
) -> dict[str, float]:
    """Train until the steps or the minutes are used up; what it took."""
    optimizer = torch.optim.AdamW(head.parameters(), lr=args.rate, weight_decay=0.02)
    began, smooth, steps, tokens = time.monotonic(), 0.0, 0, 0
    with tqdm(total=100, unit="%", mininterval=20, bar_format="{l_bar}{bar}|{postfix}") as bar:
        while (done := _share(args, steps, began)) < 1:
            warm, cosine = min(1.0, (steps + 1) / WARM_UP), (1 + math.cos(math.pi * done)) / 2
            for group in optimizer.param_groups:
                group["lr"] = args.rate * warm * (LOWEST + (1 - LOWEST) * cosine)
            lessons = next(drawn)
            loss = loss_of(head, lessons)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            steps, tokens = steps + 1, tokens + sum(len(one.labels) for one in lessons)
            smooth += (loss.item() - smooth) / min(steps, 50)
            bar.set_postfix_str(
                f"step {steps}, {tokens:,} tokens, loss {smooth:.4f}", refresh=False
            )
            bar.update(100 * done - bar.n)
    minutes = (time.monotonic() - began) / 60
    return {"steps": steps, "tokens": tokens, "minutes": minutes, "train_loss": smooth}


def _share(args: argparse.Namespace, steps: int, began: float) -> float:
    return max(steps / args.steps, (time.monotonic() - began) / (60 * args.minutes))


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500, help="end after so many steps")
    parser.add_argument("--minutes", type=float, default=30.0, help="or after so many minutes")
    parser.add_argument("--problems", type=int, default=672, help="that the target attempts")
    parser.add_argument("--slips", type=int, default=4000, help="made-up attempts")
    parser.add_argument("--batch", type=int, default=32, help="attempts a step")
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the folder of the models")
    parser.add_argument("--attempts", type=Path, help="attempts that were drawn before")
    parser.add_argument("--quick", action="store_true", help="a few steps")
    args = parser.parse_args(arguments)
    args.out = args.out or (QUICK_OUT if args.quick else ASSETS)
    if args.quick:
        vars(args).update(QUICK)
    return args


def main(arguments: list[str] | None = None) -> None:
    """Let the target attempt problems, train on what came of it, and store the model."""
    args = parse_arguments(arguments)
    torch.set_num_threads(args.threads)
    set_seed(args.seed)
    folder = args.out / "target"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    path = args.attempts or args.out / "checkpoints" / "attempts.jsonl"
    if not args.attempts:
        write_attempts(load_model(folder), path, args.seed, args.problems)
    attempts = read_attempts(path)

    def encode(question: str, reply: str) -> tuple[list[int], int]:
        return encode_pair(tokenizer, question, reply), len(chat_ids(tokenizer, question))

    rng, target = random.Random(args.seed), LlamaForCausalLM.from_pretrained(folder)
    own = read_all(target, lessons_of(attempts, encode))
    slips = read_all(target, lessons_of(list(islice(made_up(rng), args.slips)), encode))
    head = VerifierHead(target.config.hidden_size)
    found = run(head, batches(own, slips, rng, args.batch), args)
    store_head(head, args.out / "reward", folder)
    told = {
        "parameters": sum(weight.numel() for weight in head.parameters()), "seed": args.seed,
        "attempts": len(attempts), "right": sum(one.right for one in attempts),
        "slips": args.slips, "batch": args.batch, "peak_rate": args.rate, "threads": args.threads,
        "steps": found["steps"], "tokens": found["tokens"],
        "minutes": round(found["minutes"], 1), "train_loss": round(found["train_loss"], 4),
    }  # fmt: skip
    text = json.dumps(told, indent=2) + "\n"
    (args.out / "reward" / "training.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
