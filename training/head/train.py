"""Train the draft head of the embedded target: ``python -m training.head.train``."""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm  # type: ignore[import-untyped]
from transformers import AutoTokenizer, LlamaForCausalLM, set_seed

from core.models.heads.layer import HeadLayer, HeadShape, read_head, store_head
from training.checkpoint import Progress, load_checkpoint, save_checkpoint
from training.corpus.mix import shares_of
from training.curve import draw_curve, write_curve
from training.head.losses import WEIGHTS, head_losses, weighted
from training.loop import (
    APART_SHARE,
    CURVE_STEPS,
    bfloat16_is_faster,
    learning_rate,
    make_optimizer,
    ready,
)
from training.rows import LONG, SHORT, Rows
from training.train import ASSETS, HELD_OUT_ROWS, HERE, QUICK_OUT

ROLE = "head"
# What --quick changes, to see in seconds that everything runs.
QUICK = {"steps": 3, "batch": 1, "held_out": 2}


def new_layer(target: LlamaForCausalLM) -> HeadLayer:
    """Return a head whose layer begins with the weights of the target's last layer."""
    config = target.config
    shape = HeadShape(
        hidden_size=config.hidden_size,
        intermediate_size=config.intermediate_size,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        rope_theta=config.rope_parameters["rope_theta"],
        eps=config.rms_norm_eps,
    )
    layer, last = HeadLayer(shape), target.model.layers[-1]
    pairs = {
        layer.query: last.self_attn.q_proj, layer.key: last.self_attn.k_proj,
        layer.value: last.self_attn.v_proj, layer.out: last.self_attn.o_proj,
        layer.gate: last.mlp.gate_proj, layer.up: last.mlp.up_proj,
        layer.down: last.mlp.down_proj, layer.norm_attention: last.input_layernorm,
        layer.norm_mlp: last.post_attention_layernorm, layer.norm: target.model.norm,
    }  # fmt: skip
    for own, theirs in pairs.items():
        own.load_state_dict(theirs.state_dict())
    return layer


class Training:
    """A head, its optimizer and its text; `run` takes it to the end."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.tokenizer = AutoTokenizer.from_pretrained(args.target)
        self.target = ready(LlamaForCausalLM.from_pretrained(args.target), "cpu").eval()
        self.target.requires_grad_(False)
        self.layer = new_layer(self.target)
        self.optimizer = make_optimizer(self.layer, args.rate)
        self.rows = Rows(self.tokenizer, args.seed + 3)
        self.progress = Progress(bfloat16=bfloat16_is_faster("cpu"))
        self.checkpoint = args.checkpoints / f"{ROLE}.pt"
        if args.resume and self.checkpoint.exists():
            self.progress = load_checkpoint(self.checkpoint, self.layer, self.optimizer, self.rows)

    def step(self) -> float:
        """Learn from the next rows; return their loss in nats a token."""
        for group in self.optimizer.param_groups:
            share = self.progress.share(self.args)
            group["lr"] = learning_rate(self.args.rate, self.progress.steps, share)
        apart = torch.rand(()).item() < APART_SHARE
        ids, labels = self.rows.take(self.args.batch * (LONG // SHORT if apart else 1), apart)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.progress.bfloat16):
            loss = weighted(head_losses(self.layer, self.target, ids, labels, apart))
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.layer.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def run(self) -> None:
        """Train until the steps or the minutes are used up, with checkpoints."""
        began, saved = time.monotonic() - 60 * self.progress.minutes, self.progress.minutes
        with tqdm(total=100, unit="%", mininterval=20, bar_format="{l_bar}{bar}|{postfix}") as bar:
            while (share := self.progress.share(self.args)) < 1:
                bar.update(100 * share - bar.n)
                loss, done = self.step(), self.progress
                done.record(self.args.batch * LONG, (time.monotonic() - began) / 60, loss)
                if done.steps % CURVE_STEPS == 0:
                    point = (done.tokens, round(done.minutes, 3), round(done.smooth_loss, 5))
                    done.curve.append(point)
                    bar.set_postfix_str(f"{done.tokens:,} tokens, loss {done.smooth_loss:.4f}")
                if done.minutes - saved > self.args.checkpoint_minutes:
                    self.save()
                    saved = done.minutes
        self.save()

    def save(self) -> None:
        """Write a checkpoint."""
        save_checkpoint(self.checkpoint, self.layer, self.optimizer, self.rows, self.progress)

    @torch.no_grad()
    def held_out(self, layer: HeadLayer) -> list[float]:
        """Return the float32 loss of each drafted token on rows that the training never saw."""
        rows = Rows(self.tokenizer, self.args.seed + 1)
        losses = [
            torch.stack(head_losses(layer, self.target, *rows.take(1, apart=True), apart=True))
            for _ in range(self.args.held_out)
        ]
        means: list[float] = torch.stack(losses).mean(0).tolist()
        return [round(mean, 4) for mean in means]

    def summary(self, stored: HeadLayer) -> dict[str, Any]:
        """Return the settings and losses that the card shows; losses are in nats a token."""
        args, done = self.args, self.progress
        return {
            "role": ROLE, "seed": args.seed, "steps": done.steps, "batch": args.batch,
            "parameters": sum(weight.numel() for weight in stored.parameters()),
            "tokens": done.tokens, "shares": shares_of("target"), "peak_rate": args.rate,
            "drafted": len(WEIGHTS), "minutes": round(done.minutes, 1),
            "threads": torch.get_num_threads(), "train_loss": round(done.smooth_loss, 4),
            "held_out_losses": self.held_out(stored),
        }  # fmt: skip


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10**9, help="end after so many steps")
    parser.add_argument("--minutes", type=float, default=40.0, help="or after so many minutes")
    parser.add_argument("--batch", type=int, default=4, help="rows of 512 tokens a step")
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, help="the folder of the models")
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--checkpoint-minutes", type=float, default=3.0)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--quick", action="store_true", help="a few steps")
    args = parser.parse_args(arguments)
    args.out = args.out or (QUICK_OUT if args.quick else ASSETS)
    args.checkpoints = args.checkpoints or (args.out if args.quick else HERE) / "checkpoints"
    args.held_out, args.target = HELD_OUT_ROWS, args.out / "target"
    if args.quick:
        vars(args).update(QUICK)
    return args


def main(arguments: list[str] | None = None) -> None:
    """Train, store, measure what was stored, and draw the loss curve."""
    args = parse_arguments(arguments)
    torch.set_num_threads(args.threads)
    set_seed(args.seed)
    training = Training(args)
    training.run()
    out = args.out / ROLE
    store_head(training.layer, out, args.target)
    found = training.summary(read_head(out)[0])
    (out / "training.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    write_curve(training.progress.curve, out / "loss.csv")
    draw_curve(training.progress.curve, out / "loss.svg", "Training loss of the draft head")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
