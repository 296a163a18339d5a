"""Train an embedded model: ``python -m training.train``, then the same with ``--role draft``."""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoTokenizer,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    set_seed,
)

from training.corpus.mix import shares_of
from training.curve import draw_curve, write_curve
from training.loop import Training, held_out_loss
from training.models import store
from training.rows import Rows
from training.tokenizer import VOCABULARY, tokenizer_texts, train_tokenizer

HERE = Path(__file__).parent
ASSETS = HERE.parent / "assets" / "models"
QUICK_OUT = HERE / "quick"
HELD_OUT_ROWS, TOKENIZER_DOCUMENTS = 48, 30_000
# What --quick changes, to see in a minute or two that everything runs.
QUICK = {"steps": 10, "minutes": 3.0, "batch": 2, "documents": 1500, "held_out": 2}
MINUTES = {"target": 85.0, "draft": 11.0}
RATES = {"target": 2e-3, "draft": 4e-3}


def make_tokenizer(args: argparse.Namespace) -> PreTrainedTokenizerFast:
    """Learn the tokenizer, or load it where the training goes on or a draft shares it."""
    folder = args.target if args.role == "draft" else args.checkpoints / "tokenizer"
    if args.start:
        return AutoTokenizer.from_pretrained(args.start)
    if args.role == "draft" or (args.resume and folder.exists()):
        return AutoTokenizer.from_pretrained(folder)
    tokenizer = train_tokenizer(tokenizer_texts(args.seed, args.documents), VOCABULARY)
    tokenizer.save_pretrained(folder)
    return tokenizer


def summary(training: Training, stored: LlamaForCausalLM) -> dict[str, Any]:
    """What the model card says about a training; losses are in nats a token."""
    args, done = training.args, training.progress
    held_out = [
        held_out_loss(model, Rows(training.tokenizer, args.seed + 1), args.held_out)
        for model in (training.model, stored)
    ]
    return {
        "role": args.role,
        "parameters": stored.num_parameters(),
        "vocabulary": len(training.tokenizer),
        "seed": args.seed,
        "steps": done.steps,
        "batch": args.batch,
        "tokens": done.tokens,
        "shares": shares_of(args.role),
        "peak_rate": args.rate,
        "minutes": round(done.minutes, 1),
        "threads": torch.get_num_threads(),
        "device": args.device,
        "train_loss": round(done.smooth_loss, 4),
        "held_out_loss": round(held_out[0], 4),
        "stored_loss": round(held_out[1], 4),
        "before": before(args.start) if args.start else [],
    }


def before(start: Path) -> list[dict[str, Any]]:
    """The trainings that led to the weights which this one began with, the first one first."""
    last = json.loads((start / "training.json").read_text(encoding="utf-8"))
    return [*last.pop("before", []), last]


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", choices=("target", "draft"), default="target")
    parser.add_argument("--steps", type=int, default=10**9, help="end after so many steps")
    parser.add_argument("--minutes", type=float, help="or after so many minutes")
    parser.add_argument("--batch", type=int, default=4, help="rows of 512 tokens a step")
    parser.add_argument("--rate", type=float, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, help="the folder of both models")
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--checkpoint-minutes", type=float, default=5.0)
    parser.add_argument("--glance-minutes", type=float, default=15.0)
    parser.add_argument(
        "--compile", action=argparse.BooleanOptionalAction, help="compile the loss (needs g++)"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--start", type=Path, help="begin with the weights of this folder")
    parser.add_argument("--quick", action="store_true", help="a minute's version")
    args = parser.parse_args(arguments)
    args.out = args.out or (QUICK_OUT if args.quick else ASSETS)
    args.checkpoints = args.checkpoints or (args.out if args.quick else HERE) / "checkpoints"
    if args.compile is None:
        args.compile = not args.quick and shutil.which("g++") is not None
    args.minutes = args.minutes or MINUTES[args.role]
    args.rate = args.rate or RATES[args.role]
    args.documents, args.held_out = TOKENIZER_DOCUMENTS, HELD_OUT_ROWS
    if args.quick:
        vars(args).update(QUICK)
    args.target = args.out / "target"
    return args


def main(arguments: list[str] | None = None) -> None:
    """Train, store, measure what was stored, and draw the loss curve."""
    args = parse_arguments(arguments)
    torch.set_num_threads(args.threads)
    set_seed(args.seed)
    training = Training(args, make_tokenizer(args), shares_of(args.role))
    training.run()
    out = args.out / args.role
    store(training.model, training.tokenizer, out)
    stored = LlamaForCausalLM.from_pretrained(out).to(args.device)
    found = summary(training, stored)
    (out / "training.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    write_curve(training.progress.curve, out / "loss.csv")
    draw_curve(training.progress.curve, out / "loss.svg", f"Training loss of the {args.role}")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
