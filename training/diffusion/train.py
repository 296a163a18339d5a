"""Train the diffusion model from the target's weights: ``python -m training.diffusion.train``."""

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

from training.corpus import facts, sums
from training.corpus.mix import shares_of
from training.curve import draw_curve, write_curve
from training.diffusion.generation import fill
from training.diffusion.losses import masked_loss
from training.diffusion.rows import MaskedRows
from training.generation import chat_ids, encode
from training.glance import last_number, states
from training.loop import bfloat16_is_faster, learning_rate, make_optimizer, ready
from training.models import store
from training.rows import IGNORED, SHORT, Rows

MASK_TOKEN = "[MASK]"
HELD_OUT_SHARES = (0.15, 0.5, 0.85)  # of the tokens that are masked
HELD_OUT_ROWS = 256
ADAMW_SHARE = 0.3  # of Muon's rate, for embedding and norms
CURVE_STEPS = 50  # between two points of the loss curve


def bidirectional(start: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """Return a model that reads both ways, with the weights of a causal one and [MASK]."""
    tokenizer = AutoTokenizer.from_pretrained(start)
    tokenizer.add_special_tokens({"mask_token": MASK_TOKEN})
    model = LlamaForCausalLM.from_pretrained(start)
    if model.config.vocab_size != len(tokenizer):
        model.resize_token_embeddings(len(tokenizer))
    model.config.is_causal = False
    model.config.mask_token_id = tokenizer.mask_token_id
    return model, tokenizer


@torch.no_grad()
def held_out_losses(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, seed: int, count: int
) -> dict[str, float]:
    """Return the mean loss of masked tokens, in nats, by the share of masked tokens."""
    ids, labels = Rows(tokenizer, seed).take(count, apart=True)
    begins = torch.nn.functional.pad(ids[:, :-1] == tokenizer.eos_token_id, (1, 0))
    index = torch.arange(SHORT)
    positions = index - torch.where(begins, index, 0).cummax(1).values
    found = {}
    for share in HELD_OUT_SHARES:
        generator = torch.Generator().manual_seed(seed)
        hidden = (torch.rand(ids.shape, generator=generator) < share) & (labels != IGNORED)
        batch = {
            "ids": torch.where(hidden, tokenizer.mask_token_id, ids),
            "labels": torch.where(hidden, labels, IGNORED),
            "weights": torch.ones(ids.shape),
            "positions": positions,
            "documents": begins.cumsum(1),
        }
        parts = [
            masked_loss(model, {name: part[at : at + 16].to(model.device) for name, part in batch.items()})
            for at in range(0, count, 16)
        ]
        total = sum(float(part) for part in parts) * 16 * SHORT
        found[f"{share:.2f}"] = round(total / int(hidden.sum()), 4)
    return found


def answered(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> dict[str, float]:
    """Return the share of held-out facts and of sums that are answered rightly."""
    asked = random.Random(1).sample(facts.held_out(), 60)
    prompts = [chat_ids(tokenizer, question) for question, _ in asked]
    replies = tokenizer.batch_decode(fill(model, tokenizer, prompts, 32, 8))
    right = [states(reply, answer) for reply, (_, answer) in zip(replies, asked, strict=True)]
    rng = random.Random(2)
    pairs = [(rng.randint(1, 99), rng.randint(1, 99)) for _ in range(60)]
    prompts = [chat_ids(tokenizer, f"What is {one} + {two}?") for one, two in pairs]
    sums_said = tokenizer.batch_decode(fill(model, tokenizer, prompts, 32, 8))
    added = [last_number(said) == one + two for said, (one, two) in zip(sums_said, pairs, strict=True)]
    return {"facts": round(sum(right) / 60, 3), "sums": round(sum(added) / 60, 3)}


def glance(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> str:
    """Return a text of a few prompts."""
    lines = [json.dumps(answered(model, tokenizer))]
    for prompt, length in (
        ("Once upon a time", 96),
        ("A list of colors: red,", 32),
    ):
        written = fill(model, tokenizer, [encode(tokenizer, prompt)], length, 8)[0]
        lines.append(prompt + tokenizer.decode(written))
    for question in ("Tell me a story about a fox and a lantern.", "What is 12 + 30?"):
        written = fill(model, tokenizer, [chat_ids(tokenizer, question)], 96, 16)[0]
        lines.append(f"{question} -> {tokenizer.decode(written)}")
    return "\n".join(lines)


def optimizers_of(
    model: LlamaForCausalLM, kind: str, rate: float
) -> list[tuple[torch.optim.Optimizer, float]]:
    """Return the optimizers with the peak rate of each."""
    if kind == "adamw":
        return [(make_optimizer(model, rate), rate)]
    inside = [w for n, w in model.named_parameters() if w.dim() > 1 and "layers" in n]
    rest = [w for n, w in model.named_parameters() if w.dim() == 1 or "layers" not in n]
    return [
        (torch.optim.Muon(inside, lr=rate, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"), rate),
        (torch.optim.AdamW(rest, betas=(0.9, 0.95), weight_decay=0.0), rate * ADAMW_SHARE),
    ]


def train(args: argparse.Namespace) -> None:
    """Train, store, and measure."""
    model, tokenizer = bidirectional(args.start)
    model = ready(model, args.device).train()
    optimizers = optimizers_of(model, args.optimizer, args.rate)
    loader = DataLoader(
        MaskedRows(tokenizer, args.seed, args.rows),
        batch_size=None,
        num_workers=args.workers,
        pin_memory=args.device != "cpu",
        prefetch_factor=8 if args.workers else None,
    )
    fast = bfloat16_is_faster(args.device)
    if args.compile:
        model.model.compile(dynamic=False)
    began, smooth, curve = time.monotonic(), 0.0, []
    steps = 0
    with tqdm(total=100, unit="%", mininterval=15, bar_format="{l_bar}{bar}|{postfix}") as bar:
        for batch in loader:
            minutes = (time.monotonic() - began) / 60
            share = max(steps / args.steps, minutes / args.minutes)
            if share >= 1:
                break
            batch = {name: part.to(args.device, non_blocking=True) for name, part in batch.items()}
            for optimizer, peak in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(peak, steps, share)
            with torch.autocast(args.device, torch.bfloat16, enabled=fast):
                loss = masked_loss(model, batch)
            torch.autograd.backward(loss)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer, _ in optimizers:
                optimizer.step()
            model.zero_grad(set_to_none=True)
            steps += 1
            if steps % CURVE_STEPS == 0:
                smooth = 0.8 * smooth + 0.2 * loss.item() if smooth else loss.item()
                tokens = steps * args.rows * SHORT
                curve.append((tokens, round(minutes, 3), round(smooth, 5)))
                bar.set_postfix_str(
                    f"step {steps}, {tokens / 1e6:.1f}M tokens, {tokens / minutes / 60:.0f} tokens/s, "
                    f"loss {smooth:.4f}",
                    refresh=False,
                )
            bar.update(100 * share - bar.n)
    minutes = (time.monotonic() - began) / 60
    model.eval()
    args.out.mkdir(parents=True, exist_ok=True)
    plain = LlamaForCausalLM(model.config)
    plain.load_state_dict({name: part.cpu() for name, part in model.state_dict().items()})
    store(plain, tokenizer, args.out)
    found: dict[str, Any] = {
        "role": "diffusion",
        "parameters": plain.num_parameters(),
        "vocabulary": len(tokenizer),
        "seed": args.seed,
        "steps": steps,
        "rows": args.rows,
        "tokens": steps * args.rows * SHORT,
        "shares": shares_of("target"),
        "optimizer": args.optimizer,
        "peak_rate": args.rate,
        "minutes": round(minutes, 1),
        "device": args.device_name or args.device,
        "train_loss": round(smooth, 4),
        "held_out_loss": held_out_losses(plain.to(args.device).eval(), tokenizer, args.seed + 1, args.held_out),
    }
    (args.out / "training.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    write_curve(curve, args.out / "loss.csv")
    draw_curve(curve, args.out / "loss.svg", "Training loss of the diffusion model")
    print(json.dumps(found, indent=2))
    print(glance(plain, tokenizer))


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=Path, default=Path("assets/models/target"))
    parser.add_argument("--out", type=Path, default=Path("assets/models/diffusion"))
    parser.add_argument("--minutes", type=float, default=180.0)
    parser.add_argument("--steps", type=int, default=10**9)
    parser.add_argument("--rows", type=int, default=8, help=f"rows of {SHORT} tokens a step")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--optimizer", choices=("adamw", "muon"), default="adamw")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--held-out", type=int, default=HELD_OUT_ROWS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--device-name", help="the processor's name, for the card")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args(arguments)
    set_seed(args.seed)
    train(args)


if __name__ == "__main__":
    main()
