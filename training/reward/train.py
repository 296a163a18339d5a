"""Train the reward model: ``python -m training.reward.train``.

It begins with the target's first layers and learns what `training/reward/labels.py` says, a score
at each token of an attempt (the token-level verifier of Cobbe et al. 2021); the last one's counts.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import torch
from torch.nn import functional
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import (
    AutoTokenizer,
    LlamaForCausalLM,
    LlamaForSequenceClassification,
    PreTrainedTokenizerFast,
    set_seed,
)

from core.models.registry import load_model
from core.models.reward_model import encode_pair
from training.generation import chat_ids
from training.loop import bfloat16_is_faster
from training.reward.attempts import read_attempts, write_attempts
from training.reward.labels import Encode, Lesson, lessons_of, made_up
from training.train import ASSETS, QUICK_OUT

HERE = Path(__file__).parents[1]
LAYERS = 3
RATE, WARM_UP, LOWEST = 7e-4, 50, 0.03
POOL = 64  # batches whose lessons are sorted by length: less padding
# What --quick changes, to see in seconds that everything runs.
QUICK = {"steps": 3, "problems": 3, "batch": 4}


def begin_with(target: LlamaForCausalLM) -> LlamaForSequenceClassification:
    """The target's first layers with a head that gives one number."""
    config = type(target.config)(**target.config.to_dict() | {"num_hidden_layers": LAYERS})
    config.num_labels, config.architectures = 1, ["LlamaForSequenceClassification"]
    model = LlamaForSequenceClassification(config)
    model.model.load_state_dict(target.model.state_dict(), strict=False)
    torch.nn.init.zeros_(model.score.weight)
    model.set_attn_implementation("eager")
    return model


def batches(
    own: list[Lesson], rng: random.Random, size: int, encode: Encode
) -> Iterator[list[Lesson]]:
    """Batches without end, one half from the target's attempts and one made up, of alike lengths.

    Wrong attempts are drawn as often as right ones.
    """
    slips = made_up(rng)
    by_end = {end: [one for one in own if one.labels[-1] == end] for end in (True, False)}
    kinds = [lessons for lessons in by_end.values() if lessons]
    while True:
        count = POOL * size // 2
        pool = [rng.choice(rng.choice(kinds)) for _ in range(count)]
        pool += lessons_of(list(islice(slips, count)), encode)
        pool.sort(key=lambda one: len(one.ids))
        found = [pool[at : at + size] for at in range(0, len(pool), size)]
        rng.shuffle(found)
        yield from found


def loss_of(model: LlamaForSequenceClassification, lessons: list[Lesson]) -> torch.Tensor:
    """Binary cross entropy in nats: the mean over the tokens, and over the last ones once more."""
    longest = max(len(one.ids) for one in lessons)
    pad = model.config.pad_token_id
    ids = torch.tensor([one.ids + [pad] * (longest - len(one.ids)) for one in lessons])
    mask = torch.tensor([[1] * len(o.ids) + [0] * (longest - len(o.ids)) for o in lessons])
    known = torch.tensor(
        [[x is not None for x in o.labels] + [False] * (longest - len(o.ids)) for o in lessons]
    )
    labels = torch.tensor(
        [[float(bool(x)) for x in o.labels] + [0.0] * (longest - len(o.ids)) for o in lessons]
    )
    hidden = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
    scores = model.score(hidden)[..., 0].float()
    each = functional.binary_cross_entropy_with_logits(scores, labels, reduction="none")
    last = torch.tensor([len(one.ids) - 1 for one in lessons])
    return each[known].mean() + each[torch.arange(len(lessons)), last].mean()


def run(
    model: LlamaForSequenceClassification, drawn: Iterator[list[Lesson]], args: argparse.Namespace
) -> dict[str, float]:
    """Train until the steps or the minutes are used up; what it took."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    norms = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.95))
    began, smooth, steps, tokens = time.monotonic(), 0.0, 0, 0
    with tqdm(total=100, unit="%", mininterval=20, bar_format="{l_bar}{bar}|{postfix}") as bar:
        while (done := _share(args, steps, began)) < 1:
            warm, cosine = min(1.0, (steps + 1) / WARM_UP), (1 + math.cos(math.pi * done)) / 2
            for group in optimizer.param_groups:
                group["lr"] = args.rate * warm * (LOWEST + (1 - LOWEST) * cosine)
            lessons = next(drawn)
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bfloat16):
                loss = loss_of(model, lessons)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            steps, tokens = steps + 1, tokens + sum(len(one.ids) for one in lessons)
            smooth += (loss.item() - smooth) / min(steps, 50)
            bar.set_postfix_str(
                f"step {steps}, {tokens:,} tokens, loss {smooth:.4f}", refresh=False
            )
            bar.update(100 * done - bar.n)
    minutes = (time.monotonic() - began) / 60
    return {"steps": steps, "tokens": tokens, "minutes": minutes, "train_loss": smooth}


def _share(args: argparse.Namespace, steps: int, began: float) -> float:
    return max(steps / args.steps, (time.monotonic() - began) / (60 * args.minutes))


def store(
    model: LlamaForSequenceClassification, tokenizer: PreTrainedTokenizerFast, out: Path
) -> None:
    """Store weights in float16 but declare float32, so that they load as float32 by default."""
    model.half().save_pretrained(out)
    model.config.dtype = torch.float32
    model.config.save_pretrained(out)
    tokenizer.save_pretrained(out)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**9, help="end after so many steps")
    parser.add_argument("--minutes", type=float, default=36.0, help="or after so many minutes")
    parser.add_argument("--problems", type=int, default=440, help="that the target attempts")
    parser.add_argument("--batch", type=int, default=16, help="attempts a step")
    parser.add_argument("--rate", type=float, default=RATE, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the folder of the models")
    parser.add_argument("--attempts", type=Path, help="attempts that were drawn before")
    parser.add_argument("--quick", action="store_true", help="a few steps")
    args = parser.parse_args(arguments)
    args.bfloat16 = bfloat16_is_faster("cpu")
    args.out = args.out or (QUICK_OUT if args.quick else ASSETS)
    if args.quick:
        vars(args).update(QUICK)
    return args


def main(arguments: list[str] | None = None) -> None:
    """Let the target attempt problems, train on what came of it, and store the model."""
    args = parse_arguments(arguments)
    torch.set_num_threads(args.threads)
    set_seed(args.seed)
    target = args.out / "target"
    tokenizer = AutoTokenizer.from_pretrained(target)
    path = args.attempts or args.out / "checkpoints" / "attempts.jsonl"
    if not args.attempts:
        write_attempts(load_model(target), path, args.seed, args.problems)
    attempts = read_attempts(path)

    def encode(question: str, reply: str) -> tuple[list[int], int]:
        return encode_pair(tokenizer, question, reply), len(chat_ids(tokenizer, question))

    model = begin_with(LlamaForCausalLM.from_pretrained(target))
    own = lessons_of(attempts, encode)
    found = run(model, batches(own, random.Random(args.seed), args.batch, encode), args)
    store(model, tokenizer, args.out / "reward")
    told = {
        "parameters": model.num_parameters(), "layers": LAYERS, "seed": args.seed,
        "attempts": len(attempts), "right": sum(one.right for one in attempts),
        "batch": args.batch, "peak_rate": args.rate, "threads": args.threads,
        "steps": found["steps"], "tokens": found["tokens"],
        "minutes": round(found["minutes"], 1), "train_loss": round(found["train_loss"], 4),
    }  # fmt: skip
    text = json.dumps(told, indent=2) + "\n"
    (args.out / "reward" / "training.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
