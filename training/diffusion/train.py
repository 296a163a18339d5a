"""Train the diffusion model from the target's weights: ``python -m training.diffusion.train``."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

from training.checkpoint import Progress
from training.corpus.mix import shares_of
from training.curve import draw_curve, write_curve
from training.diffusion.losses import masked_loss
from training.diffusion.measure import glance, held_out_losses
from training.diffusion.rows import MaskedRows
from training.loop import CURVE_STEPS, bfloat16_is_faster, learning_rate, make_optimizer, ready
from training.models import store
from training.rows import SHORT
from training.train import ASSETS

OUT = ASSETS / "diffusion"
MASK_TOKEN = "[MASK]"
HELD_OUT_ROWS = 256
ADAMW_SHARE = 0.3  # of Muon's rate, for embedding and norms


def bidirectional(start: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """Return a model that reads in both directions, with the weights of a causal one and [MASK]."""
    tokenizer = AutoTokenizer.from_pretrained(start)
    tokenizer.add_special_tokens({"mask_token": MASK_TOKEN})
    model = LlamaForCausalLM.from_pretrained(start)
    if model.config.vocab_size != len(tokenizer):
        model.resize_token_embeddings(len(tokenizer))
    model.config.is_causal = False
    model.config.mask_token_id = tokenizer.mask_token_id
    return model, tokenizer


def optimizers_of(
    model: LlamaForCausalLM, muon: bool, rate: float
) -> list[tuple[torch.optim.Optimizer, float]]:
    """Return the optimizers with the peak rate of each; Muon is for the layers' matrices."""
    if not muon:
        return [(make_optimizer(model, rate), rate)]
    inside = [one for one in model.model.layers.parameters() if one.dim() > 1]
    known = {id(one) for one in inside}
    rest = [one for one in model.parameters() if id(one) not in known]
    return [
        (torch.optim.Muon(inside, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"), rate),
        (torch.optim.AdamW(rest, betas=(0.9, 0.95), weight_decay=0.0), rate * ADAMW_SHARE),
    ]


class Training:
    """A model, its optimizers and its text; `run` takes it to the end."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        model, self.tokenizer = bidirectional(args.start)
        self.model = ready(model, args.device)
        self.optimizers = optimizers_of(self.model, args.muon, args.rate)
        self.progress = Progress(bfloat16=bfloat16_is_faster(args.device))

    def run(self) -> None:
        """Train until the steps or the minutes are used up."""
        rows = DataLoader(
            MaskedRows(self.tokenizer, self.args.seed, self.args.rows),
            batch_size=None,
            num_workers=self.args.workers,
        )
        self.model.train()
        began = time.monotonic()
        with tqdm(total=100, unit="%", mininterval=20, bar_format="{l_bar}{bar}|{postfix}") as bar:
            for batch in rows:
                loss = self._step(batch)
                minutes = (time.monotonic() - began) / 60
                self.progress.record(self.args.rows * SHORT, minutes, loss)
                done = self.progress
                if done.steps % CURVE_STEPS == 0:
                    point = (done.tokens, round(minutes, 3), round(done.smooth_loss, 5))
                    done.curve.append(point)
                    bar.set_postfix_str(f"{done.tokens:,} tokens, loss {loss:.4f}", refresh=False)
                bar.update(100 * min(1.0, done.share(self.args)) - bar.n)
                if done.share(self.args) >= 1:
                    break
        self.model.eval()

    def _step(self, batch: dict[str, torch.Tensor]) -> float:
        for optimizer, peak in self.optimizers:
            share = self.progress.share(self.args)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(peak, self.progress.steps, share)
        batch = {name: part.to(self.args.device) for name, part in batch.items()}
        with torch.autocast(self.args.device, torch.bfloat16, enabled=self.progress.bfloat16):
            loss = masked_loss(self.model, batch)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer, _ in self.optimizers:
            optimizer.step()
        self.model.zero_grad()
        return loss.item()

    def summary(self, stored: LlamaForCausalLM) -> dict[str, Any]:
        """Return the settings and losses that the card tells of."""
        args, done = self.args, self.progress
        return {
            "role": "diffusion",
            "parameters": stored.num_parameters(),
            "vocabulary": len(self.tokenizer),
            "seed": args.seed,
            "steps": done.steps,
            "rows": args.rows,
            "tokens": done.tokens,
            "shares": shares_of("target"),
            "optimizer": "muon" if args.muon else "adamw",
            "peak_rate": args.rate,
            "minutes": round(done.minutes, 1),
            "workers": args.workers,
            "device": args.device_name or args.device,
            "train_loss": round(done.smooth_loss, 4),
            "held_out_loss": held_out_losses(stored, self.tokenizer, args.seed + 1, args.held_out),
        }


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=Path, default=ASSETS / "target", help="the first weights")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--minutes", type=float, default=180.0)
    parser.add_argument("--steps", type=int, default=10**9, help="or after so many steps")
    parser.add_argument("--rows", type=int, default=8, help=f"rows of {SHORT} tokens a step")
    parser.add_argument("--rate", type=float, default=5e-4, help="the highest learning rate")
    parser.add_argument(
        "--muon", action="store_true", help="Muon for the layers' matrices (needs bfloat16)"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes that make the text")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--held-out", type=int, default=HELD_OUT_ROWS, help="rows")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--device-name", help="the processor's name, for the card")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Train, store, measure what was stored, and draw the loss curve."""
    args = parse_arguments(arguments)
    set_seed(args.seed)
    training = Training(args)
    training.run()
    store(training.model.cpu(), training.tokenizer, args.out)
    stored = LlamaForCausalLM.from_pretrained(args.out).to(args.device).eval()
    found = training.summary(stored)
    (args.out / "training.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    write_curve(training.progress.curve, args.out / "loss.csv")
    draw_curve(
        training.progress.curve, args.out / "loss.svg", "Training loss of the diffusion model"
    )
    print(json.dumps(found, indent=2))
    print(glance(stored, training.tokenizer))


if __name__ == "__main__":
    main()
